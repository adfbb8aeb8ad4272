"""What can be reached, and what leads back to itself: graphs walked without recursion."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Generic, TypeVar

_Node = TypeVar("_Node", bound=Hashable)
_Value = TypeVar("_Value")
_Edges = Callable[[_Node], Iterable[_Node]]


def strongly_connected(starts: Iterable[_Node], edges: _Edges[_Node]) -> Iterator[list[_Node]]:
    """The strongly connected components reachable from `starts`, each after all those that it leads to.

    Two nodes are in one component where each leads to the other (Tarjan, 1972).
    """
    number: dict[_Node, int] = {}
    lowest: dict[_Node, int] = {}
    waiting: dict[_Node, None] = {}  # in order of arrival; what has not found its component
    for start in starts:
        trail: list[tuple[_Node, Iterator[_Node]]] = []
        fresh: _Node | None = None if start in number else start
        while fresh is not None or trail:
            if fresh is not None:
                number[fresh] = lowest[fresh] = len(number)
                waiting[fresh] = None
                trail.append((fresh, iter(edges(fresh))))
            node, successors = trail[-1]
            fresh = None
            for successor in successors:
                if successor not in number:
                    fresh = successor
                    break
                if successor in waiting:
                    lowest[node] = min(lowest[node], number[successor])
            if fresh is not None:
                continue
            trail.pop()
            if trail:
                before = trail[-1][0]
                lowest[before] = min(lowest[before], lowest[node])
            if lowest[node] == number[node]:
                yield _taken(waiting, node)


def _taken(waiting: dict[_Node, None], last: _Node) -> list[_Node]:
    component: list[_Node] = []
    while not component or component[-1] is not last:
        component.append(waiting.popitem()[0])
    return component


class Reachable(Generic[_Node, _Value]):
    """What each node and all that it leads to say together, found once for each.

    Args:
        edges: What a node leads to.
        own: What a node says by itself.
        join: What several say together; the order must not matter, nor that one is heard twice.
    """

    def __init__(
        self, edges: _Edges[_Node], own: Callable[[_Node], _Value], join: Callable[[Iterable[_Value]], _Value]
    ) -> None:
        self._edges = edges
        self._own = own
        self._join = join
        self._known: dict[_Node, _Value] = {}

    def __call__(self, node: _Node) -> _Value:
        """What `node` and all that it leads to say together."""
        if node not in self._known:
            for component in strongly_connected([node], self._unknown_edges):
                self._known.update(dict.fromkeys(component, self._join(self._said_by(component))))
        return self._known[node]

    def _unknown_edges(self, node: _Node) -> Iterator[_Node]:
        return (successor for successor in self._edges(node) if successor not in self._known)

    def _said_by(self, component: list[_Node]) -> Iterator[_Value]:
        for node in component:
            yield self._own(node)
            yield from (self._known[successor] for successor in self._edges(node) if successor in self._known)

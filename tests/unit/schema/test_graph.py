"""Graphs without recursion, held against what is obviously right."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from discern_server.schema.graph import Reachable, strongly_connected

GRAPHS = st.integers(1, 8).flatmap(
    lambda size: st.lists(st.lists(st.integers(0, size - 1), max_size=4), min_size=size, max_size=size)
)


def reachable(graph: list[list[int]], start: int) -> set[int]:
    seen, pending = {start}, [start]
    while pending:
        fresh = {node for node in graph[pending.pop()] if node not in seen}
        seen |= fresh
        pending += fresh
    return seen


@given(graph=GRAPHS)
def test_components_are_what_leads_to_each_other_and_come_after_what_they_lead_to(graph):
    components = list(strongly_connected(range(len(graph)), graph.__getitem__))
    assert sorted(node for component in components for node in component) == list(range(len(graph)))
    done: set[int] = set()
    for component in components:
        for node in component:
            mutual = {other for other in reachable(graph, node) if node in reachable(graph, other)}
            assert mutual == set(component)
            assert reachable(graph, node) <= done | set(component)
        done |= set(component)


@given(graph=GRAPHS, order=st.permutations(range(8)))
def test_what_can_be_reached_is_joined_whatever_was_asked_first(graph, order):
    said = Reachable(graph.__getitem__, lambda node: frozenset({node}), lambda values: frozenset().union(*values))
    for start in (node for node in order if node < len(graph)):
        assert said(start) == reachable(graph, start)


def test_a_long_chain_is_no_recursion():
    said = Reachable(lambda node: [node + 1] if node < 50_000 else [], lambda node: node == 50_000, any)
    assert said(0)

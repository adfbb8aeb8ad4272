"""The schemas of a result, and which of them refers to which."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from discern_server.result import Diagnostic

Schema = dict[str, Any] | bool


@dataclass(eq=False, slots=True)
class Node:
    """One schema of the result: the root, or a definition.

    Attributes:
        name: Its key under ``$defs``; None for a root.
        schema: It, in 2020-12.
        uses: The nodes that it refers to, in order of first use, each with the place of that reference.
        in_place: Those of them that look at the same instance as it does.
        faults: What is wrong with it.
        subschemas: How many schemas it holds.
        bytes: Its size, roughly.
    """

    name: str | None
    schema: Schema = field(default_factory=dict)
    uses: dict[Node, str] = field(default_factory=dict)
    in_place: dict[Node, str] = field(default_factory=dict)
    faults: list[Diagnostic] = field(default_factory=list)
    subschemas: int = 0
    bytes: int = 0

    @property
    def reference(self) -> str:
        """What a ``$ref`` to it says."""
        return "#" if self.name is None else f"#/$defs/{self.name}"

    def refer(self, other: Node, path: str, *, in_place: bool) -> None:
        """Note that it refers to `other`, from `path`."""
        self.uses.setdefault(other, path)
        if in_place:
            self.in_place.setdefault(other, path)

    def closure(self) -> Iterator[Node]:
        """It and every node that it refers to, each once, in order of first use."""
        seen = {self: None}
        pending = deque([self])
        while pending:
            node = pending.popleft()
            yield node
            fresh = [used for used in node.uses if used not in seen]
            seen.update(dict.fromkeys(fresh))
            pending += fresh

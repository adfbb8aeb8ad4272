"""The dynamic scope: what ``$dynamicRef`` and ``$recursiveRef`` mean on a given way to them.

They lead to the outermost of the resources that evaluation has come through which has the anchor (2020-12 Core,
8.2.3.2; 2019-09 Core, 8.2.4.2). Of a way, only this counts: for each anchor, the outermost place that has it.
"""

from __future__ import annotations

from typing import Final

from discern_server.schema.documents import Place, Resource
from discern_server.schema.references import split

Scope = tuple[tuple[str, Place], ...]
"""By dynamic anchor, in the order of their names: the outermost place that has it."""

NO_SCOPE: Final[Scope] = ()


def enter(scope: Scope, resource: Resource) -> Scope:
    """`scope` once evaluation has come into `resource`; what was outside of it stays the outermost."""
    known = {name for name, _ in scope}
    new = [(name, place) for name, place in resource.dynamic.items() if name not in known]
    return tuple(sorted((*scope, *new), key=lambda entry: entry[0])) if new else scope


def redirected(keyword: str, reference: str, target: Place, scope: Scope) -> Place:
    """Where `reference`, which by itself leads to `target`, leads in `scope`."""
    anchor = "" if keyword == "$recursiveRef" else split(reference)[1]
    if keyword == "$ref" or (keyword == "$dynamicRef" and not anchor):
        return target
    if target.resource.dynamic.get(anchor) != target:
        return target
    return next((place for name, place in scope if name == anchor), target)

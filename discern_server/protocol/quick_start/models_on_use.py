"""Pydantic models that are built when they are first used, whoever defines them (docs/adr/0014).

Only our own launcher does this: it changes what all of a process shares, for as long as it takes.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

_KNOWN_TO: Final = (2, 14)
"""The newest minor version of pydantic whose inside these steps were tried with; the SDK admits any that is newer."""


@contextmanager
def models_built_on_use() -> Iterator[None]:
    """Models that are defined meanwhile build their validators on first use; adapters too, where pydantic is known."""
    from pydantic import VERSION, BaseModel

    with _replaced(BaseModel, "model_config", {**BaseModel.model_config, "defer_build": True}):
        if tuple(map(int, VERSION.split(".")[:2])) > _KNOWN_TO:
            yield
            return
        with _all_built_on_use():
            yield


@contextmanager
def _all_built_on_use() -> Iterator[None]:
    """Those too that pydantic's own ``defer_build`` does not reach."""
    from pydantic import BaseModel, TypeAdapter

    model_rebuild = classmethod(_rebuilding_on_use(vars(BaseModel)["model_rebuild"].__func__))
    with (
        # An adapter of a union has no model whose configuration it could heed.
        _replaced(TypeAdapter, "_defer_build", property(lambda _adapter: True)),
        _replaced(BaseModel, "model_rebuild", model_rebuild),
    ):
        yield


def _rebuilding_on_use(model_rebuild: Callable[..., bool | None]) -> Callable[..., bool | None]:
    """`model_rebuild`, save that a module which calls it for its own models leaves that to their first use."""

    def rebuild(model: Any, **options: Any) -> bool | None:
        if sys._getframe(1).f_code.co_name == "<module>":  # noqa: SLF001 - documented, whatever its name says
            return None
        depth = options.pop("_parent_namespace_depth", 2)  # in frames, of which this is one more
        return model_rebuild(model, **options, _parent_namespace_depth=depth + 1 if depth else 0)

    return rebuild


@contextmanager
def _replaced(owner: type, name: str, value: Any) -> Iterator[None]:
    """With `value` in the place of an attribute of `owner`; as it was where `owner` itself has none of that name."""
    if name not in vars(owner):
        yield
        return
    before = vars(owner)[name]
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, before)

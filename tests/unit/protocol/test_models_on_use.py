"""What building models on their first use changes in pydantic, and for how long."""

from __future__ import annotations

import pydantic
import pytest
from pydantic import BaseModel, TypeAdapter

from discern_server.protocol.quick_start.models_on_use import models_built_on_use


def inside() -> tuple[object, object]:
    return vars(TypeAdapter)["_defer_build"], vars(BaseModel)["model_rebuild"]


def test_all_is_as_it_was_afterwards():
    before = (*inside(), BaseModel.model_config)
    with models_built_on_use():
        assert BaseModel.model_config["defer_build"]
        assert inside() != before[:2]
    assert (*inside(), BaseModel.model_config) == before


@pytest.mark.parametrize("version", ["2.15.0b1", "3.0.0"])
def test_a_version_that_nobody_has_tried_is_asked_only_for_what_it_documents(monkeypatch, version):
    monkeypatch.setattr(pydantic, "VERSION", version)
    before = inside()
    with models_built_on_use():
        assert BaseModel.model_config["defer_build"]
        assert inside() == before

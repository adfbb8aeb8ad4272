"""The surface: whole or not at all, and the pages that it renders once."""

from __future__ import annotations

import pytest

from discern_server.catalog import Catalog, ToolDefinition
from discern_server.prompts import Prompt, PromptDefinition
from discern_server.protocol.pages import CacheHint
from discern_server.protocol.surface import Surface
from discern_server.resources import Resource, ResourceDefinition, ResourceTemplate, ResourceTemplateDefinition


async def answer(args, ctx):
    return args


def surface(count: int = 1, **options: object) -> Surface:
    definitions = [
        ToolDefinition.from_wire({"name": f"t{number:03}", "description": "d", "inputSchema": {"type": "object"}})
        for number in range(count)
    ]
    return Surface("s", "1", Catalog.of(definitions), handlers={d.name: answer for d in definitions}, **options)


def test_a_definition_without_a_handler_and_a_handler_without_a_definition_are_named():
    catalog = Catalog.of([ToolDefinition.from_wire({"name": "a", "inputSchema": {"type": "object"}})])
    with pytest.raises(ValueError, match="no handler for a; no definition for b"):
        Surface("s", "1", catalog, handlers={"b": answer})


def test_a_surface_does_not_change_with_what_it_was_made_from():
    handlers = {"t000": answer}
    catalog = Catalog.of([ToolDefinition.from_wire({"name": "t000", "inputSchema": {"type": "object"}})])
    made = Surface("s", "1", catalog, handlers=handlers)
    handlers.clear()
    assert made.handlers["t000"] is answer
    with pytest.raises(TypeError):
        made.handlers["x"] = answer  # type: ignore[index]


def test_a_page_size_below_one_is_refused():
    with pytest.raises(ValueError, match="page_size"):
        surface(page_size=0)


def test_pages_and_validators_are_made_once():
    made = surface(3)
    assert made.pages("tools/list") is made.pages("tools/list")
    tool = made.tools["t000"]
    assert tool.arguments is tool.arguments


async def read(args, ctx):
    return "x"


def test_two_offers_of_one_name_are_refused():
    prompt = Prompt(PromptDefinition.from_wire({"name": "p"}), read)
    with pytest.raises(ValueError, match="more than one prompt is named p"):
        Surface("s", "1", prompts=[prompt, prompt])
    resource = Resource(ResourceDefinition.from_wire({"uri": "a:b", "name": "r"}), read)
    with pytest.raises(ValueError, match="more than one resource is at a:b"):
        Surface("s", "1", resources=[resource, resource])


def test_a_template_that_cannot_be_parsed_is_refused_where_it_is_given():
    template = ResourceTemplate(ResourceTemplateDefinition.from_wire({"uriTemplate": "a:{b", "name": "t"}), read)
    with pytest.raises(ValueError, match=r"'a:\{b' cannot be used"):
        Surface("s", "1", templates=[template])


def test_a_resource_comes_before_a_template_that_its_uri_fits_too():
    exact = Resource(ResourceDefinition.from_wire({"uri": "note:today", "name": "today"}), read)
    template = ResourceTemplate(ResourceTemplateDefinition.from_wire({"uriTemplate": "note:{day}", "name": "t"}), read)
    made = Surface("s", "1", resources=[exact], templates=[template])
    assert made.find_resource("note:today")[1] == {}
    assert made.find_resource("note:monday")[1] == {"day": "monday"}
    assert made.find_resource("else:x") is None


def test_a_caching_hint_may_be_given_for_each_method():
    made = Surface("s", "1", cache={"tools/list": CacheHint(ttl_ms=5)})
    assert made.cache_hint("tools/list").ttl_ms == 5
    assert made.cache_hint("server/discover").ttl_ms == 0
    with pytest.raises(ValueError, match="tools/call"):
        Surface("s", "1", cache={"tools/call": CacheHint()})

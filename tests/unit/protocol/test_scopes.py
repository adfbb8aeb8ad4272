"""Scopes of single tools, prompts and resources: who sees what, and what is prepared once."""

from __future__ import annotations

import pytest

from discern_server.catalog import Catalog, ToolDefinition
from discern_server.prompts import Prompt, PromptDefinition
from discern_server.protocol.pages import CacheHint
from discern_server.protocol.scopes import RequiredScopes, granted_to
from discern_server.protocol.surface import Surface
from discern_server.resources import Resource, ResourceDefinition, ResourceTemplate, ResourceTemplateDefinition


async def answer(args, ctx):
    return args


def surface(required: RequiredScopes, **options: object) -> Surface:
    catalog = Catalog.of(
        [ToolDefinition.from_wire({"name": name, "inputSchema": {"type": "object"}}) for name in ("read", "write")]
    )
    return Surface(
        "s",
        "1",
        catalog,
        dict.fromkeys(catalog.names, answer),
        prompts=[Prompt(PromptDefinition.from_wire({"name": "greet"}), answer)],
        resources=[Resource(ResourceDefinition.from_wire({"uri": "x://a", "name": "a"}), answer)],
        templates=[
            ResourceTemplate(ResourceTemplateDefinition.from_wire({"uriTemplate": "x://t/{b}", "name": "b"}), answer)
        ],
        required_scopes=required,
        **options,
    )


def listed(surface: Surface, method: str = "tools/list", key: str = "tools", identity: str = "name") -> list[str]:
    pages = surface.pages(method)
    page = None if pages is None else pages.page(None)
    return [item[identity] for item in page[key]] if page else []


WRITE = RequiredScopes(tools={"write": ["w"]})


@pytest.mark.requirement(58)
def test_a_tool_is_neither_listed_nor_found_without_all_its_scopes():
    whole = surface(RequiredScopes(tools={"write": ["w", "x"]}))
    for granted in ([], ["w"], ["x", "other"]):
        view = whole.visible_to(granted)
        assert listed(view) == ["read"]
        assert list(view.tools) == ["read"]
    assert listed(whole.visible_to(["w", "x", "other"])) == ["read", "write"]


def test_prompts_resources_and_templates_are_hidden_the_same_way():
    whole = surface(
        RequiredScopes(prompts={"greet": ["p"]}, resources={"x://a": ["r"]}, templates={"x://t/{b}": ["t"]})
    )
    view = whole.visible_to([])
    assert (view.prompts, view.resources, view.templates) == ((), (), ())
    assert view.pages("prompts/list") is None
    assert view.find_resource("x://a") is None
    assert view.find_resource("x://t/1") is None
    assert whole.visible_to(["r"]).find_resource("x://a") is not None
    assert whole.visible_to(["t"]).find_resource("x://t/1") is not None
    assert list(whole.visible_to(["p"]).prompt_table) == ["greet"]


def test_callers_that_see_the_same_share_what_is_prepared():
    whole = surface(WRITE)
    assert whole.visible_to(["a"]) is whole.visible_to(["b", "c"])
    assert whole.visible_to(["w"]) is whole
    free = surface(RequiredScopes())
    assert free.visible_to([]) is free


def test_more_combinations_than_are_kept_are_prepared_anew():
    names = [f"s{number}" for number in range(100)]
    whole = surface(RequiredScopes(tools={"write": names}))
    for name in names:
        assert listed(whole.visible_to([name])) == ["read"]
    assert len(whole._views) <= 64


def test_scopes_for_what_is_not_there_are_refused():
    with pytest.raises(ValueError, match="not there: wirte, y://"):
        surface(RequiredScopes(tools={"wirte": ["w"]}, resources={"y://": ["w"]}))


@pytest.mark.requirement(61)
def test_a_public_caching_hint_beside_required_scopes_is_refused():
    with pytest.raises(ValueError, match=r"not public: .*tools/list"):
        surface(WRITE, cache=CacheHint(ttl_ms=1, scope="public"))


def test_scopes_given_as_one_text_are_refused():
    with pytest.raises(TypeError, match="'write'"):
        RequiredScopes(tools={"write": "write"})


def test_required_scopes_do_not_change_with_what_they_were_made_from():
    tools = {"write": ["w"]}
    required = RequiredScopes(tools=tools)
    tools["write"].append("x")
    assert required.every == {"w"}


def test_a_request_without_a_token_has_no_scopes():
    assert granted_to(None) == frozenset()
    assert granted_to(type("Token", (), {"scopes": ["w"]})()) == {"w"}


def test_what_is_hidden_is_not_read_by_a_template_behind_it():
    """A broader template that everybody may read must not give what a narrower resource keeps back."""
    made = Surface(
        "s",
        "1",
        resources=[Resource(ResourceDefinition.from_wire({"uri": "db://secret", "name": "secret"}), answer)],
        templates=[
            ResourceTemplate(ResourceTemplateDefinition.from_wire({"uriTemplate": "db://{table}", "name": "t"}), answer)
        ],
        required_scopes=RequiredScopes(resources={"db://secret": ["admin"]}),
    )
    assert made.visible_to([]).find_resource("db://secret") is None
    assert made.visible_to([]).find_resource("db://open")[1] == {"table": "open"}
    assert made.visible_to(["admin"]).find_resource("db://secret")[1] == {}

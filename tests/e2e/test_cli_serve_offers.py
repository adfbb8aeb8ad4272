"""``discern serve``: a project's prompts, resources and templates, and what its handlers log, over stdio and HTTP."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from discern_server.wire.messages import modern_request
from tests.e2e.cli import DISCERN, discern, environment, served
from tests.e2e.http_serving import serving_command

PROJECT = """
[server]
name = "shop"
version = "1.0"

[resources]
files = { terms = "docs/terms.md", logo = "docs/logo.png" }
"""
ANSWERED = """
handlers = "answers"
lifespan = "answers:kitchen"

[prompts]
handlers = "answers"
lifespan = "answers:kitchen"
"""
ANSWERS = """
from contextlib import asynccontextmanager

opened = []


@asynccontextmanager
async def kitchen():
    opened.append("kitchen")
    yield {"cheese": 3, "opened": opened}


def order_food(args, ctx):
    print("ordering")
    return f"Order {args['what']} for me."


async def by_day(args, ctx):
    await ctx.log("info", {"day": args["day"]})
    return {"day": args["day"], **ctx.state} if args["day"] != "never" else None
"""
LOGO = b"\x89PNG\r\n\x1a\n"

Ask = Callable[..., Any]


def define(root: Path, place: str, **definition: Any) -> None:
    file = root / "schemas" / f"{place}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(definition), encoding="utf-8")


def make_static(root: Path) -> Path:
    """Two resources whose content is a file each: no Python anywhere."""
    (root / "discern.toml").write_text(PROJECT, encoding="utf-8")
    (root / "docs").mkdir()
    (root / "docs" / "terms.md").write_text("# Terms\n\nPay in chestnuts: 3 €.\n", encoding="utf-8")
    (root / "docs" / "logo.png").write_bytes(LOGO)
    define(root, "resources/terms", uri="shop://terms", name="Terms", mimeType="text/markdown")
    define(root, "resources/logo", uri="shop://logo", name="Logo", mimeType="image/png")
    return root


def make_answered(root: Path) -> Path:
    """The same, and a prompt and a template that functions answer for."""
    make_static(root)
    (root / "discern.toml").write_text(PROJECT + ANSWERED, encoding="utf-8")
    (root / "answers.py").write_text(ANSWERS, encoding="utf-8")
    define(root, "prompts/order-food", name="order", arguments=[{"name": "what", "required": True}])
    define(root, "resource-templates/by-day", uriTemplate="shop://menu/{day}", name="The menu of a day")
    return root


@pytest.fixture(params=["stdio", "http"])
def ask(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Ask]:
    """Asks the project that functions answer for, over one transport and over the other."""
    make_answered(tmp_path)
    if request.param == "stdio":
        with served("serve", cwd=tmp_path) as server:
            yield lambda method, **params: server.ask(modern_request(method, params))
            assert server.noise == []
    else:
        command = [*DISCERN, "serve", "--root", str(tmp_path), "--http", "127.0.0.1:0"]
        with serving_command(command, env=environment()) as running:
            yield lambda method, **params: running.http.ask(modern_request(method, params)).response(1)


def test_a_project_of_files_alone_is_served_without_a_line_of_python(tmp_path: Path):
    make_static(tmp_path)
    with served("serve", cwd=tmp_path) as server:
        discovered = server.ask(modern_request("server/discover"))["result"]["capabilities"]
        assert {"resources", "tools"} <= discovered.keys()
        assert "prompts" not in discovered
        listed = server.ask(modern_request("resources/list"))["result"]["resources"]
        assert [resource["uri"] for resource in listed] == ["shop://logo", "shop://terms"]
        (terms,) = server.ask(modern_request("resources/read", {"uri": "shop://terms"}))["result"]["contents"]
        assert terms == {
            "uri": "shop://terms",
            "mimeType": "text/markdown",
            "text": "# Terms\n\nPay in chestnuts: 3 €.\n",
        }
        (logo,) = server.ask(modern_request("resources/read", {"uri": "shop://logo"}))["result"]["contents"]
        assert logo == {"uri": "shop://logo", "mimeType": "image/png", "blob": "iVBORw0KGgo="}
        (tmp_path / "docs" / "terms.md").write_text("Others.", encoding="utf-8")
        (terms,) = server.ask(modern_request("resources/read", {"uri": "shop://terms"}))["result"]["contents"]
        assert terms["text"] == "Others."
        (tmp_path / "docs" / "terms.md").unlink()
        gone = server.ask(modern_request("resources/read", {"uri": "shop://terms"}))["error"]
        assert (gone["code"], gone["data"]) == (-32602, {"uri": "shop://terms"})


def test_prompts_and_templates_are_answered_for_by_functions_with_what_their_lifespan_opened_once(ask: Ask):
    assert [prompt["name"] for prompt in ask("prompts/list")["result"]["prompts"]] == ["order"]
    prompt = ask("prompts/get", name="order", arguments={"what": "soup"})["result"]
    assert prompt["messages"] == [{"role": "user", "content": {"type": "text", "text": "Order soup for me."}}]
    assert ask("prompts/get", name="order", arguments={})["error"]["code"] == -32602
    (template,) = ask("resources/templates/list")["result"]["resourceTemplates"]
    assert template["uriTemplate"] == "shop://menu/{day}"
    (menu,) = ask("resources/read", uri="shop://menu/monday")["result"]["contents"]
    assert json.loads(menu["text"]) == {"day": "monday", "cheese": 3, "opened": ["kitchen"]}
    assert ask("resources/read", uri="shop://menu/never")["error"]["code"] == -32602
    assert ask("resources/read", uri="shop://terms")["result"]["contents"][0]["mimeType"] == "text/markdown"


def test_a_log_entry_goes_to_the_request_that_asked_for_it_and_to_no_other(tmp_path: Path):
    make_answered(tmp_path)
    read = modern_request("resources/read", {"uri": "shop://menu/monday"})
    asking = modern_request("resources/read", {"uri": "shop://menu/monday"})
    asking["params"]["_meta"]["io.modelcontextprotocol/logLevel"] = "info"
    with served("serve", cwd=tmp_path) as server:
        assert "logging" in server.ask(modern_request("server/discover"))["result"]["capabilities"]
        server.ask(read)
        assert server.unclaimed == []
        server.ask(asking)
        assert [note["params"]["data"] for note in server.unclaimed] == [{"day": "monday"}]


@pytest.mark.parametrize(
    ("change", "rule", "told"),
    [
        (lambda root: (root / "answers.py").write_text("order_food = 1"), "python.import", "no function order_food"),
        (
            lambda root: (root / "discern.toml").write_text(PROJECT + ANSWERED.replace(":kitchen", ":kitchn")),
            "python.import",
            "did you mean kitchen?",
        ),
        (lambda root: (root / "docs/logo.png").unlink(), "offers.file", "discern.toml#/resources/files/logo"),
        (lambda root: define(root, "resources/terms", uri="terms", name="Terms"), "resource.shape", "terms.json#/uri"),
        (
            lambda root: define(root, "resources/more", uri="shop://logo", name="More"),
            "offers.unique",
            "schemas/resources/more.json#/uri",
        ),
        (
            lambda root: define(root, "resource-templates/by-day", uriTemplate="shop://{day", name="Day"),
            "serve.template",
            "schemas/resource-templates/by-day.json#/uriTemplate",
        ),
        (lambda root: (root / "discern.toml").write_text(PROJECT), "serve.handler", "under [prompts], name a module"),
    ],
    ids=["no function", "no lifespan", "no file", "no URI", "a URI twice", "no template", "no table"],
)
def test_what_cannot_be_served_is_told_before_anything_is(tmp_path: Path, change, rule, told):
    change(make_answered(tmp_path))
    answer = discern("serve", cwd=tmp_path)
    assert (answer.code, answer.out) == (1, "")
    assert rule in answer.err
    assert told in answer.err
    assert "Traceback" not in answer.err

"""What a project offers beside tools: definitions, what answers for them, and every fault with its mend."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from discern_server.project import Project
from discern_server.resources import read_from
from discern_server.verbs.generate import generate
from discern_server.verbs.offers import Offers, offers_of

SERVER = '[server]\nname = "shop"\nversion = "1"\n'
FUNCTIONS = (
    "def menu(args, ctx): return 'cheese'\ndef by_day(args, ctx): return args\ndef order(args, ctx): return 'Hi'\n"
)


def write(root: Path, files: dict[str, object]) -> None:
    for name, content in files.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            file.write_bytes(content)
        else:
            file.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")


def found(root: Path, toml: str = "") -> Offers:
    return offers_of(Project.parse(SERVER + toml, root))


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(str(tmp_path))
    write(
        tmp_path,
        {
            "schemas/prompts/order.json": {"name": "order", "arguments": [{"name": "what", "required": True}]},
            "schemas/resources/menu.json": {"uri": "shop://menu", "name": "Menu"},
            "schemas/resources/terms.json": {"uri": "shop://terms", "name": "Terms", "mimeType": "text/markdown"},
            "schemas/resource-templates/by-day.json": {"uriTemplate": "shop://menu/{day}", "name": "By day"},
            "docs/terms.md": "# Terms\n",
        },
    )
    return tmp_path


@pytest.fixture
def module(root: Path, request: pytest.FixtureRequest) -> str:
    """A module of its own for each test: Python keeps what it has imported."""
    name = f"offers_of_{abs(hash(request.node.nodeid))}"
    write(root, {f"{name}.py": FUNCTIONS})
    return name


def test_each_definition_is_answered_for_by_the_function_or_the_file_that_its_file_s_name_says(root, module):
    toml = (
        f'[prompts]\nhandlers = "{module}"\n[resources]\nhandlers = "{module}"\nfiles = {{ terms = "docs/terms.md" }}\n'
    )
    offers = found(root, toml)
    assert (offers.definition_faults, offers.handler_faults) == ((), ())
    assert [prompt.handler({}, None) for prompt in offers.prompts] == ["Hi"]
    assert [(r.definition.uri, r.handler({}, None)) for r in offers.resources] == [
        ("shop://menu", "cheese"),
        ("shop://terms", "# Terms\n"),
    ]
    assert [template.handler({"day": "monday"}, None) for template in offers.templates] == [{"day": "monday"}]


def test_without_handlers_every_definition_is_told_with_its_mend(root):
    function = 'a module that answers (handlers = "MODULE"); see discern help prompts'
    assert [(fault.rule, fault.path, fault.fix) for fault in found(root).handler_faults] == [
        ("serve.handler", "schemas/prompts/order.json", f"under [prompts], name {function}"),
        *(
            (
                "serve.handler",
                f"schemas/resources/{name}.json",
                f'under [resources], name its content (files."{name}" = "PATH") or {function}',
            )
            for name in ("menu", "terms")
        ),
        ("serve.handler", "schemas/resource-templates/by-day.json", f"under [resources], name {function}"),
    ]


def test_a_function_that_is_not_there_and_a_module_that_cannot_be_imported_are_told(root, module):
    offers = found(root, f'[prompts]\nhandlers = "nothing_there"\n[resources]\nhandlers = "{module}"\n')
    assert [(fault.rule, fault.path, fault.message) for fault in offers.handler_faults] == [
        ("python.import", "discern.toml", "there is no module nothing_there"),
        ("python.import", f"{module}.py", f"{module} has no function terms"),
    ]


def test_a_file_that_is_not_there_and_a_resource_that_is_not_there_are_told_by_their_place(root, module):
    toml = f'[prompts]\nhandlers = "{module}"\n[resources]\nhandlers = "{module}"\n'
    offers = found(root, toml + 'files = { terms = "docs/trems.md", mneu = "docs/terms.md" }\n')
    assert [(fault.path, fault.message, fault.fix) for fault in offers.handler_faults] == [
        ("discern.toml#/resources/files/terms", "docs/trems.md is no file", "name the file with its content"),
        ("discern.toml#/resources/files/mneu", "there is no resource mneu", "did you mean menu?"),
    ]


def test_what_two_files_define_is_told_by_the_second_with_its_pointer(root):
    write(root, {"schemas/resources/zero.json": {"uri": "shop://menu", "name": "Again"}})
    (fault,) = found(root).definition_faults
    assert (fault.path, fault.message) == (
        "schemas/resources/zero.json#/uri",
        "the uri shop://menu is taken by schemas/resources/menu.json",
    )


def test_a_faulty_definition_is_told_with_its_file_pointer_and_line_and_hides_no_other_kind(root, module):
    write(root, {"schemas/resources/menu.json": '{\n  "uri": "menu",\n  "name": "Menu"\n}'})
    offers = found(root, f'[prompts]\nhandlers = "{module}"\n[resources]\nfiles = {{ terms = "docs/terms.md" }}\n')
    (fault,) = offers.definition_faults
    assert (fault.rule, fault.path, fault.line) == ("resource.shape", "schemas/resources/menu.json#/uri", 2)
    assert [fault.path for fault in offers.handler_faults] == ["schemas/resource-templates/by-day.json"]
    assert len(offers.prompts) == 1


def test_check_tells_what_has_no_handler(root):
    generated = generate(Project.parse(SERVER, root))
    assert [fault.rule for fault in generated.handler_faults] == ["serve.handler"] * 4


def test_a_project_without_any_needs_nothing(tmp_path):
    offers = found(tmp_path)
    assert not offers.are_there
    assert offers.handler_faults == ()


@pytest.mark.parametrize(
    ("data", "mime_type", "content"),
    [
        (b"caf\xc3\xa9", None, "café"),
        (b"{}", "application/json", "{}"),
        (b"<svg/>", "image/svg+xml", "<svg/>"),
        (b"\x89PNG", None, b"\x89PNG"),
        (b"GIF89a", "image/gif", b"GIF89a"),
        (b"\xff\xfe", "text/plain", b"\xff\xfe"),
    ],
    ids=["no type", "JSON", "SVG", "no UTF-8", "an image that is ASCII", "a text that is no UTF-8"],
)
def test_a_file_is_text_where_it_is_utf8_and_its_type_says_nothing_else(tmp_path, data, mime_type, content):
    file = tmp_path / "content"
    file.write_bytes(data)
    assert read_from(file, mime_type)({}, None) == content


def test_a_file_is_read_anew_each_time_and_one_that_is_gone_is_not_found(tmp_path):
    file = tmp_path / "content"
    read = read_from(file, None)
    for text in ("one", "two"):
        file.write_text(text, encoding="utf-8")
        assert read({}, None) == text
    file.unlink()
    assert read({}, None) is None

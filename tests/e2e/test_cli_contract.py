"""What the command line promises whatever the verb: exit codes, one JSON object, clean streams, colour."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.bounded import within
from tests.e2e.cli import DISCERN, discern, environment, make_shop

posix_only = pytest.mark.skipif(os.name != "posix", reason="terminals, signals and pipes of POSIX")


def test_outside_a_project_a_verb_says_so_and_what_comes_next(tmp_path: Path):
    for verb in ("status", "map", "check", "accept", "era"):
        answer = discern(verb, "--json", cwd=tmp_path)
        assert answer.code == 1
        assert (answer.envelope["error"], answer.envelope["hints"]) == ("not_initialized", ["discern init writes one"])
        assert answer.err == ""


def test_a_project_is_found_from_below_unless_a_root_is_given(tmp_path: Path):
    root = make_shop(tmp_path)
    below = root / "a" / "b"
    below.mkdir(parents=True)
    assert discern("map", "--json", cwd=below).code == 0
    assert discern("map", "--json", "--root", below, cwd=root).envelope["error"] == "not_initialized"
    assert discern("--root", root, "map", "--json", cwd=Path("/")).code == 0


@pytest.mark.parametrize(
    "words",
    [[], ["nothing"], ["map", "a", "b"], ["check", "--nonsense"], ["accept", "--", "x"], ["era", "x", "--", "y"]],
    ids=" ".join,
)
def test_a_wrong_command_line_is_told_with_exit_code_2(tmp_path: Path, words: list[str]):
    end = words.index("--") if "--" in words else len(words)
    text, as_json = discern(*words, cwd=tmp_path), discern(*words[:end], "--json", *words[end:], cwd=tmp_path)
    assert (text.code, text.out, as_json.code, as_json.err) == (2, "", 2, "")
    assert text.err.startswith("discern")
    assert (as_json.envelope["ok"], as_json.envelope["error"]) == (False, "usage")


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["accept", "--help"]], ids=" ".join)
def test_help_and_version_answer_in_either_form(tmp_path: Path, words: list[str]):
    text, as_json = discern(*words, cwd=tmp_path), discern("--json", *words, cwd=tmp_path)
    assert (text.code, text.err, as_json.code, as_json.err) == (0, "", 0, "")
    assert as_json.envelope["message"] == text.out.rstrip("\n")


def test_with_json_nothing_else_is_written_anywhere(tmp_path: Path):
    (tmp_path / "tools.py").write_text("from discern_server import tool\n@tool\ndef f(): ...\n", encoding="utf-8")
    for words in (["init"], ["accept"], ["status"], ["check"], ["map"], ["doctor"], ["help"], ["era"]):
        answer = discern(*words, "--json", cwd=tmp_path)
        assert (answer.code, answer.err) == (0, ""), words
        assert answer.out == json.dumps(answer.envelope, indent=2, ensure_ascii=False) + "\n"


def test_findings_can_be_had_as_sarif(tmp_path: Path):
    nowhere = json.loads(discern("check", "--format", "sarif", cwd=tmp_path).out)
    assert [found["ruleId"] for found in nowhere["runs"][0]["results"]] == ["not_initialized"]
    root = make_shop(tmp_path)
    answer = discern("check", "--format", "sarif", cwd=root)
    log = json.loads(answer.out)
    assert (answer.code, log["version"]) == (1, "2.1.0")
    assert "schemas.missing" in {found["ruleId"] for found in log["runs"][0]["results"]}


def test_what_a_project_prints_goes_to_standard_error(tmp_path: Path):
    noise = "import atexit, os\nprint('a')\nos.write(1, b'b\\n')\nos.system('echo c')\natexit.register(print, 'd')\n"
    (tmp_path / "tools.py").write_text(noise + "from discern_server import tool\n@tool\ndef f(): ...\n", "utf-8")
    answer = discern("init", "--json", cwd=tmp_path)
    assert answer.envelope["data"]["tools"] == ["f"]
    assert sorted(answer.err.split()) == ["a", "b", "c", "d"]


def test_looking_leaves_no_file_behind(tmp_path: Path):
    root = make_shop(tmp_path)
    before = sorted(root.rglob("*"))
    for verb in ("status", "check", "map", "era"):
        discern(verb, cwd=root)
    assert sorted(root.rglob("*")) == before


def test_the_installed_script_is_the_same_program(tmp_path: Path):
    script = Path(sys.executable).with_name("discern")
    done = subprocess.run([script, "--version"], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.stdout == discern("--version", cwd=tmp_path).out


def test_saying_the_version_loads_nothing_heavy(tmp_path: Path):
    program = (
        "import sys; from discern_server.cli import main; main(['--version']);"
        "print([m for m in ('mcp', 'pydantic', 'jsonschema', 'jsonschema_rs', 'httpx2', 'anyio', 'importlib.metadata')"
        " if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@posix_only
def test_a_reader_that_leaves_ends_it_quietly(tmp_path: Path):
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [*DISCERN, "help", "start"], cwd=tmp_path, stdout=writing, stderr=subprocess.PIPE, text=True, timeout=120
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, "")


@posix_only
@pytest.mark.parametrize("closed", ["1", "2"])
def test_closed_standard_streams_are_no_crash(tmp_path: Path, closed: str):
    command = 'exec "$@" %s>&-' % closed  # noqa: UP031 - braces would need escaping
    done = subprocess.run(
        ["sh", "-c", command, "sh", *DISCERN, "help"], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert "Traceback" not in done.stderr + done.stdout


@posix_only
def test_ctrl_c_ends_it_with_130_and_no_traceback(tmp_path: Path):
    root = make_shop(tmp_path)
    (root / "shop.py").write_text("import sys, time\nprint('waiting', flush=True)\ntime.sleep(60)\n", encoding="utf-8")
    process = subprocess.Popen(
        [*DISCERN, "check"], cwd=root, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    assert within(120, process.stderr.readline) == "waiting\n"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert (process.returncode, out, err) == (130, "", "")


@posix_only
@pytest.mark.parametrize(
    ("settings", "is_coloured"),
    [({}, True), ({"NO_COLOR": "1"}, False), ({"NO_COLOR": ""}, True), ({"TERM": "dumb"}, False)],
    ids=["a terminal", "NO_COLOR", "NO_COLOR that is empty", "a dumb terminal"],
)
def test_colour_is_for_terminals_and_for_those_who_want_it(
    tmp_path: Path, settings: dict[str, str], *, is_coloured: bool
):
    import pty

    ours, theirs = pty.openpty()
    kept = {name: value for name, value in environment().items() if name != "NO_COLOR"}
    env = {**kept, "TERM": "xterm", **settings}
    process = subprocess.Popen([*DISCERN, "doctor"], cwd=tmp_path, stdin=theirs, stdout=theirs, env=env)
    os.close(theirs)
    written = within(120, lambda: read_terminal(ours))
    process.wait(timeout=120)
    os.close(ours)
    assert b"doctor: " in written
    assert (b"\x1b[" in written) is is_coloured


def read_terminal(descriptor: int) -> bytes:
    """All that is written on a terminal until its other side is closed, which Linux tells by an error."""
    written = b""
    with contextlib.suppress(OSError):
        while chunk := os.read(descriptor, 4096):
            written += chunk
    return written


def test_an_unknown_log_level_in_the_environment_is_a_usage_error(tmp_path: Path):
    answer = discern("help", "--json", cwd=tmp_path, env=environment(DISCERN_LOG="loud"))
    assert (answer.code, answer.envelope["error"]) == (2, "usage")


def test_why_an_import_failed_is_logged_on_request(tmp_path: Path):
    root = make_shop(tmp_path)
    (root / "shop.py").write_text("def inner():\n    raise KeyError('hunter2')\ninner()\n", encoding="utf-8")
    quiet = discern("check", cwd=root)
    assert "hunter2" not in quiet.out + quiet.err
    loud = discern("check", cwd=root, env=environment(DISCERN_LOG="debug"))
    assert "hunter2" not in loud.out
    assert "in inner" in loud.err

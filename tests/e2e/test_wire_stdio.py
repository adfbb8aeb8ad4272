"""The raw client over real processes: what servers do to it, and what it does to them."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from discern_server.wire.errors import EndedError, InputClosedError, SendError, SilenceError, StartError, TooMuchError
from discern_server.wire.limits import Limits
from discern_server.wire.messages import request
from discern_server.wire.stdio import StdioServer
from tests.e2e.bounded import PATIENT

ECHO = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": message["method"]}), flush=True)
"""


def python(program: str, **options: object) -> StdioServer:
    limits = options.pop("limits", PATIENT)
    return StdioServer([sys.executable, "-c", program], limits=limits, **options)  # type: ignore[arg-type]


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_question_gets_its_answer_and_the_process_ends_with_its_input():
    with python(ECHO) as server:
        assert server.ask(request("a", id="x")) == {"jsonrpc": "2.0", "id": "x", "result": "a"}
        server.close_stdin()
        assert server.wait() == 0
        with pytest.raises(EndedError) as ended:
            server.receive()
    assert ended.value.exit_code == 0


def test_answers_in_another_order_find_their_questions():
    program = """
import json, sys
lines = [json.loads(next(sys.stdin)) for _ in range(2)]
for message in reversed(lines):
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": message["method"]}))
"""
    with python(program) as server:
        server.send(request("first", id=1))
        server.send(request("second", id=2))
        assert server.reply(1)["result"] == "first"
        assert server.reply(2)["result"] == "second"
        assert server.unclaimed == []


def test_half_a_line_reaches_the_server_as_half_a_line():
    with python(ECHO) as server:
        server.send_raw(b'{"id":1,')
        with pytest.raises(SilenceError):
            server.receive(timeout_s=0.2)
        server.send_raw(b'"method":"x"}\n')
        assert server.reply(1)["result"] == "x"


def test_a_banner_is_kept_as_noise_and_skipped():
    with python("print('Welcome!\\n\\n[1]')\n" + ECHO) as server:
        assert server.ask(request("a"))["result"] == "a"
        assert server.noise == [b"Welcome!", b"", b"[1]"]


def test_a_last_line_without_a_newline_is_read():
    with python("""print('{"id":1,"result":{}}', end='')""") as server:
        assert server.reply(1) == {"id": 1, "result": {}}


def test_silence_is_bounded_and_says_what_was_awaited():
    with python("import sys; sys.stdin.read()") as server:
        server.send(request("a", id="q"))
        with pytest.raises(SilenceError, match="answer to request 'q'"):
            server.reply("q", timeout_s=0.1)


def test_a_server_that_dies_tells_its_exit_code_and_last_words():
    with python("import sys; next(sys.stdin); sys.exit('no configuration')") as server:
        with pytest.raises(EndedError) as ended:
            server.ask(request("a"))
        server.wait_for_stderr("no configuration")
    assert ended.value.exit_code == 1
    assert "! no configuration" in str(server.transcript)


def test_a_server_that_ended_before_it_was_sent_anything_tells_the_same():
    program = "import os, sys, time; os.close(0); print(0, flush=True); time.sleep(1); sys.exit('no licence')"
    with python(program) as server:
        server.receive_line()
        with pytest.raises(InputClosedError):
            server.send(request("a"))
        assert server.stderr == "no licence\n"
        assert "exit code 1" in str(server.transcript)


def test_words_that_never_come_on_stderr_are_not_awaited_beyond_its_end():
    with python("print(1)") as server, pytest.raises(SilenceError):
        server.wait_for_stderr("never", timeout_s=600)


def test_a_command_that_does_not_exist_is_told():
    with (
        pytest.raises(StartError, match="'no-such-program-anywhere': No such file"),
        StdioServer(["no-such-program-anywhere"]),
    ):
        pass


def test_a_folder_that_does_not_exist_is_told_apart_from_a_command():
    with pytest.raises(StartError, match="the folder /no/such/folder"), python("", cwd="/no/such/folder"):
        pass


def test_a_line_without_end_is_not_read_for_ever():
    program = "import sys\nwhile True: sys.stdout.write('x' * 65536)"
    with python(program, limits=Limits(answer_s=60, line_bytes=200_000)) as server:
        with pytest.raises(TooMuchError) as fault:
            server.receive()
        assert (fault.value.what, fault.value.limit_bytes) == ("line", 200_000)
    assert not is_alive(server.pid)


def test_a_flood_of_lines_is_not_read_for_ever():
    program = "import sys\nwhile True: sys.stdout.write('{}\\n' * 9999)"
    with python(program, limits=Limits(answer_s=60, output_bytes=300_000)) as server:
        with pytest.raises(TooMuchError) as fault:
            server.reply(1)
        assert fault.value.what == "output"


def test_a_server_that_does_not_read_cannot_hold_the_client():
    server = python("import time; time.sleep(60)", limits=Limits(answer_s=0.3, exit_s=0.1))
    with server, pytest.raises(SendError, match="did not read"):
        server.send_raw(b"x" * 10_000_000)
    assert not is_alive(server.pid)


def test_a_server_that_closed_its_input_is_told():
    program = "import os, time; os.close(0); print(0, flush=True); time.sleep(60)"
    with python(program, limits=Limits(answer_s=60, exit_s=0.1)) as server:
        server.receive_line()
        with pytest.raises(SendError, match="closed its input"):
            server.send({})


def test_a_server_that_ignores_the_end_of_input_and_termination_is_killed():
    program = "import signal, time; signal.signal(15, signal.SIG_IGN); print(0, flush=True); time.sleep(60)"
    with python(program, limits=Limits(answer_s=60, exit_s=0.1)) as server:
        server.receive_line()
    assert server.wait(0) == -signal.SIGKILL


@pytest.mark.skipif(os.name != "posix", reason="process groups are POSIX")
def test_children_go_with_the_server():
    program = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
print(child.pid, flush=True)
time.sleep(60)
"""
    with python(program, limits=Limits(answer_s=60, exit_s=0.1)) as server:
        child = int(server.receive_line())
        assert is_alive(child)
    wait_until(lambda: not is_running(child))


@pytest.mark.skipif(os.name != "posix", reason="process groups are POSIX")
def test_a_child_that_outlives_the_server_goes_too():
    program = """
import subprocess, sys
print(subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]).pid, flush=True)
"""
    with python(program) as server:
        child = int(server.receive_line())
        server.wait()
    wait_until(lambda: not is_running(child))


def test_a_signal_reaches_the_process():
    with python("import time; print(0, flush=True); time.sleep(60)") as server:
        server.receive_line()
        server.signal(signal.SIGTERM)
        assert server.wait() == -signal.SIGTERM


def test_a_client_that_reads_nothing_blocks_the_server_until_it_reads_on():
    program = """
import sys
sys.stdout.write("x" * 1_000_000 + "\\n"); sys.stdout.flush()
print("written", file=sys.stderr, flush=True)
"""
    with python(program, reading=False) as server:
        with pytest.raises(SilenceError):
            server.wait_for_stderr("written", timeout_s=0.3)
        server.read_on()
        server.wait_for_stderr("written")
        assert len(server.receive_line()) == 1_000_000


def test_a_client_that_goes_away_closes_the_pipe():
    program = """
import sys
print(1, flush=True)
sys.stdin.readline()
try:
    while True: print(2, flush=True)
except BrokenPipeError:
    print("the reader is gone", file=sys.stderr, flush=True)
    sys.stdout = None
"""
    with python(program) as server:
        server.receive_line()
        server.close_stdout()
        server.send({})
        server.wait_for_stderr("the reader is gone")


def test_once_the_process_has_ended_all_that_it_said_on_stderr_is_there():
    program = "import sys; sys.stderr.write('x' * 200_000 + 'the end'); sys.stderr.flush()"
    for _ in range(10):
        with python(program) as server:
            server.wait()
            assert server.stderr.endswith("the end")


def test_the_transcript_shows_the_whole_exchange():
    with python("import sys; print('hi', file=sys.stderr, flush=True)\n" + ECHO) as server:
        server.wait_for_stderr("hi\n")
        server.ask(request("a"))
        server.close_stdin()
        server.wait()
    assert [f"{entry.direction} {entry.text}" for entry in server.transcript.entries] == [
        "! hi",
        '> {"jsonrpc":"2.0","id":1,"method":"a"}',
        '< {"jsonrpc": "2.0", "id": 1, "result": "a"}',
        "* stdin closed",
        "* exit code 0",
    ]


def wait_until(condition: Callable[[], bool]) -> None:
    """Poll without a clock of our own: each step asks the kernel anew, six thousand times at most."""
    for _ in range(6000):
        if condition():
            return
        signal.sigtimedwait([], 0.01)
    pytest.fail("it did not become true")


def is_running(pid: int) -> bool:
    """Whether the process exists and is no zombie left to a reaper."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False

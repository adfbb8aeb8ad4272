"""How a stdio server ends, and what it does before: nothing that was read is lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from discern_server.wire.errors import SilenceError
from discern_server.wire.messages import encode, modern_request
from discern_server.wire.stdio import StdioServer
from tests.e2e.bounded import PATIENT

SERVER = [sys.executable, str(Path(__file__).with_name("wire_server.py"))]


def call(name: str, arguments: dict, *, id: int = 1) -> dict:
    return modern_request("tools/call", {"name": name, "arguments": arguments}, id=id)


def burst(count: int) -> bytes:
    return b"".join(encode(call("echo", {"text": "x"}, id=number)) + b"\n" for number in range(count))


def ids(output: bytes) -> list[int]:
    return sorted(json.loads(line)["id"] for line in output.splitlines())


@pytest.fixture
def server():
    with StdioServer(SERVER, limits=PATIENT) as server:
        yield server


@pytest.fixture
def lenient():
    """A server that gives what is open at the end all the time it needs."""
    with StdioServer([*SERVER, "--drain", "60"], limits=PATIENT) as server:
        yield server


@pytest.mark.requirement(68, 69)
def test_requests_followed_by_the_end_of_the_input_are_all_answered():
    """The SDK's own loop answers about half of these and loses the rest in silence."""
    done = subprocess.run(SERVER, input=burst(200), capture_output=True, timeout=60)
    assert done.returncode == 0
    assert ids(done.stdout) == list(range(200))


LISTENED_TO = """
from discern_server import ServerFactory, Subscriptions, Surface, serve_stdio
serve_stdio(ServerFactory(Surface("s", "1"), subscriptions=Subscriptions()))
"""


@pytest.mark.requirement(37, 40)
def test_a_stream_asked_for_at_the_end_of_the_input_is_acknowledged_and_ended():
    question = modern_request("subscriptions/listen", {"notifications": {"toolsListChanged": True}}, id="l")
    done = subprocess.run([sys.executable, "-c", LISTENED_TO], input=encode(question), capture_output=True, timeout=60)
    acknowledged, ended = map(json.loads, done.stdout.splitlines())
    assert acknowledged["method"] == "notifications/subscriptions/acknowledged"
    assert (ended["id"], ended["result"]["resultType"]) == ("l", "complete")
    assert done.returncode == 0


def test_a_regular_file_as_input_and_output_is_served_whole(tmp_path):
    source, target = tmp_path / "in", tmp_path / "out"
    source.write_bytes(burst(200))
    with source.open("rb") as stdin, target.open("wb") as stdout:
        done = subprocess.run(SERVER, stdin=stdin, stdout=stdout, stderr=subprocess.PIPE, timeout=60)
    assert done.returncode == 0
    assert ids(target.read_bytes()) == list(range(200))


def test_a_client_that_reads_nothing_until_it_has_written_all_is_answered_in_bounded_memory():
    count = 20_000
    with subprocess.Popen(SERVER, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdin.write(burst(count))
        process.stdin.close()
        answered = 0
        peak_kib = 0
        for _line in process.stdout:
            answered += 1
            if answered % 1000 == 0:
                peak_kib = max(peak_kib, peak_memory_kib(process.pid))
        assert process.wait(timeout=60) == 0
    assert answered == count
    assert peak_kib < 120 * 1024


def peak_memory_kib(pid: int) -> int:
    status = Path(f"/proc/{pid}/status")
    if not status.exists():
        pytest.skip("needs /proc to read the peak memory of a process")
    lines = [line for line in status.read_text(encoding="ascii").splitlines() if line.startswith("VmHWM")]
    return int(lines[0].split()[1]) if lines else 0


def test_a_call_that_ends_within_the_drain_time_is_answered(lenient):
    lenient.send(call("slow", {"seconds": 0.5}))
    lenient.wait_for_stderr("slow started")
    lenient.close_stdin()
    assert lenient.reply(1)["result"]["content"] == [{"type": "text", "text": "slow done"}]
    assert lenient.wait() == 0


@pytest.mark.requirement(9, 68)
def test_a_call_that_takes_too_long_is_told_so_and_does_not_hold_the_process(server):
    server.send(call("slow", {"seconds": 60}))
    server.wait_for_stderr("slow started")
    server.close_stdin()
    error = server.reply(1)["error"]
    assert error["code"] == -32603
    assert "stopped" in error["message"]
    assert server.wait() == 0


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)], ids=["TERM", "INT"])
@pytest.mark.requirement(70)
def test_a_signal_ends_the_server_once_what_is_open_is_answered(lenient, number, status):
    lenient.send(call("slow", {"seconds": 0.4}))
    lenient.wait_for_stderr("slow started")
    lenient.signal(number)
    assert lenient.reply(1)["result"]["content"] == [{"type": "text", "text": "slow done"}]
    assert lenient.wait() == status
    assert "Traceback" not in lenient.stderr


def test_a_second_signal_ends_the_server_at_once():
    with StdioServer([*SERVER, "--drain", "600"], limits=PATIENT) as server:
        server.send(call("slow", {"seconds": 600}))
        server.wait_for_stderr("slow started")
        server.signal(signal.SIGTERM)
        while not has_ended(server):  # the kernel makes one of two signals that come before the first is taken
            server.signal(signal.SIGTERM)
        assert server.wait() == 143


def has_ended(server: StdioServer) -> bool:
    try:
        server.wait(0.1)
    except SilenceError:
        return False
    return True


@pytest.mark.requirement(71)
def test_a_closed_output_ends_the_process_while_its_input_is_open(server):
    server.ask(modern_request("server/discover"))
    server.close_stdout()
    server.send(call("echo", {"text": "nobody reads this"}, id=2))
    assert server.wait() == 0
    assert "Traceback" not in server.stderr


def test_an_overlong_line_costs_that_line_only():
    with StdioServer([sys.executable, "-c", CAPPED], limits=PATIENT) as server:
        server.send(call("echo", {"text": "x" * 5000}, id=1))
        server.send(call("echo", {"text": "short"}, id=2))
        refusal = server.receive()
        assert refusal["error"]["code"] == -32600
        assert "1000 bytes" in refusal["error"]["message"]
        assert server.reply(2)["result"]["content"] == [{"type": "text", "text": "short"}]


CAPPED = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from discern_server import ServerFactory, serve_stdio
from wire_server import SURFACE
serve_stdio(ServerFactory(SURFACE), max_line_bytes=1000)
"""


@pytest.mark.requirement(1, 3, 72)
def test_what_is_no_message_is_answered_and_the_connection_lives_on(server):
    """JSON-RPC 2.0, section 5.1: -32700 for what is no JSON, -32600 for what is no request."""
    server.send_raw(b"{ this is no JSON\n")
    assert server.receive()["error"]["code"] == -32700
    server.send_raw(b'{"jsonrpc":"2.0","id":7,"method":5}\n')
    answer = server.receive()
    assert (answer["id"], answer["error"]["code"]) == (7, -32600)
    server.send_raw(b"[]\n")
    answer = server.receive()
    assert (answer["id"], answer["error"]["code"]) == (None, -32600)
    assert "result" in server.ask(modern_request("tools/list", id=8))


@pytest.mark.requirement(67)
def test_standard_output_carries_messages_alone_whatever_a_handler_prints(server):
    answer = server.ask(call("noisy", {}))
    assert answer["result"]["content"] == [{"type": "text", "text": "noisy done"}]
    server.close_stdin()
    server.wait()
    assert server.noise == []
    for printed in ("printed by the language", "written to descriptor 1", "printed by a child"):
        assert printed in server.stderr


def test_on_a_terminal_the_server_says_what_it_waits_for():
    pty = pytest.importorskip("pty", reason="needs pseudo-terminals")
    parent, child = pty.openpty()
    with subprocess.Popen(SERVER, stdin=child, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        os.close(child)
        lines: list[bytes] = []
        reader = threading.Thread(target=lambda: lines.append(process.stderr.readline()))
        reader.start()
        reader.join(60)
        process.terminate()
        process.wait(timeout=60)
    os.close(parent)
    assert lines
    assert b"MCP server" in lines[0]


@pytest.mark.requirement(2, 31)
def test_string_and_number_ids_are_cancelled_apart(server):
    """JSON-RPC: "5" is not 5."""
    server.send(call("slow", {"seconds": 600}, id=5))
    server.send({**call("slow", {"seconds": 1}), "id": "5"})
    server.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 5}})
    assert server.reply("5")["result"]["content"] == [{"type": "text", "text": "slow done"}]
    server.wait_for_stderr("slow cancelled")
    server.ask(modern_request("server/discover", id=6))
    assert [message.get("id") for message in server.unclaimed] == []


def test_a_line_that_is_no_request_but_has_an_id_costs_no_answer_of_another(lenient):
    lenient.send_raw(b'{"jsonrpc":"2.0","id":9}\n')
    lenient.send(call("slow", {"seconds": 0.4}, id=1))
    lenient.wait_for_stderr("slow started")
    lenient.close_stdin()
    assert lenient.reply(9)["error"]["code"] == -32600
    assert lenient.reply(1)["result"]["content"] == [{"type": "text", "text": "slow done"}]
    assert lenient.wait() == 0


STUCK = """
import sys, time
from discern_server import Catalog, ServerFactory, Surface, ToolDefinition, serve_stdio
def stuck(args, ctx):
    sys.stderr.write("stuck\\n"); sys.stderr.flush()
    time.sleep(600)
tool = ToolDefinition.from_wire({"name": "stuck", "inputSchema": {"type": "object"}})
serve_stdio(ServerFactory(Surface("s", "1", Catalog.of([tool]), {"stuck": stuck})))
"""


def test_a_thread_that_is_stuck_does_not_hold_the_process():
    with StdioServer([sys.executable, "-c", STUCK], limits=PATIENT) as server:
        server.send(call("stuck", {}))
        server.wait_for_stderr("stuck")
        server.close_stdin()
        assert server.reply(1)["error"]["code"] == -32603
        assert server.wait() == 0

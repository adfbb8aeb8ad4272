"""Three replicas behind nginx in round robin, as the guide has it: no affinity, and one may be lost."""

from __future__ import annotations

import concurrent.futures
import contextlib
import os
import re
import shutil
import signal
import socket
from dataclasses import dataclass
from pathlib import Path

import pytest

from discern_server.wire.errors import SilenceError
from discern_server.wire.http import HttpAnswer, HttpServer
from discern_server.wire.messages import modern_request
from discern_server.wire.stdio import StdioServer
from tests.e2e.bounded import PATIENCE_S, PATIENT
from tests.e2e.http_serving import Served, serving

NGINX = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
CONFIGURATION = Path(__file__).parents[2] / "docs" / "guide" / "examples" / "http" / "nginx.conf"
KEYS = {**os.environ, "DISCERN_STATE_KEYS": "a key for tests alone, 32 bytes!".replace(" ", "_")}
CAN_CONFIRM: dict[str, object] = {"io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}}

pytestmark = pytest.mark.skipif(NGINX is None, reason="nginx is not installed (Debian: nginx-light)")


@dataclass
class Cluster:
    """The replicas, and nginx before them."""

    front: HttpServer
    replicas: list[Served]

    @property
    def pids(self) -> set[int]:
        return {replica.process.pid for replica in self.replicas}


@pytest.fixture
def cluster(tmp_path):
    with contextlib.ExitStack() as stack:
        replicas = [stack.enter_context(serving("replica_server.py", env=KEYS)) for _ in range(3)]
        port = start_nginx(stack, [replica.port for replica in replicas], tmp_path)
        yield Cluster(HttpServer(f"http://127.0.0.1:{port}/mcp", limits=PATIENT), replicas)


def start_nginx(stack: contextlib.ExitStack, upstream_ports: list[int], directory: Path) -> int:
    """Run nginx until `stack` is left; the port that it listens on: another one where somebody else was faster."""
    for _ in range(5):
        port = free_port()
        configure(port, upstream_ports, directory)
        assert NGINX is not None
        command = [NGINX, "-e", "stderr", "-p", str(directory), "-c", "nginx.conf", "-g", "error_log stderr notice;"]
        process = stack.enter_context(StdioServer(command, limits=PATIENT))
        process.give_up()
        with contextlib.suppress(SilenceError):
            process.wait_for_stderr("start worker process ")
            return port
        assert "Address already in use" in process.stderr, process.stderr
    raise AssertionError("every free port was taken before nginx came to listen on it")


def configure(port: int, upstream_ports: list[int], directory: Path) -> None:
    """Write the guide's configuration to `directory`, its ports replaced."""
    site = CONFIGURATION.read_text(encoding="utf-8").replace(":8000;", f":{port};")
    for number, upstream in enumerate(upstream_ports, 1):
        site = site.replace(f":800{number};", f":{upstream};")
    paths = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    temporary = "".join(f"{name}_temp_path {directory}/{name};\n" for name in paths)
    http = f"access_log off;\n{temporary}{site}"
    (directory / "nginx.conf").write_text(
        f"daemon off;\npid {directory}/nginx.pid;\nworker_processes 1;\nevents {{}}\nhttp {{\n{http}\n}}\n",
        encoding="utf-8",
    )


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def call(name: str, number: int, **params: object) -> dict:
    meta = {"_meta": CAN_CONFIRM} if name == "book" else {}
    return modern_request("tools/call", {"name": name, "arguments": {"number": number}, **meta, **params}, id=number)


def result(answer: HttpAnswer, number: int) -> dict:
    message = answer.response(number)
    assert message is not None, answer
    found: dict = message["result"]
    return found


def ask_all(server: HttpServer, messages: list[dict]) -> list[HttpAnswer]:
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        return list(pool.map(server.ask, messages))


@pytest.mark.requirement(19, 20)
def test_a_mixed_load_is_answered_right_by_all_replicas(cluster):
    kinds = [number // 3 % 3 for number in range(1, 91)]  # runs of three: each kind goes to every replica in turn
    messages = []
    for number, kind in enumerate(kinds, 1):
        choice = (call("work", number), modern_request("tools/list", id=number), call("nothing", number))
        messages.append(choice[kind])
    answers = ask_all(cluster.front, messages)
    served_by = set()
    for number, (kind, answer) in enumerate(zip(kinds, answers, strict=True), 1):
        if kind == 0:
            content = result(answer, number)["structuredContent"]
            assert content["number"] == number
            served_by.add(content["replica"])
        elif kind == 1:
            assert [tool["name"] for tool in result(answer, number)["tools"]] == ["book", "work"]
        else:
            assert answer.response(number)["error"]["code"] == -32602
    assert served_by == cluster.pids


@pytest.mark.requirement(19, 43)
def test_the_rounds_of_one_call_land_on_different_replicas(cluster):
    pairs = set()
    for number in range(1, 13):
        first = result(cluster.front.ask(call("book", number)), number)
        assert first["resultType"] == "input_required"
        answers = {"sure": {"action": "accept", "content": {"sure": True}}}
        second = call("book", number, inputResponses=answers, requestState=first["requestState"])
        booked = result(cluster.front.ask(second), number)["structuredContent"]
        assert (booked["number"], booked["sure"]) == (number, True)
        pairs.add((booked["asked_by"], booked["booked_by"]))
    assert {asked for asked, _ in pairs} == cluster.pids
    assert any(asked != booked for asked, booked in pairs)


def test_when_a_replica_is_killed_under_load_only_its_own_requests_are_lost(cluster):
    killed, *others = cluster.replicas
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        load = [pool.submit(cluster.front.ask, call("work", number)) for number in range(1, 121)]
        killed.process.wait_for_stderr("working on")
        killed.process.signal(signal.SIGKILL)
        answers = [answer.result(PATIENCE_S) for answer in load]
    survivors = {int(number) for other in others for number in re.findall(r"working on (\d+);", other.process.stderr)}
    lost = set()
    for number, answer in enumerate(answers, 1):
        if answer.status == 200 and answer.fault is None:
            assert result(answer, number)["structuredContent"]["number"] == number
        else:
            assert answer.status in (200, 502), answer  # 200: the replica was killed within its answer
            lost.add(number)
    assert lost.isdisjoint(survivors)
    assert len(lost) <= 6
    after = ask_all(cluster.front, [call("work", number) for number in range(1, 31)])
    assert {result(answer, number)["structuredContent"]["replica"] for number, answer in enumerate(after, 1)} == {
        other.process.pid for other in others
    }

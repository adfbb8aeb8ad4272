"""SIGINT does not end the SDK's own loop: a thread is blocked in a read. A closed output leaves it behind likewise."""

from __future__ import annotations

import signal

from common.messages import request
from common.process import Process

PATIENCE_S = 2.0


def main() -> None:
    with Process() as server:
        server.ask(request(1, "server/discover"))
        server.signal(signal.SIGINT)
        print(f"ends within {PATIENCE_S:.0f} s of SIGINT while its input is open: {server.ends_within(PATIENCE_S)}")
        server.close_input()
        print(f"ends once its input is closed: {server.ends_within(60)}")
    with Process() as server:
        server.ask(request(1, "server/discover"))
        server.close_output()
        server.write(request(2, "server/discover"))
        print(f"ends within {PATIENCE_S:.0f} s of writing to a closed output: {server.ends_within(PATIENCE_S)}")


if __name__ == "__main__":
    main()

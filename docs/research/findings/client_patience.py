"""How long the SDK's client waits, after it has closed the server's input, before it terminates the process."""

from __future__ import annotations

from mcp.client import stdio  # noqa: TID251 - observed, not used


def main() -> None:
    print(f"mcp.client.stdio.PROCESS_TERMINATION_TIMEOUT is {stdio.PROCESS_TERMINATION_TIMEOUT} s")


if __name__ == "__main__":
    main()

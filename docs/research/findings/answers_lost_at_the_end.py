"""Requests that were read before the end of the input are cancelled there: answers are lost without an error."""

from __future__ import annotations

from common.messages import call
from common.process import Process

COUNT = 200


def main() -> None:
    with Process() as server:
        server.write(*(call(number, "echo", text="x") for number in range(COUNT)))
        server.close_input()
        answers = server.read_all()
        print(f"{COUNT} calls written at once, then the end of the input")
        print(f"all are answered: {len(answers) == COUNT}")
        print(f"some are answered: {0 < len(answers) < COUNT}")
        print(f"what is answered is good: {all('result' in answer for answer in answers)}")
        print(f"the process ends: {server.ends_within(60)}")


if __name__ == "__main__":
    main()

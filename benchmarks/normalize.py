"""The schemas of a large API description: time to normalise them, and to judge its own examples by them.

Everything runs in one process of our environment. The description lies outside of this repository; without it there
are no rows.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from benchmarks import environments
from benchmarks.openapi import CORPUS
from benchmarks.paired import Spread
from benchmarks.rows import Row

if TYPE_CHECKING:
    from discern_server.schema.normalize import Normalizer, Place

GROUP: Final = "the schemas of an API description"
DOCUMENT: Final = CORPUS / "github.json"
_SCHEMAS_AT: Final = ("components", "schemas")


@dataclass(frozen=True, slots=True)
class Size:
    """How much is measured."""

    rounds: int


FULL: Final = Size(rounds=11)
QUICK: Final = Size(rounds=5)


def rows(size: Size, _directory: Path) -> list[Row]:
    """The rows about schemas."""
    if not DOCUMENT.is_file():
        return []
    command = [environments.python("ours"), "-m", "benchmarks.normalize", str(size.rounds)]
    measured = json.loads(subprocess.check_output(command, cwd=environments.ROOT))
    return [
        _row(f"normalising {measured['schemas']} component schemas of {DOCUMENT.name}", measured["normalising"]),
        _row("the same for input, without what is read-only", measured["projecting"]),
        _row(f"compiling the {measured['examples']} response schemas that have an example", measured["compiling"]),
        _row("judging those examples", measured["judging"]),
    ]


def _row(what: str, milliseconds: list[float]) -> Row:
    return Row(group=GROUP, what=what, ours="discern-server", theirs="", value=Spread.of(milliseconds), unit=" ms")


def measure(rounds: int) -> dict[str, Any]:
    """How many schemas and examples there are, and milliseconds for each step, round by round."""
    from discern_server.schema.normalize import normalize  # noqa: F401 - imported before the clock runs

    document = json.loads(DOCUMENT.read_text(encoding="utf-8"))
    found: dict[str, Any] = {"normalising": [], "projecting": [], "compiling": [], "judging": []}
    for _ in range(rounds):
        found["normalising"].append(_normalise_all(_normalizer(document), None))
        found["projecting"].append(_normalise_all(_normalizer(document), "input"))
        compiling, judging, examples = _judge_examples(_normalizer(document))
        found["compiling"].append(compiling)
        found["judging"].append(judging)
    return {**found, "schemas": len(document["components"]["schemas"]), "examples": examples}


def _normalizer(document: dict[str, Any]) -> Normalizer:
    from discern_server.schema.normalize import Normalizer

    return Normalizer(document, dialect="openapi-3.0", schemas_at=["/".join(("", *_SCHEMAS_AT))])


def _normalise_all(normalizer: Normalizer, direction: Any) -> float:
    schemas = normalizer.root.at(*_SCHEMAS_AT)
    started = time.perf_counter()
    for name in schemas.value:
        bundle = normalizer.bundle(direction)
        bundle.add(schemas.at(name))
        bundle.definitions()
    return (time.perf_counter() - started) * 1000


def _judge_examples(normalizer: Normalizer) -> tuple[float, float, int]:
    """Milliseconds to compile and to judge, and how many examples there are."""
    from discern_server.schema.validate import compile_validator

    work = []
    for place, example in _examples(normalizer):
        bundle = normalizer.bundle("output")
        schema = bundle.add(place)
        assert isinstance(schema, dict)
        work.append((compile_validator({**schema, "$defs": bundle.definitions()}), example))
    started = time.perf_counter()
    for validator, _ in work:
        validator.compile()
    compiled = time.perf_counter()
    for validator, example in work:
        validator.is_valid(example)
    judged = time.perf_counter()
    return (compiled - started) * 1000, (judged - compiled) * 1000, len(work)


def _examples(normalizer: Normalizer) -> Iterator[tuple[Place, Any]]:
    """The schema of each JSON response, and an example of it."""
    paths = normalizer.root.at("paths")
    for path, item in paths.value.items():
        for method, operation in item.items():
            for status in operation.get("responses", ()) if isinstance(operation, dict) else ():
                response = normalizer.follow(paths.at(path, method, "responses", status))
                media = response.value.get("content", {}).get("application/json", {})
                if "schema" in media and "examples" in media:
                    at = response.at("content", "application/json")
                    first = normalizer.follow(at.at("examples", next(iter(media["examples"]))))
                    yield at.at("schema"), first.value.get("value")


if __name__ == "__main__":
    sys.stdout.write(json.dumps(measure(int(sys.argv[1]))))

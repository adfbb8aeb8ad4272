"""The official JSON Schema Test Suite as oracle: ``python -m tests.suites.json_schema DIR``.

Each schema of the suite is normalised from its own dialect, and every instance has to get the suite's verdict
under 2020-12 from both engines; normalising the result once more has to change nothing. Remote documents are
served from the suite's own folder, never from the network.

The last line counts the required tests; it is an error if one fails, and none is skipped. What the suite calls
optional is reported above it. ``format`` is an annotation in 2020-12, so most of optional/format cannot pass; that
is no fault.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discern_server.schema.engines import EngineName
from discern_server.schema.errors import SchemaError, UnresolvableError
from discern_server.schema.normalize import normalize
from discern_server.schema.validate import Validator, compile_validator

DIALECTS = {
    "draft4": "draft-04",
    "draft6": "draft-06",
    "draft7": "draft-07",
    "draft2019-09": "2019-09",
    "draft2020-12": "2020-12",
}
ENGINES: tuple[EngineName, ...] = ("jsonschema-rs", "jsonschema")
REMOTES = "http://localhost:1234/"


@dataclass(frozen=True)
class Group:
    """One schema of the suite with its tests."""

    folder: str
    file: str
    description: str
    schema: Any
    tests: list[dict[str, Any]]

    @property
    def kind(self) -> str:
        """``required``, ``optional`` or ``format``."""
        head, _, rest = self.file.partition("/")
        return "required" if head != "optional" else "format" if rest.startswith("format/") else "optional"


def groups(suite: Path) -> Iterator[Group]:
    """Every group of the dialects that are known, in the order of the files."""
    for folder in DIALECTS:
        root = suite / "tests" / folder
        for path in sorted(root.rglob("*.json")):
            for group in json.loads(path.read_text(encoding="utf-8")):
                yield Group(
                    folder, path.relative_to(root).as_posix(), group["description"], group["schema"], group["tests"]
                )


class Remotes:
    """A resolver that serves the suite's remote documents."""

    def __init__(self, suite: Path) -> None:
        self._folder = suite / "remotes"

    def __call__(self, uri: str) -> Any:
        path = self._folder / uri.removeprefix(REMOTES)
        if not uri.startswith(REMOTES) or not path.is_file():
            raise UnresolvableError("is not among the remote documents of the suite")
        return json.loads(path.read_text(encoding="utf-8"))


def complaints(group: Group, resolve: Remotes) -> Iterator[tuple[dict[str, Any] | None, str]]:
    """Each test of `group` that does not get its verdict, and how; None in place of a test where it is all of them."""
    try:
        schema = normalize(group.schema, dialect=DIALECTS[group.folder], resolve=resolve)
        if json.dumps(normalize(schema)) != json.dumps(schema):
            yield None, "normalising twice changes it"
            return
        validators = [compile_validator(schema, engine=engine) for engine in ENGINES]
        for validator in validators:
            validator.compile()
    except SchemaError as error:
        yield None, str(error)
        return
    for test in group.tests:
        wrong = [name for validator in validators if (name := _wrong(validator, test))]
        if wrong:
            yield test, f"{' and '.join(wrong)} should say {'valid' if test['valid'] else 'invalid'}"


def _wrong(validator: Validator, test: dict[str, Any]) -> str | None:
    return None if validator.is_valid(test["data"]) is test["valid"] else validator.engine_name


def main(suite: Path) -> int:
    """Run the suite in that folder, report on stdout, and return the exit code."""
    resolve = Remotes(suite)
    counts: dict[tuple[str, str], Counter[str]] = {}
    for group in groups(suite):
        count = counts.setdefault((group.folder, group.kind), Counter())
        failed = 0
        for test, why in complaints(group, resolve):
            failed += 1 if test else len(group.tests)
            if group.kind != "format":
                title = f"{group.description}: {test['description']}" if test else group.description
                print(f"{group.kind.upper()} {group.folder}/{group.file}: {title}: {why}")
        count["failed"] += failed
        count["passed"] += len(group.tests) - failed
    return _report(counts)


def _report(counts: dict[tuple[str, str], Counter[str]]) -> int:
    for (folder, kind), count in counts.items():
        print(f"{folder:<13} {kind:<9} {count['passed']:5} passed {count['failed']:4} failed")
    required = [count for (_, kind), count in counts.items() if kind == "required"]
    passed, failed = sum(count["passed"] for count in required), sum(count["failed"] for count in required)
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m tests.suites.json_schema DIR")
    sys.exit(main(Path(sys.argv[1])))

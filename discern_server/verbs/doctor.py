"""``discern doctor``: is the environment what the program needs?"""

from __future__ import annotations

import platform
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from typing import Final

from discern_server import __version__
from discern_server.catalog import Catalog, CatalogError
from discern_server.result import Diagnostic, DiscernResult, Severity
from discern_server.schema.engines import default_engine
from discern_server.verbs.own import own_definitions

DISTRIBUTION: Final = "discern-server"
_OLDEST_PYTHON: Final = (3, 11)
_REINSTALL: Final = f"pip install --force-reinstall {DISTRIBUTION}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SdkStatus:
    """The MCP SDK: the one version this program was made for, and the one that is installed."""

    required: str | None
    installed: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtraStatus:
    """An optional part: whether everything it needs is installed, and what is missing."""

    extra: str
    installed: bool
    missing: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorData:
    """What the program runs on."""

    discern_server: str
    python: str
    platform: str
    sdk: SdkStatus
    validation_engine: str
    definitions: int
    extras: list[ExtraStatus]


def doctor() -> DiscernResult:
    """Look at the installation: Python, the SDK and its pin, the validation engine, extras, our own definitions."""
    requirements = _requirements()
    sdk = SdkStatus(required=_pin(requirements, "mcp"), installed=_installed("mcp"))
    definitions, faults = _own_definitions()
    data = DoctorData(
        discern_server=__version__,
        python=platform.python_version(),
        platform=f"{platform.system()} {platform.machine()}",
        sdk=sdk,
        validation_engine=default_engine(),
        definitions=definitions,
        extras=list(_extras(requirements)),
    )
    diagnostics = (*_python_findings(), *_sdk_findings(sdk), *_engine_findings(data.validation_engine), *faults)
    errors = sum(finding.severity is Severity.ERROR for finding in diagnostics)
    return DiscernResult(
        ok=errors == 0,
        verb="doctor",
        message="all is well" if errors == 0 else f"{errors} to mend",
        data=asdict(data),
        diagnostics=diagnostics,
        error="environment" if errors else None,
    )


def _python_findings() -> Iterator[Diagnostic]:
    if sys.version_info < _OLDEST_PYTHON:
        wanted = ".".join(map(str, _OLDEST_PYTHON))
        yield Diagnostic(
            rule="doctor.python",
            message=f"Python {platform.python_version()} is older than {wanted}",
            fix=f"use Python {wanted} or newer",
        )


def _sdk_findings(sdk: SdkStatus) -> Iterator[Diagnostic]:
    if sdk.installed is None:
        yield Diagnostic(rule="doctor.sdk", message="the MCP SDK is not installed", fix=_REINSTALL)
    elif sdk.required is not None and sdk.installed != sdk.required:
        message = f"mcp {sdk.installed} is installed; this version relies on mcp {sdk.required}"
        yield Diagnostic(rule="doctor.sdk", message=message, fix=f"pip install mcp=={sdk.required}")


def _engine_findings(engine: str) -> Iterator[Diagnostic]:
    if engine != "jsonschema-rs":
        yield Diagnostic(
            rule="doctor.engine",
            severity=Severity.INFO,
            message="validation runs on jsonschema, which is slower",
            fix="pip install jsonschema-rs, where it has a wheel",
        )


def _own_definitions() -> tuple[int, tuple[Diagnostic, ...]]:
    try:
        return len(Catalog.load(own_definitions())), ()
    except CatalogError as error:
        return 0, error.diagnostics


# --- what the distribution says of itself -------------------------------------------------------------

_REQUIREMENT: Final = re.compile(r"\s*([A-Za-z0-9._-]+)")
_PIN: Final = re.compile(r"==\s*([^\s;,]+)")
_EXTRA: Final = re.compile(r"""extra\s*==\s*['"]([^'"]+)['"]""")


def _requirements() -> Sequence[str]:
    try:
        return requires(DISTRIBUTION) or ()
    except PackageNotFoundError:
        return ()


def _pin(requirements: Sequence[str], name: str) -> str | None:
    for requirement in requirements:
        found = _REQUIREMENT.match(requirement)
        if found and found[1].lower() == name and (pin := _PIN.search(requirement)):
            return pin[1]
    return None


def _extras(requirements: Sequence[str]) -> Iterator[ExtraStatus]:
    needed: dict[str, list[str]] = {}
    for requirement in requirements:
        name, marker = _REQUIREMENT.match(requirement), _EXTRA.search(requirement)
        if name and marker:
            needed.setdefault(marker[1], []).append(name[1])
    for extra, names in sorted(needed.items()):
        missing = sorted(name for name in names if _installed(name) is None)
        yield ExtraStatus(extra=extra, installed=not missing, missing=missing)


def _installed(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None

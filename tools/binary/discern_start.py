"""The first module that the single executable runs: from here on, it imports from its archive without unpacking it.

The executable ends with a zip. CPython's `zipimport` starts from it, and would do for the rest; but it opens the file
for each module, `importlib.metadata` and `importlib.resources` list it anew each time they are asked, and shared
libraries it cannot load. So a path hook of ours takes its place, with a table of where each file lies. Shared libraries
are given a file in memory (``memfd_create``), which no directory lists. It stays open: the loader knows a library by
its path, and that must not come to mean another one.
"""

from __future__ import annotations

import io
import marshal
import sys
from importlib.machinery import ExtensionFileLoader, ModuleSpec, PathFinder
from os import memfd_create, pread, sendfile, write

import discern_contents  # type: ignore[import-not-found]
import discern_libraries  # type: ignore[import-not-found]

TYPE_CHECKING = False  # as in `typing`, which cannot be read before this module has run
if TYPE_CHECKING:
    from collections.abc import Iterator
    from importlib.metadata import Distribution, DistributionFinder
    from types import CodeType, ModuleType
    from typing import IO, Any, Final

PLACE: Final = f"{sys.executable}/modules"
"""What stands in ``sys.path`` for the archive. There is no such folder: nobody but our hook finds anything there."""

_PYC_HEADER_BYTES: Final = 16
_FILES: Final[dict[str, tuple[int, int, bool]]] = discern_contents.FILES
_FOLDERS: Final[dict[str, list[str]]] = discern_contents.FOLDERS
_loaded: set[str] = set()


# --- files --------------------------------------------------------------------------------------------


def read(name: str) -> bytes:
    """The content of a file of the archive.

    Raises:
        FileNotFoundError: There is none of that name.
    """
    if name not in _FILES:
        raise FileNotFoundError(2, "No such file in the executable", name)
    offset, size, is_compressed = _FILES[name]
    content = pread(discern_contents.DESCRIPTOR, size, offset)
    if is_compressed:
        import zlib

        return zlib.decompress(content, -zlib.MAX_WBITS)
    return content


class Member:
    """A file or a folder of the archive, as `importlib.resources` and `importlib.metadata` walk it."""

    def __init__(self, path: str) -> None:
        self._path = path

    @property
    def name(self) -> str:
        """The last part of its path."""
        return self._path.rpartition("/")[2]

    def __str__(self) -> str:
        return f"{PLACE}/{self._path}"

    def joinpath(self, *names: str) -> Member:
        """What lies below it, or would."""
        return Member("/".join(part for part in (self._path, *names) if part))

    __truediv__ = joinpath

    def iterdir(self) -> Iterator[Member]:
        """What lies in the folder."""
        return (self.joinpath(name) for name in _FOLDERS[self._path])

    def is_dir(self) -> bool:
        """Whether it is a folder."""
        return self._path in _FOLDERS

    def is_file(self) -> bool:
        """Whether it is a file."""
        return self._path in _FILES

    def read_bytes(self) -> bytes:
        """Its content."""
        return read(self._path)

    def read_text(self, encoding: str | None = None, errors: str | None = None) -> str:
        """Its content as text."""
        return read(self._path).decode(encoding or "utf-8", errors or "strict")

    def open(self, mode: str = "r", **options: Any) -> IO[Any]:
        """Its content as a stream."""
        content = io.BytesIO(read(self._path))
        return content if "b" in mode else io.TextIOWrapper(content, **{"encoding": "utf-8", **options})


# --- modules ------------------------------------------------------------------------------------------


class Finder:
    """The path hook for `PLACE` and the folders below it."""

    def __init__(self, path: str) -> None:
        if path != PLACE and not path.startswith(f"{PLACE}/"):
            raise ImportError("not in the executable", path=path)
        self._folder = path[len(PLACE) + 1 :]

    def find_spec(self, fullname: str, _target: ModuleType | None = None) -> ModuleSpec | None:
        """The spec of a module or package in this folder; None where there is none."""
        path = Member(self._folder).joinpath(fullname.rpartition(".")[2])._path  # noqa: SLF001 - of this module
        if extension := discern_contents.EXTENSIONS.get(path):
            return _extension(fullname, extension)
        for file, is_package in ((f"{path}/__init__.pyc", True), (f"{path}.pyc", False)):
            if file in _FILES:
                loader: Any = Loader(file, path)  # one by its methods
                spec = ModuleSpec(fullname, loader, origin=f"{PLACE}/{file}", is_package=is_package)
                spec.has_location = True
                break
        else:
            if path not in _FOLDERS:
                return None
            spec, is_package = ModuleSpec(fullname, None, is_package=True), True  # a part of a namespace package
        if is_package:
            spec.submodule_search_locations = [f"{PLACE}/{path}"]
        return spec


class Loader:
    """Loads one module, and the resources of one package.

    Args:
        file: Its compiled code in the archive.
        folder: Where its resources lie.
    """

    def __init__(self, file: str, folder: str) -> None:
        self._file = file
        self._folder = folder

    def create_module(self, _spec: ModuleSpec) -> None:
        """Python's own kind of module will do."""

    def exec_module(self, module: ModuleType) -> None:
        """Run its code."""
        exec(self.get_code(module.__name__), module.__dict__)  # noqa: S102 - what it is to import a module

    def get_code(self, _fullname: str) -> CodeType:
        """Its code, compiled when the executable was built."""
        code: CodeType = marshal.loads(memoryview(read(self._file))[_PYC_HEADER_BYTES:])  # noqa: S302 - our own
        return code

    def get_source(self, _fullname: str) -> None:
        """There is none in the executable."""

    def is_package(self, _fullname: str) -> bool:
        """Whether it is a package."""
        return self._file.endswith("/__init__.pyc")

    def get_data(self, path: str) -> bytes:
        """The content of a file that lies beside its ``__file__``; OSError where there is none."""
        return read(path.removeprefix(f"{PLACE}/"))

    def get_resource_reader(self, _fullname: str) -> Loader:
        """Who gives its resources."""
        return self

    def files(self) -> Member:
        """The folder of its resources."""
        return Member(self._folder)


# --- shared libraries ---------------------------------------------------------------------------------


def _extension(name: str, member: str) -> ModuleSpec:
    _load_needed(member)
    file = _in_memory(member)
    return ModuleSpec(name, ExtensionFileLoader(name, file), origin=file)


def _load_needed(member: str) -> None:
    for library in discern_contents.NEEDED.get(member, ()):
        if library not in _loaded:
            _load_needed(library)
            discern_libraries.load(_in_memory(library))
            _loaded.add(library)


def _in_memory(member: str) -> str:
    """A path by which the member of the archive can be loaded as a shared library."""
    descriptor = memfd_create(member)
    offset, size, is_compressed = _FILES[member]
    if is_compressed:
        content = memoryview(read(member))
        while content:
            content = content[write(descriptor, content) :]
    while not is_compressed and size:
        sent = sendfile(descriptor, discern_contents.DESCRIPTOR, offset, size)
        offset, size = offset + sent, size - sent
    return f"/proc/self/fd/{descriptor}"


# --- what is installed --------------------------------------------------------------------------------


class Installed:
    """Tells `importlib.metadata` of the packages in the archive."""

    @staticmethod
    def find_spec(*_: object) -> None:
        """Modules are found by the path hook."""

    @staticmethod
    def find_distributions(context: DistributionFinder.Context) -> Iterator[Distribution]:
        """Those of the name that is asked for, or all."""
        from importlib.metadata import PathDistribution, Prepared  # type: ignore[attr-defined]

        wanted = Prepared(context.name).normalized
        for name in _FOLDERS[""]:
            stem, _, suffix = name.rpartition(".")
            if suffix == "dist-info" and wanted in (None, Prepared.normalize(stem.partition("-")[0])):
                yield PathDistribution(Member(name))  # type: ignore[arg-type] # it asks no more than Member has


def run() -> None:
    """Run the command line and end the process with its exit code."""
    sys.frozen = True  # type: ignore[attr-defined]
    sys.path_hooks.insert(0, Finder)
    sys.path[0] = PLACE
    sys.meta_path.insert(sys.meta_path.index(PathFinder), Installed)
    from discern_server.cli import main

    sys.exit(main())

"""The first module that the single executable runs: it lets extension modules be imported from memory.

The executable ends with a zip. CPython's `zipimport` takes Python modules and data from it; what it cannot do is load
shared libraries, for which the system's loader wants a file. They are given one in memory (``memfd_create``), which no
directory lists. It stays open: the loader knows a library by its path, and that must not come to mean another one.
"""

from __future__ import annotations

import sys
from importlib.machinery import ExtensionFileLoader, ModuleSpec
from os import memfd_create, write
from zipimport import zipimporter

import discern_contents  # type: ignore[import-not-found]
import discern_libraries  # type: ignore[import-not-found]

_archive = zipimporter(sys.path[0])
_loaded: set[str] = set()


class MemoryFinder:
    """Finds the extension modules that `discern_contents` lists."""

    @staticmethod
    def find_spec(name: str, *_: object) -> ModuleSpec | None:
        """The spec of an extension module of ours, with the libraries it needs loaded; None for any other module."""
        member = discern_contents.EXTENSIONS.get(name)
        if member is None:
            return None
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
    content = memoryview(_archive.get_data(f"{_archive.archive}/{member}"))
    descriptor = memfd_create(member)
    while content:
        content = content[write(descriptor, content) :]
    return f"/proc/self/fd/{descriptor}"


def run() -> None:
    """Run the command line and end the process with its exit code."""
    sys.frozen = True  # type: ignore[attr-defined]
    sys.meta_path.insert(0, MemoryFinder)
    from discern_server.cli import main

    sys.exit(main())

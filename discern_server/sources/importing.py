"""Import what a project names, and tell what went wrong as diagnostics rather than as a traceback."""

from __future__ import annotations

import importlib
import logging
import sys
import traceback
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from pathlib import Path
from types import ModuleType
from typing import Any, Final, cast

from discern_server.result import Diagnostic
from discern_server.sources import SourceError
from discern_server.toml import nearest

logger = logging.getLogger(__name__)

# Their text speaks of code. That of others may repeat a value (a connection string, a token) and is left out.
_SPEAKING: Final = (ImportError, SyntaxError, NameError, AttributeError)


def import_module(name: str, path: Path, root: Path) -> ModuleType:
    """Import the module `name` with the folder `path` in front of the import path, where it stays.

    Diagnostics show files relative to `root`, the project's folder.

    Raises:
        SourceError: It is not there, or importing it raised (or tried to end the process).
    """
    if str(path) not in sys.path:
        sys.path.insert(0, str(path))
    try:
        return importlib.import_module(name)
    except (Exception, SystemExit) as error:
        logger.debug("importing %s raised", name, exc_info=True)
        raise SourceError([_import_fault(name, path, root, error)]) from error


def open_lifespan(reference: str | None, path: Path, root: Path) -> AbstractAsyncContextManager[Any]:
    """The context manager of the function ``module:function``; one that opens nothing for None.

    Raises:
        SourceError: The module cannot be imported, or has no such function.
    """
    function = lifespan_of(reference, path, root)
    opened: AbstractAsyncContextManager[Any] = nullcontext() if function is None else function()
    return opened


def lifespan_of(reference: str | None, path: Path, root: Path) -> Callable[..., Any] | None:
    """The function ``module:function``, which is not called: whoever serves looks for it before anything is open.

    Raises:
        SourceError: The module cannot be imported, or has no such function.
    """
    if reference is None:
        return None
    module, _, name = reference.partition(":")
    return function_of(import_module(module, path, root), name, root)


def function_of(module: ModuleType, name: str, root: Path) -> Callable[..., Any]:
    """The function `name` of `module`.

    Raises:
        SourceError: There is none.
    """
    function = getattr(module, name, None)
    if callable(function):
        return cast("Callable[..., Any]", function)
    guess = nearest(name, vars(module))
    fault = Diagnostic(
        rule="python.import",
        message=f"{module.__name__} has no function {name}",
        path=shown_path(module.__file__, root),
        fix=f"did you mean {guess}?" if guess else f"define {name} there",
    )
    raise SourceError([fault])


def shown_path(file: str | None, root: Path) -> str | None:
    """`file` as diagnostics show it: relative to `root` where it is below it."""
    if file is None:
        return None
    path = Path(file).resolve()
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)


def _import_fault(name: str, path: Path, root: Path, error: BaseException) -> Diagnostic:
    if isinstance(error, ModuleNotFoundError) and error.name and f"{name}.".startswith(f"{error.name}."):
        return Diagnostic(
            rule="python.import",
            message=f"there is no module {error.name}",
            path="discern.toml",
            fix=f"name a module that can be imported from {path.name or path}, or set path to the folder that has it",
        )
    file, line = _raised_at(error, root)
    said = f": {error}" if isinstance(error, _SPEAKING) else ""
    return Diagnostic(
        rule="python.import",
        message=f"importing {name} raised {type(error).__name__}{said}",
        path=shown_path(file, root),
        line=line,
        fix="DISCERN_LOG=debug shows the traceback",
    )


def _raised_at(error: BaseException, root: Path) -> tuple[str | None, int | None]:
    """File and line of the innermost frame in the project, else of the innermost one; of a syntax error itself."""
    if isinstance(error, SyntaxError):
        return error.filename, error.lineno
    frames = traceback.extract_tb(error.__traceback__)
    inside = [frame for frame in frames if Path(frame.filename).resolve().is_relative_to(root)]
    frame = (inside or frames)[-1]
    return frame.filename, frame.lineno

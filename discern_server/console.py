"""The process's standard streams, for the command line: who may write where, in what form, in which colour."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from discern_server.result import DiscernResult

LOG_LEVELS: Final = ("debug", "info", "warning", "error")

STDOUT, STDERR = 1, 2


def claim_stdout() -> int:
    """Take standard output for the caller alone; what others write to it from now on goes to standard error.

    Returns:
        A descriptor that still writes to what was standard output.
    """
    try:
        claimed = os.dup(STDOUT)
    except OSError:  # it was closed by whoever started us
        claimed = _nowhere()
    try:
        os.dup2(STDERR, STDOUT)
    except OSError:
        os.dup2(_nowhere(), STDOUT)
    return claimed


def give_back_stdout(claimed: int) -> None:
    """Undo `claim_stdout`; what others have written and not flushed still goes to standard error."""
    if sys.stdout is not None:
        sys.stdout.flush()
    os.dup2(claimed, STDOUT)
    os.close(claimed)


def write_answer(result: DiscernResult, stream: int, *, as_json: bool) -> None:
    """Write `result` to a descriptor, as text or as one JSON object and a newline.

    Raises:
        BrokenPipeError: Nobody reads it.
    """
    from discern_server.result import render_text, serialize

    if as_json:
        import json

        write_text(json.dumps(serialize(result), indent=2, ensure_ascii=False), stream)
    else:
        write_text(render_text(result, color=wants_color(stream)), stream)


def write_text(text: str, stream: int) -> None:
    """Write `text` and a newline to a descriptor, in UTF-8; what UTF-8 cannot carry is escaped.

    Raises:
        BrokenPipeError: Nobody reads it.
    """
    # The escape of a lone surrogate is the one that JSON has for it, so that an answer stays JSON.
    with os.fdopen(stream, "wb", closefd=False) as out:
        out.write((text + "\n").encode("utf-8", "backslashreplace"))


def wants_color(stream: int) -> bool:
    """Whether a descriptor is a terminal that shows colours, and nobody asked for none (no-color.org)."""
    return os.isatty(stream) and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def tell_progress(text: str) -> None:
    """Say what takes a while, to a person at a terminal: a line on standard error, and none where it is no terminal."""
    if os.isatty(STDERR):
        write_text(text, STDERR)


def log_to_stderr(level: str) -> None:
    """Log what this package has to say from `level` on, and from others what is at least a warning."""
    import logging

    logging.basicConfig(stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s", level=logging.WARNING)
    logging.getLogger("discern_server").setLevel(level.upper())


def _nowhere() -> int:
    return os.open(os.devnull, os.O_WRONLY)

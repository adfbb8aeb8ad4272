"""Running a handler for one request: on the event loop or in a thread, to its end or to its first open question."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import anyio.to_thread
from mcp.shared.exceptions import MCPError
from mcp_types import (
    HEADER_MISMATCH,
    INTERNAL_ERROR,
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    UNSUPPORTED_PROTOCOL_VERSION,
)

from discern_server.handler import Handler
from discern_server.protocol.context import Context
from discern_server.protocol.rounds import NeedsInput

logger = logging.getLogger(__name__)

_RESERVED_CODES: Final = range(-32099, -32019)
_ALLOCATED_CODES: Final = frozenset({HEADER_MISMATCH, MISSING_REQUIRED_CLIENT_CAPABILITY, UNSUPPORTED_PROTOCOL_VERSION})
_RETIRED_CODES: Final = frozenset({-32002, -32042})


class Failed(Exception):  # noqa: N818 - what the handler raised is the error; this only says that it did
    """A handler raised; the log has what it was."""


@contextmanager
def faults_are_ours(what: str) -> Iterator[None]:
    """Tell what goes wrong inside as -32603 and nothing of what it was, which goes to the log.

    For the methods whose results have no ``isError``. A `ValidationError` of the SDK's models is caught too: let
    through, it would be told to the client as a fault of its request.
    """
    try:
        yield
    except MCPError:
        raise
    except Exception as error:
        if not isinstance(error, Failed):
            logger.exception("%s gave a faulty result", what)
        raise MCPError(code=INTERNAL_ERROR, message=f"{what} failed; the server's log says why") from error


class Runner:
    """A handler, ready to be run for one request after another.

    Args:
        what: How it is called in the log, as in ``the handler of echo``.
        handler: The handler.
    """

    __slots__ = ("_handler", "_is_async", "_what")

    def __init__(self, what: str, handler: Handler) -> None:
        self._what = what
        self._handler = handler
        # An object whose ``__call__`` is a coroutine function is one too.
        self._is_async = inspect.iscoroutinefunction(handler) or inspect.iscoroutinefunction(type(handler).__call__)

    async def run(self, args: dict[str, Any], context: Context) -> Any:
        """What the handler returns.

        Raises:
            NeedsInput: It asked a question that has no answer yet.
            MCPError: It raised one, or -32603 where its code is one that no server may send.
            Failed: It raised anything else, which was logged.
        """
        try:
            return await self._run(args, context)
        except MCPError as error:
            raise self._permitted(error) from error
        except BaseExceptionGroup as group:
            told = self._told(group)
            if told is None:
                raise
            raise told from group
        except (Exception, SystemExit) as error:
            logger.exception("%s raised", self._what)
            raise Failed from error

    def _told(self, group: BaseExceptionGroup[BaseException]) -> BaseException | None:
        """What stands for what the tasks of a handler raised; None where it is not the handler's to raise."""
        asked, others = group.split(NeedsInput)
        if asked is None and not isinstance(group, Exception):
            return None
        lone = group.exceptions[0] if len(group.exceptions) == 1 else None
        if isinstance(lone, MCPError):
            return self._permitted(lone)
        if others is not None:
            logger.error("%s raised", self._what, exc_info=others)
        return Failed() if asked is None else NeedsInput()

    async def _run(self, args: dict[str, Any], context: Context) -> Any:
        if self._is_async:
            return await self._handler(args, context)
        # A cancelled request stops waiting for its thread, which cannot be stopped from outside.
        value = await anyio.to_thread.run_sync(self._handler, args, context, abandon_on_cancel=True)
        return await value if inspect.isawaitable(value) else value

    def _permitted(self, error: MCPError) -> MCPError:
        """`error`, unless its code is one that no server may send (basic/index, "error codes")."""
        code = error.error.code
        if code in _RETIRED_CODES or (code in _RESERVED_CODES and code not in _ALLOCATED_CODES):
            logger.error("%s raised a protocol error with the reserved code %d", self._what, code)
            return MCPError(code=INTERNAL_ERROR, message="Internal server error")
        return error

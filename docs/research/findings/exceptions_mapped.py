"""`modern_error_data` says what a request's exception becomes; what is not meant for the wire goes to the log."""

from __future__ import annotations

import logging

from mcp.server.runner import modern_error_data
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolRequestParams
from pydantic import ValidationError


def invalid() -> ValidationError:
    try:
        CallToolRequestParams.model_validate({})
    except ValidationError as error:
        return error
    raise AssertionError


def main() -> None:
    logged: list[str] = []

    class Collect(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            logged.append(f"{record.levelname} {record.name}: {record.getMessage()}")

    logging.getLogger().addHandler(Collect())
    for error in (MCPError(code=-32602, message="ours", data={"k": 1}), invalid(), RuntimeError("a secret")):
        told = modern_error_data(error)
        print(f"{type(error).__name__}: {told.code} {told.message!r} data {told.data!r}")
    print(f"logged: {logged}")


if __name__ == "__main__":
    main()

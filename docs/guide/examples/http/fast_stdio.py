"""Serve over stdio on uvloop (``discern-server[fast]``), where standard input and output are pipes of our own."""

import anyio
from billing import factory

from discern_server import serve_stdio_async

if __name__ == "__main__":
    raise SystemExit(anyio.run(serve_stdio_async, factory, backend_options={"use_uvloop": True}))

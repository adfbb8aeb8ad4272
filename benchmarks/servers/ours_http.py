"""discern-server over HTTP.

Usage: python ours_http.py TOOLS_FILE PORT [h11]
"""

from __future__ import annotations

import sys
from pathlib import Path

from ours import surface

from discern_server import ServerFactory, http_app
from discern_server.protocol.http_serve import serve_http

if __name__ == "__main__":
    if sys.argv[3:] == ["h11"]:
        sys.modules["httptools"] = None  # type: ignore[assignment] # uvicorn then takes h11, as with the SDK alone
    serve_http(http_app(ServerFactory(surface(Path(sys.argv[1])))), port=int(sys.argv[2]))

"""Makes tool definitions of an API description with discern-server, and prints what that took."""

import sys
from pathlib import Path

from openapi_taken import tell

from discern_server.project import OpenApiSource
from discern_server.sources import open_source
from discern_server.sources.openapi import source as _imported  # noqa: F401 - imports are not measured

path = Path(sys.argv[1])
tell(lambda: len(open_source(OpenApiSource(document=path.name), path.parent).definitions()))

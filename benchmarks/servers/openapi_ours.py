"""Makes tool definitions of an API description with discern-server, and prints what that took."""

import json
import resource
import sys
import time
from pathlib import Path

from discern_server.project import OpenApiSource
from discern_server.sources import open_source
from discern_server.sources.openapi import source as _imported  # noqa: F401 - imports are not measured

path = Path(sys.argv[1])
start, cpu = time.perf_counter(), time.process_time()
definitions = open_source(OpenApiSource(document=path.name), path.parent).definitions()
took = {"tools": len(definitions), "seconds": time.perf_counter() - start, "cpu_s": time.process_time() - cpu}
print(json.dumps({**took, "mebibytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))

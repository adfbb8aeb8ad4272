"""Makes tools of an API description with FastMCP, and prints what that took."""

import asyncio
import json
import resource
import sys
import time
from pathlib import Path

import httpx2
import yaml
from fastmcp import FastMCP

path = Path(sys.argv[1])
start, cpu = time.perf_counter(), time.process_time()
text = path.read_text(encoding="utf-8")
document = json.loads(text) if path.suffix == ".json" else yaml.load(text, Loader=yaml.CSafeLoader)
server = FastMCP.from_openapi(document, client=httpx2.AsyncClient(base_url="https://api.example.com"))
tools = asyncio.run(server.list_tools())
took = {"tools": len(tools), "seconds": time.perf_counter() - start, "cpu_s": time.process_time() - cpu}
print(json.dumps({**took, "mebibytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))

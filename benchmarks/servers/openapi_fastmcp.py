"""Makes tools of an API description with FastMCP, and prints what that took."""

import asyncio
import json
import sys
from pathlib import Path

import httpx2
import yaml
from fastmcp import FastMCP
from openapi_taken import tell


def make() -> int:
    path = Path(sys.argv[1])
    text = path.read_text(encoding="utf-8")
    document = json.loads(text) if path.suffix == ".json" else yaml.load(text, Loader=yaml.CSafeLoader)
    server = FastMCP.from_openapi(document, client=httpx2.AsyncClient(base_url="https://api.example.com"))
    return len(asyncio.run(server.list_tools()))


tell(make)

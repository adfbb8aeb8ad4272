"""A pet store as an HTTP API on loopback: it keeps the requests it gets, and answers as a test asks it to."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

DOCUMENT = """\
openapi: 3.1.0
info: {title: Pet store, version: 1.0.0}
security: [{key: []}]
paths:
  /pets:
    get:
      operationId: listPets
      summary: List pets
      tags: [pets]
      parameters:
        - {name: limit, in: query, schema: {type: integer, maximum: 100}}
        - {name: tags, in: query, explode: false, schema: {type: array, items: {type: string}}}
      responses:
        200:
          description: ok
          content:
            application/json:
              schema: {type: array, items: {$ref: '#/components/schemas/Pet'}}
    post:
      operationId: addPet
      summary: Add a pet
      requestBody:
        required: true
        content:
          application/json: {schema: {$ref: '#/components/schemas/Pet'}}
      responses:
        201:
          description: created
          content:
            application/json: {schema: {$ref: '#/components/schemas/Pet'}}
  /pets/{id}:
    get:
      operationId: getPet
      parameters:
        - {name: id, in: path, required: true, schema: {type: integer}}
      responses:
        200:
          description: ok
          content:
            application/json: {schema: {$ref: '#/components/schemas/Pet'}}
    delete:
      operationId: removePet
      parameters:
        - {name: id, in: path, required: true, schema: {type: integer}}
      responses:
        204: {description: gone}
components:
  securitySchemes:
    key: {type: apiKey, in: header, name: X-Key}
  schemas:
    Pet:
      type: object
      required: [id, name]
      properties:
        id: {type: integer, readOnly: true}
        name: {type: string}
"""


@dataclass(frozen=True)
class Request:
    """One request that the API got."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes


Answer = Callable[[BaseHTTPRequestHandler], None]


@dataclass
class Api:
    """The API while it is served."""

    url: str = ""
    requests: list[Request] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)
    released: threading.Event = field(default_factory=threading.Event)

    def answer(self, status: int, body: Any = None, **headers: str) -> None:
        """Have the next request answered so."""
        self.answers.append(lambda handler: _send(handler, status, body, headers))

    def answer_never(self) -> None:
        """Have the next request wait until the test is over."""
        self.answers.append(lambda _handler: self.released.wait(60) and None)

    def answer_without_end(self, mebibytes: int) -> None:
        """Have the next request answered with that much JSON."""
        self.answers.append(lambda handler: _stream(handler, mebibytes))


def _send(handler: BaseHTTPRequestHandler, status: int, body: Any, headers: Mapping[str, str]) -> None:
    data = b"" if body is None else json.dumps(body).encode()
    handler.send_response(status)
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    if body is not None:
        handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", str(len(data)))
    handler.end_headers()
    handler.wfile.write(data)


def _stream(handler: BaseHTTPRequestHandler, mebibytes: int) -> None:
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", str(mebibytes * 1024 * 1024 + 4))
    handler.end_headers()
    try:
        handler.wfile.write(b'["')
        for _ in range(mebibytes):
            handler.wfile.write(b"x" * 1024 * 1024)
        handler.wfile.write(b'"]')
    except OSError:
        handler.close_connection = True  # the client had enough


@contextmanager
def serve() -> Iterator[Api]:
    """The API, served on a free port."""
    api = Api()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _serve(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            api.requests.append(Request(self.command, self.path, dict(self.headers), body))
            api.answers.pop(0)(self)

        do_GET = do_POST = do_DELETE = _serve  # noqa: N815 - the library's names

        def log_message(self, *_: Any) -> None:
            """Nothing: the test looks at `Api.requests`."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    api.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield api
    finally:
        api.released.set()
        server.shutdown()
        server.server_close()
        thread.join()

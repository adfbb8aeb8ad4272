"""A server of its own: ``python standalone.py``, or ``uvicorn standalone:app``."""

from billing import factory

from discern_server import http_app, serve_http

app = http_app(factory)

if __name__ == "__main__":
    serve_http(app, port=8000)

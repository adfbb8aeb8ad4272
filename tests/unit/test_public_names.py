"""The public list: what `__all__` says, what the module gives, and what importing it costs."""

from __future__ import annotations

import subprocess
import sys

import discern_server


def test_every_public_name_can_be_had_and_the_list_is_sorted():
    assert discern_server.__all__ == sorted(discern_server.__all__)
    assert set(discern_server.__all__) == set(discern_server._HOME_OF)
    for name in discern_server.__all__:
        assert getattr(discern_server, name) is not None


def test_an_unknown_name_is_an_attribute_error():
    assert not hasattr(discern_server, "Nothing")


def test_importing_the_package_loads_no_sdk_pydantic_or_http():
    program = (
        "import discern_server, sys;"
        "print([m for m in ('mcp', 'mcp_types', 'pydantic', 'httpx2', 'starlette', 'jsonschema', 'jsonschema_rs')"
        " if m in sys.modules])"
    )
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert answer.stdout == "[]\n"

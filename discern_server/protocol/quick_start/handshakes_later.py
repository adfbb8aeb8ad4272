"""The SDK's tables without the models of the handshake revisions, until a client speaks one (docs/adr/0014).

``mcp_types.methods`` names the model of each message by method and revision. Those of the revisions before 2026-07-28
are a module of their own, 150 models that no modern client has a use for. `import_without_handshakes` puts stand-ins
for them into the tables, which are the models to whoever validates with them. Only our own launcher does this.
"""

from __future__ import annotations

import importlib
import sys
import threading
from typing import Any, Final

from discern_server.protocol.quick_start.models_on_use import models_built_on_use
from discern_server.protocol.quick_start.stand_ins import StandIn, standing_in

_TABLES: Final = "mcp_types.methods"
_HANDSHAKE_MODELS: Final = "mcp_types._v2025_11_25"

_importing: Final = threading.Lock()


def import_without_handshakes() -> None:
    """Import the SDK's tables with stand-ins for the handshake revisions; nothing where they are there already."""
    if _TABLES not in sys.modules:
        importlib.import_module("mcp_types")
        with standing_in([_HANDSHAKE_MODELS], _Model):
            importlib.import_module(_TABLES)


class _Model(StandIn):
    """Stands for a model: has its attributes, and adapts as it does."""

    def real(self) -> Any:
        """The model."""
        with _importing:
            if _HANDSHAKE_MODELS not in sys.modules:
                with models_built_on_use():
                    importlib.import_module(_HANDSHAKE_MODELS)
        return super().real()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.real(), name)

    def __get_pydantic_core_schema__(self, _source: Any, handler: Any) -> Any:
        return handler(self.real())

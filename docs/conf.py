"""How the site is built: ``nox -s docs``. Pages are Markdown; the reference comes from the docstrings."""

from __future__ import annotations

from importlib.metadata import version as installed_version
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project: Final = "discern-server"
author: Final = "the discern-server authors"
version = release = installed_version("discern-server")

extensions: Final = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns: Final = ["_build", "research/recorded", "research/findings"]
nitpicky: Final = False

myst_enable_extensions: Final = ["colon_fence"]
myst_heading_anchors: Final = 3
"""Headings can be linked to as a code host lets them be: ``page.md#a-heading``."""

default_role: Final = "py:obj"
"""A name in single backquotes is a link where it is public, and code where it is not."""
autodoc_member_order: Final = "bysource"
autodoc_typehints: Final = "signature"
autodoc_preserve_defaults: Final = True
napoleon_use_rtype: Final = False
python_use_unqualified_type_names: Final = True

html_theme: Final = "furo"
html_title: Final = f"discern-server {version}"
html_show_copyright: Final = False
html_show_sphinx: Final = False
html_static_path: Final = ["_static"]
html_css_files: Final = ["site.css"]


def setup(app: Sphinx) -> None:
    """Show a default that a factory makes as dots: ``<factory>`` is no Python, and the whole signature stays unread."""
    app.connect("autodoc-process-signature", _without_factories)


def _without_factories(*event: Any) -> tuple[str | None, str | None]:
    signature, returned = event[-2:]
    return signature and signature.replace("<factory>", "..."), returned

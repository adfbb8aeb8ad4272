"""Rules of a folder of definitions. `discern_server.catalog` finds what breaks them."""

from __future__ import annotations

from typing import Final

from discern_server.rules.rule import Rule

FOLDER: Final = Rule(
    id="catalog.folder",
    demand="The folder of definitions can be read.",
    reason="Without it there is no tool to serve.",
    fix="give the folder of definitions",
)
EMPTY: Final = Rule(
    id="catalog.empty",
    demand="The folder of definitions holds at least one file that ends in .json.",
    reason="An empty table of tools is nearly always a wrong path.",
    fix="add one file for each tool, or give another folder",
)
FILE: Final = Rule(
    id="catalog.file",
    demand="Each definition file can be read.",
    reason="A tool that cannot be read is refused by name, not left out in silence.",
    fix="make the file readable",
)
FILE_NAME: Final = Rule(
    id="catalog.file-name",
    demand="A definition file is named after its tool: `refund.json` defines `refund`.",
    reason="The file of a tool is then found by its name, and two files cannot define the same tool.",
    fix="rename the file or the tool",
)
UNIQUE_NAMES: Final = Rule(
    id="catalog.unique-names",
    demand="Each tool of a catalog has a name of its own.",
    reason="server/tools, Tool Names: names are unique within a server.",
    fix="give one of the two another name",
)

FOLDER_RULES: Final = (FOLDER, EMPTY, FILE, FILE_NAME, UNIQUE_NAMES)

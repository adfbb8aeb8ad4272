"""A module that another one of the project imports; it uses the standard library alone."""

from __future__ import annotations

import decimal
import sqlite3

_TABLE = sqlite3.connect(":memory:", check_same_thread=False)
_TABLE.execute("create table prices as select 'apples' as what, '1.10' as price")


def price(what: str) -> decimal.Decimal:
    """The price of one, or zero."""
    row = _TABLE.execute("select price from prices where what = ?", (what,)).fetchone()
    return decimal.Decimal(row[0] if row else 0)

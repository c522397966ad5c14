"""The format of SQL dumps: how a file begins, and the encoding that it states."""

import re
from functools import cache

from importer.engine.source.formats.format import Format, later

# MySQL's names of character sets whose names in Python differ. "binary" names none.
_ENCODINGS = {
    **dict.fromkeys(("utf8", "utf8mb3", "utf8mb4"), "utf-8"),
    "binary": "",
    "latin1": "cp1252",
    "koi8r": "koi8-r",
    "koi8u": "koi8-u",
}
_BEGINS = (
    rb"(?:\s|--[^\n]*\n|#[^\n]*\n|/\*(?!![0-9]{5} )(?:[^*]|\*(?!/)|(?!)){0,2000}+\*/;?|(?!))*+"
    rb"(?:(?:CREATE TABLE|DROP TABLE|INSERT INTO|INSERT IGNORE|REPLACE INTO|LOCK TABLES|USE|SET|CREATE DATABASE)"
    rb"\s+[`\"'\w@(]|START TRANSACTION|BEGIN;|PRAGMA\s+foreign_keys\b|\\restrict\s|/\*![0-9]{5} )"
)
_LAYOUT = "importer.engine.source.formats.sql.layout"


@cache
def _begin() -> re.Pattern[bytes]:
    return re.compile(_BEGINS, re.IGNORECASE)


def begins(head: bytes) -> bool:
    """Whether the first bytes are those of a dump."""
    return _begin().match(head) is not None


def encoding_of(head: bytes) -> str:
    """The encoding that the dump states with SET NAMES; "" if it states none."""
    found = re.search(rb"SET\s+NAMES\s+'?(\w+)", head, re.IGNORECASE)
    name = found[1].decode(errors="replace").lower() if found else ""
    return _ENCODINGS.get(name, name)


SQL = Format(
    "sql",
    "SQL dump",
    (".sql",),
    begins,
    later(_LAYOUT, "layout"),
    later(_LAYOUT, "convert"),
    ("encoding", "sql_table"),
    "Rows of INSERT and REPLACE are read, and nothing is executed. Bytes are written as hexadecimal digits.",
    encoding_of=encoding_of,
)

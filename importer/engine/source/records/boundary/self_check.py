"""Proves at the start of a process that this Python reads a small file right.

The regular expressions of records and fields need an `re` that is right about possessive quantifiers and assertions.
Python 3.11.0 to 3.11.4 have one that is not (docs/decisions.md, One reading on every Python).
"""

import platform
from functools import cache

from importer.engine.errors import Problem
from importer.engine.source.dialect import Dialect
from importer.engine.source.records.boundary.patterns import field_patterns, record_pattern

# With marks of several bytes, so that all patterns look ahead.
_DIALECT = Dialect(delimiter="||", quote='"', escape="\\", line_end="\r\n")
_FILE = b'1||"a ""b""||\r\n"||c|d\\||e||\r\n|\r||"f\\"||"||\\N|| g" \r\n'
_FIELDS = [
    [b"1", b'a ""b""||\r\n', b"c|d\\||e", b""],
    [b"|\r", b'f\\"||', b"\\N", b' g" '],
]


@cache
def reader_problem() -> Problem | None:
    """What is wrong if this Python does not read the small file right; None if it does. Takes about 2 ms, once."""
    found = _fields_of(_FILE)
    if found == _FIELDS:
        return None
    return Problem(
        f"Python {platform.python_version()} misreads CSV files: in a small one, which Millrace reads at its start, it "
        f"finds the fields {found}; right are {_FIELDS}.",
        advice="Nothing was loaded. Install a newer Python, and Millrace with it.",
    )


def _fields_of(data: bytes) -> list[list[bytes]]:
    """The bytes of the fields of each record, without enclosing quotes; up to the first that cannot be read."""
    record, field = record_pattern(_DIALECT, True, stray=False), field_patterns(_DIALECT).field
    found: list[list[bytes]] = []
    start = 0
    while start < len(data) and (whole := record.match(data, start)):
        found.append([])
        at, end = start, whole.end()
        while at < end and (each := field.match(data, at, end)):
            found[-1].append(each[each.lastgroup or 0])
            at = each.end() + len(_DIALECT.delimiter_bytes)
        start = end
    return found

"""Finds fields that are the word NULL without quotes, which the server may read as SQL's NULL.

Manual, LOAD DATA: "the word NULL". Within a longer text the letters mean nothing, and random texts often contain them.
"""

import re
from functools import lru_cache

from importer.engine.source.dialect import Dialect
from importer.engine.source.records.boundary.state_machine import none_of

# As exports of databases write NULL.
NULL_MARK = r"\N"


def occur(data: bytes, size: int, dialect: Dialect) -> bool:
    """Whether a field of the whole records data[:size] is the word NULL.

    True may be wrong: within quotes, or next to a part of a delimiter or of a line end, the word is not a field.
    """
    return bool(_field(dialect).search(data, 0, size))


def has_bare_mark(data: bytes, dialect: Dialect) -> bool:
    r"""Whether a field of the sample is `\N` without quotes, where a backslash does not escape it (Dialect.null)."""
    return not dialect.escapes_all and bool(_bare(dialect, re.escape(NULL_MARK.encode())).search(data))


@lru_cache
def _field(dialect: Dialect) -> re.Pattern[bytes]:
    return _bare(dialect, b"NULL")


def _bare(dialect: Dialect, word: bytes) -> re.Pattern[bytes]:
    # The word comes first in the pattern, so that the search looks for the word.
    before = none_of(dialect.delimiter_bytes[-1:], b"\r\n")
    after = none_of(dialect.delimiter_bytes[:1], b"\r\n")
    return re.compile(rb"%b(?<!%b%b)(?!%b)" % (word, before, word, after))

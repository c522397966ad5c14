"""Finds fields that are the word NULL without quotes, which the server may read as SQL's NULL.

Manual, LOAD DATA: "the word NULL". Within a longer text the letters mean nothing, and random texts often contain them.
"""

import re
from functools import lru_cache

from importer.engine.source.dialect import Dialect
from importer.engine.source.records.boundary.state_machine import none_of


def occur(data: bytes, size: int, dialect: Dialect) -> bool:
    """Whether a field of the whole records data[:size] is the word NULL.

    True may be wrong: within quotes, or next to a part of a delimiter or of a line end, the word is not a field.
    """
    return bool(_field(dialect).search(data, 0, size))


@lru_cache
def _field(dialect: Dialect) -> re.Pattern[bytes]:
    # The word comes first in the pattern, so that the search looks for the word.
    before = none_of(dialect.delimiter_bytes[-1:], b"\r\n")
    after = none_of(dialect.delimiter_bytes[:1], b"\r\n")
    return re.compile(rb"NULL(?<!%bNULL)(?!%b)" % (before, after))

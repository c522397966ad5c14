"""Where the server may take the word NULL for SQL's NULL: in a field that is nothing else, and has no quotes.

Manual, LOAD DATA: "the word NULL". Within a longer text the letters mean nothing, and random texts have them often.
"""

import re
from functools import lru_cache

from importer.engine.source.dialect import Dialect
from importer.engine.source.records.boundary.state_machine import none_of


def occur(data: bytes, size: int, dialect: Dialect) -> bool:
    """Whether a field of data[:size], whole records, is the word NULL.

    Also where it only looks like one: within quotes, or beside a part of a delimiter or of a line end.
    """
    return bool(_field(dialect).search(data, 0, size))


@lru_cache
def _field(dialect: Dialect) -> re.Pattern[bytes]:
    # The word comes first, so that it is what is searched for.
    before = none_of(dialect.delimiter_bytes[-1:], b"\r\n")
    after = none_of(dialect.delimiter_bytes[:1], b"\r\n")
    return re.compile(rb"NULL(?<!%bNULL)(?!%b)" % (before, after))

"""The size of a new table's rows, against the limits of the server and of InnoDB."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from importer.engine.errors import Problem
from importer.engine.schema.column_types import PLAIN, Family, column_type

# Bytes of a row without the contents of its TEXT and BLOB columns (manual, Limits on Table Column Count and Row Size).
LARGEST_ROW = 65_535
# A record of InnoDB must have less than half a page of 16 KiB, without the values that it stores elsewhere. It has a
# head of 5 bytes, a transaction id, a roll pointer and, without a primary key, a row id (measured on both servers:
# server-behaviour.md, Names and sizes of new tables).
HALF_PAGE = 8126
_HEAD, _ROW_ID = 5 + 6 + 7, 6
MOST_COLUMNS = 1017  # of an InnoDB table
MOST_KEY_BYTES, MOST_KEY_COLUMNS = 3072, 16  # of a key
MOST_PARTITION_BYTES = 3069  # of the columns that rows are spread over partitions by (measured on both servers)
BYTES_PER_CHARACTER = 4  # utf8mb4
# MySQL counts at most 40 bytes of a value that it may store elsewhere. MariaDB counts a pointer of 20 bytes, but all
# bytes of a column that holds at most 255 of them.
_MYSQL_INLINE, _POINTER, _MARIADB_INLINE = 40, 20, 255
# The shortest VARCHAR whose values MariaDB may store elsewhere.
STORED_ELSEWHERE = 64
_DIGITS_TO_BYTES = (0, 1, 1, 2, 2, 3, 3, 4, 4)  # of a DECIMAL's digits beyond groups of nine
_TEMPORAL_BYTES = {Family.DATE: 3, Family.MOMENT: 5, Family.TIME: 3}


@dataclass(frozen=True)
class RowSize:
    """The bytes that a row may have: for the server, and in InnoDB's page on MySQL and on MariaDB."""

    server: int
    mysql: int
    mariadb: int

    @property
    def fits(self) -> bool:
        return self.server <= LARGEST_ROW and max(self.mysql, self.mariadb) < HALF_PAGE


def row_size(types: Sequence[str], key_columns: int = 0) -> RowSize:
    """The size of a row of columns with these full types, the first `key_columns` of which are the primary key."""
    nulls = math.ceil((len(types) - key_columns) / 8)
    head = nulls + _HEAD + (0 if key_columns else _ROW_ID)
    # A wide table has few types.
    numbers = Counter(types).items()
    return RowSize(
        nulls + sum(number * _server_bytes(each) for each, number in numbers),
        head + sum(number * _page_bytes(each, mariadb=False) for each, number in numbers),
        head + sum(number * _page_bytes(each, mariadb=True) for each, number in numbers),
    )


def fit_row_size(types: Sequence[str]) -> tuple[str, ...]:
    """The types with as few texts as possible in another type, so that the row fits both servers if that can help.

    A short VARCHAR takes less of InnoDB's page as varchar(64), a long one less of the server's row as TEXT.
    """
    types = list(types)
    short = sorted((at for at, each in enumerate(types) if _is_short(each)), key=lambda at: -declared(types[at]))
    for at in short:
        if row_size(types).mariadb < HALF_PAGE:
            break
        types[at] = f"varchar({STORED_ELSEWHERE})"
    while row_size(types).server > LARGEST_ROW:
        longest = max(range(len(types)), key=lambda at: _varchar_bytes(types[at]))
        if not _varchar_bytes(types[longest]):
            break
        types[longest] = "text"
    return tuple(types)


def check_size(types: Sequence[str], key_columns: int, mariadb: bool) -> None:
    """Raise Problem if a table with these columns cannot be made, with the columns to change."""
    if len(types) > MOST_COLUMNS:
        raise Problem(
            f"The file has {len(types):,} fields, but an InnoDB table takes {MOST_COLUMNS:,} columns.",
            advice="Create several tables with a part of the columns each, and import the file into each of them with"
            " --ignore-fields.",
        )
    size = row_size(types, key_columns)
    page = size.mariadb if mariadb else size.mysql
    if size.server <= LARGEST_ROW and page < HALF_PAGE:
        return
    texts = sum(number for each, number in Counter(types).items() if column_type(each).family is Family.CHARACTER)
    limit = (
        f"{page:,} bytes in InnoDB's page, which takes {HALF_PAGE - 1:,}"
        if page >= HALF_PAGE
        else f"{size.server:,} bytes, of {LARGEST_ROW:,}"
    )
    raise Problem(
        f"A row of the new table would need {limit}: it has {len(types):,} columns, {texts:,} of them texts.",
        advice="Give texts of few characters a short type, such as --type COLUMN=varchar(4); or create two tables with"
        " a part of the columns each, and import the file into both with --ignore-fields.",
    )


def key_bytes(type_: str) -> int:
    """The most bytes of the column in a key; MOST_KEY_BYTES + 1 for a type that no key can have as a whole."""
    return MOST_KEY_BYTES + 1 if _is_sized_elsewhere(type_) else _value_bytes(type_)


def declared(type_: str) -> int:
    """The length in a full type such as varchar(64); 0 without one."""
    match = re.search(r"\((\d+)", type_)
    return int(match[1]) if match else 0


def _is_short(type_: str) -> bool:
    """Whether the column takes less of MariaDB's page as varchar(64)."""
    return bool(_varchar_bytes(type_)) and _POINTER < _varchar_bytes(type_) <= _MARIADB_INLINE


def _varchar_bytes(type_: str) -> int:
    """The most bytes of a VARCHAR; 0 for other types."""
    type_of = column_type(type_)
    is_varchar = type_of.family is Family.CHARACTER and not type_of.size and not type_of.fixed
    return BYTES_PER_CHARACTER * declared(type_) if is_varchar else 0


def _is_sized_elsewhere(type_: str) -> bool:
    """Whether the type is a TEXT, BLOB or JSON, whose contents do not count."""
    type_of = column_type(type_)
    return type_of.family is Family.JSON or (type_of.family in (Family.CHARACTER, Family.BYTES) and type_of.size > 0)


def _is_variable(type_: str) -> bool:
    """Whether the record holds a length for the value. A CHAR in utf8mb4 has one too."""
    type_of = column_type(type_)
    return type_of.family is Family.CHARACTER or (type_of.family is Family.BYTES and not type_of.fixed)


def _value_bytes(type_: str) -> int:
    """The most bytes of a value in the record (manual, Data Type Storage Requirements)."""
    type_of = column_type(type_)
    match type_of.family:
        case Family.CHARACTER:
            return BYTES_PER_CHARACTER * declared(type_)
        case Family.BYTES:
            return declared(type_)
        case Family.DECIMAL:
            precision, scale = map(int, re.findall(r"\d+", type_)[:2])
            return sum(4 * (each // 9) + _DIGITS_TO_BYTES[each % 9] for each in (precision - scale, scale))
        case Family.DATE | Family.MOMENT | Family.TIME:
            base = 4 if type_of.has_epoch else _TEMPORAL_BYTES[type_of.family]
            return base + math.ceil(declared(type_) / 2)
        case Family.YEAR:
            return 1
    return type_of.size


def _server_bytes(type_: str) -> int:
    if _is_sized_elsewhere(type_):
        # A pointer, and a length of up to four bytes.
        size = column_type(type_).size
        return 8 + (2 if size == PLAIN else 4)
    length = _value_bytes(type_)
    if not _is_variable(type_) or column_type(type_).fixed:
        return length
    return length + (2 if length > _MARIADB_INLINE else 1)


def _page_bytes(type_: str, *, mariadb: bool) -> int:
    if _is_sized_elsewhere(type_):
        return 1 + (_POINTER if mariadb else _MYSQL_INLINE)
    length = _value_bytes(type_)
    if not _is_variable(type_):
        return length
    if mariadb:
        return 1 + (length if length <= _MARIADB_INLINE else _POINTER)
    return 1 + min(length, _MYSQL_INLINE)

"""Whether the server may take a chunk's characters as bytes, which is quicker than reading them as UTF-8.

And whether hexadecimal digits may go out as the bytes that they stand for, which is much quicker than having the server
read them: those can only be taken without a character set.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from importer.engine.expressions import is_plain
from importer.engine.files import encodings
from importer.engine.mapping import ColumnMapping
from importer.engine.methods import choice
from importer.engine.plan import Reason
from importer.engine.planner.case import Case
from importer.engine.table import TEXTS
from importer.engine.unhexing import Unhexed, available, can_unhex

# Columns without one that read a text without one as any other text. INET6 and UUID do not: to them it is binary.
_OTHERS = {
    "tinyint", "smallint", "mediumint", "int", "bigint", "decimal", "float", "double",
    "date", "datetime", "timestamp", "time", "year",
    "binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob",
}  # fmt: skip
# Character sets in which ASCII is what it is in UTF-8.
_UTF8MB4 = frozenset({"utf8mb4"})
_WITH_ASCII = frozenset({"utf8mb4", "utf8mb3", "utf8", "latin1", "ascii"})
# The transforms of a field of digits that may go out as bytes.
_HEXADECIMAL = ("hex",)


def takes_bytes(case: Case, method: str) -> bool:
    """Whether LOAD DATA without a character set stores the same as with utf8mb4, in a chunk that the scan found clean.

    It does where the texts go straight into columns of utf8mb4: the scan has checked that they are UTF-8 and fit. Only
    MariaDB gains by it (facts.md, Speed).
    """
    return case.server.mariadb and _stores_alike(case, method, case.mapping, _UTF8MB4)


def plan_unhexed(case: Case, method: str, statement: Callable[[Sequence[ColumnMapping]], str]) -> Unhexed | None:
    """How chunks that the scan found clean go with bytes for hexadecimal digits; None where none have any, or might not
    store the same. `statement` renders the one for other mappings, without a character set.

    Texts in columns of latin1 are the same as long as they are ASCII.
    """
    hexadecimal = tuple(bool(each.column) and _is_hexadecimal(each) for each in case.mapping)
    told_apart = available() and can_unhex(case.dialect) and not encodings.steps(case.dialect.encoding)
    if not any(hexadecimal) or not told_apart or not case.rolls_back:
        return None
    mapping = [replace(each, transforms=()) if _is_hexadecimal(each) else each for each in case.mapping]
    if not _stores_alike(case, method, mapping, _WITH_ASCII):
        return None
    return Unhexed(statement(mapping), hexadecimal, not _stores_alike(case, method, mapping, _UTF8MB4))


def _is_hexadecimal(mapping: ColumnMapping) -> bool:
    return mapping.transforms == _HEXADECIMAL and is_plain(replace(mapping, transforms=()))


def _stores_alike(case: Case, method: str, mapping: Sequence[ColumnMapping], charsets: frozenset[str]) -> bool:
    """Whether nothing but character sets tells what becomes of the fields, and the texts are in one of these."""
    if not case.options.checks or method in choice.INSERTING:
        return False
    if case.fillings or case.numbers_rows or not all(is_plain(each) for each in mapping):
        return False
    columns = [case.table.column(each.column) for each in mapping if each.column]
    return all(each.charset in charsets if each.kind in TEXTS else each.kind in _OTHERS for each in columns)


def as_bytes_reasons(statement: str, unhexed: Unhexed | None) -> Iterator[Reason]:
    """Why the chunks are loaded by these statements, where there are any."""
    if unhexed:
        yield Reason(
            "Hexadecimal digits are sent as the bytes they stand for",
            "half as much for the server to read; measured with values of 1,024 bytes: 0.45 of the work for MariaDB,"
            " 0.66 for MySQL",
        )
    if statement:
        yield Reason(
            "Characters are taken as they are",
            "file and columns are in UTF-8, and the scan has checked each value; measured on MariaDB: 6 % less work for"
            " the server on texts, 1 % on numbers",
        )

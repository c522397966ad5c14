"""Makes tables, values and plain CSV files of them: what any program writes that knows RFC 4180 (writers.py).

The values look like everything that a reader could take for structure: other CSV files, drawn tables, comments, totals,
quotes of other kinds, line ends and blanks in all places.
"""

import random
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from bench.plain.writers import TEXT, WRITERS
from importer.engine.schema.table import Column, Table
from importer.engine.source.formats.header_names import loose_name

MOST_COLUMNS, MOST_ROWS = 6, 12
TYPES = ("int", "bigint", "decimal(12,3)", "date", "datetime", "double")
Random = random.Random

_LOOKALIKES = (
    *("id,name,note\n1,x,y\n2,z,w", "a;b;c\n\n1;2;3\n\n", "id,name,note\n\n1,x,y", "a\tb\n1\t2\n", "x|y|z\n1|2|3"),
    *("| a | b |\n|---|---|\n| 1 | 2 |", "+---+---+\n| a | b |\n+---+---+", " a | b \n---+---\n 1 | 2 ", "┌──┐\n│a │"),
    *("# comment", "// comment", "#", "-- comment", "Total", "Total,,5", "Grand total", "Sum:", "sep=;", "sep=,\n1,2"),
    *("'", "''", "'single'", "'a','b'", "' '", '"', '""', '"quoted"', ' "spaced"', '"a","b"', 'say "x"', '5" disk'),
    *("\\", "\\n", '\\"', '"\\"', "C:\\new\\table", "a\\", "\\N\\N", "\\\\", "NULL", "null", "NA", "N/A", "nan", "-"),
    *("", " ", "  ", " a", "a ", "\ta", "a\t", "\n", "\r", "\r\n", "\n\n", "a\n", "\na", "\x0b", "\x0c", "\x85"),
    *("[kg]", "(text)", "----", "====", "1", "0", "-1", "007", "1,234", "1.234,5", "12:30", "2024-01-31", "a\rb"),
    *("<html>", "<?xml ?>", "{", '{"a": 1}', "[1,2]", "[{}]", "%PDF-", "CREATE TABLE", "INSERT INTO t VALUES (1);"),
    *("\0", "\x1a", "\x01", "\x7f", "\ufeff", "\u2028", "\u200b", "€", "Größe", "東京", "😀", "ÿþ", "Ã¤", "é"),
    *(",", ";", "|", "\t", ",,,", ";;", "||", "a,b", "a;b", "a|b", "a::b", "a~b", "x=1", "a b c", "10:20", "1/2"),
)  # fmt: skip
_NAMES = (
    *("id", "name", "note", "amount", "day", "v", "a", "b", "c", "x", "y", "Total", "#id", "first name", "unit_price"),
    *("2019", "2020", "1", "Größe (cm)", "%", "a,b", "a;b", "a|b", 'a"b', "'a'", "key", "group", "date", "東京"),
)  # fmt: skip
_LETTERS = "abcdefgh XYZ0189_-.:/"


@dataclass(frozen=True)
class PlainFile:
    """A table, its rows as texts, and the content of a file that a `writer` made of them."""

    table: Table
    rows: tuple[tuple[str, ...], ...]
    writer: str
    content: bytes


def plain_files(count: int, seed: int, of_table: int = 1) -> Iterator[PlainFile]:
    """`count` files, the same for the same seed; each `of_table` of them, by one writer, are for the same table.

    A table of several files has two columns at least: a single field in some of them says nothing of the delimiter.
    """
    for number in range(count):
        chance = Random(f"{seed}/{number // of_table}")
        table, writer = _table(chance, 1 if of_table == 1 else 2), chance.choice(list(WRITERS))
        yield _file(Random(f"{seed}/{number // of_table}/{number % of_table}"), table, writer)


def _file(chance: Random, table: Table, writer: str) -> PlainFile:
    count = chance.randint(0 if chance.random() < 0.05 else 1, MOST_ROWS)
    rows = tuple(_row(chance, table) for _ in range(count))
    return PlainFile(table, rows, writer, WRITERS[writer](table, rows))


def _table(chance: Random, least: int) -> Table:
    names: dict[str, str] = {}
    wanted = chance.randint(least, MOST_COLUMNS)
    while len(names) < wanted:
        name = chance.choice(_NAMES) if chance.random() < 0.7 else _text(chance, 1, 8).strip()
        usable = name and all("\x20" <= each <= "\uffff" and not _is_odd(each) for each in name)
        if usable and len(name) <= 60 and loose_name(name):
            names.setdefault(loose_name(name), name)
    types = [TEXT if chance.random() < 0.7 else chance.choice(TYPES) for _ in names]
    columns = (Column(name, type_, True, None, False, False) for name, type_ in zip(names.values(), types, strict=True))
    return Table("plain", "t", "InnoDB", tuple(columns))


def _is_odd(character: str) -> bool:
    """Whether a server may not take the character in a name, or compares it in a way of its own."""
    return unicodedata.category(character)[0] in "CMZ" and character != " "


def _row(chance: Random, table: Table) -> tuple[str, ...]:
    return tuple(_text_value(chance) if each.type == TEXT else _VALUES[each.kind](chance) for each in table.columns)


def _text_value(chance: Random) -> str:
    kind = chance.random()
    if kind < 0.4:
        return chance.choice(_LOOKALIKES)
    if kind < 0.6:
        return "".join(chance.choice(_LOOKALIKES) for _ in range(chance.randint(2, 4)))
    return _text(chance, 0, 12)


def _text(chance: Random, least: int, most: int) -> str:
    if chance.random() < 0.7:
        return "".join(chance.choices(_LETTERS, k=chance.randint(least, most)))
    codes = (chance.choice((0x7F, 0x2FF, 0x3000, 0x10FFFF)) for _ in range(chance.randint(least, most)))
    return "".join(map(_character, (chance.randint(0, code) for code in codes)))


def _character(code: int) -> str:
    return "?" if 0xD800 <= code < 0xE000 else chr(code)


def _moment(chance: Random) -> datetime:
    return datetime(1990, 1, 1) + timedelta(seconds=chance.randrange(10**9))


_VALUES: dict[str, Callable[[Random], str]] = {
    "int": lambda chance: str(chance.randint(-(10**6), 10**6)),
    "bigint": lambda chance: str(chance.randint(0, 10**15)),
    "decimal": lambda chance: f"{chance.uniform(-(10**6), 10**6):.3f}",
    "double": lambda chance: repr(chance.uniform(-10, 10)),
    "date": lambda chance: f"{_moment(chance):%Y-%m-%d}",
    "datetime": lambda chance: f"{_moment(chance):%Y-%m-%d %H:%M:%S}",
}

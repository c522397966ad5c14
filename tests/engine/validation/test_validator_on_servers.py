"""What the checks say about a value is what a real server does with it."""

import os
import re
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from functools import reduce
from operator import add

import pytest
from hypothesis import HealthCheck, given, note
from hypothesis import strategies as st

from importer.engine.feed.feed import open_feed
from importer.engine.load.methods.load_data_local import load, statement
from importer.engine.load.methods.rendering import StatementRequest
from importer.engine.load.readback.value_equality import Sameness, same_value
from importer.engine.mapping.columns import ColumnMapping
from importer.engine.mysql.connection import LoaderConnection, connect_loader, execute, fetch_all
from importer.engine.mysql.server_info import read_server
from importer.engine.schema.table import Column, Table, read_table
from importer.engine.source.chunks.scanner import Block
from importer.engine.source.dialect import Dialect
from importer.engine.source.records.boundary.boundaries import find_ends
from importer.engine.validation import BlockFindings, ValidationRules
from tests.examples import examples

DIALECT = Dialect(header=False)
MAPPING = (ColumnMapping("id"), ColumnMapping("x"))
EXAMPLES = examples(40, suppress_health_check=[HealthCheck.function_scoped_fixture])


def joined(*tokens: str, most: int) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(tokens), max_size=most).map("".join)


NUMBERS = st.one_of(
    st.integers(-(2**65), 2**65).map(str),
    st.integers(-300, 300).map(str),
    st.decimals(-(10**9), 10**9, places=4).map(str),
    st.floats(allow_nan=True).map(repr),
    st.floats(-1000, 1000).map(lambda number: f"{number:.8f}"),
    joined("0", "5", "12", "255", "32768", "99999", ".", "-", "+", "e", "E2", " ", "x", ",", most=5),
)
DATES = joined("2024", "1999", "24", "0000", most=1).flatmap(
    lambda year: st.builds(
        lambda *parts: year + "".join(parts),
        st.sampled_from(["-1-2", "-02-29", "-02-30", "-13-01", "-00-10", "/01/02", "0102", "-01-02", ".1.2", "-1", ""]),
        st.sampled_from(["", " ", "T", "  ", "_", "x"]),
        st.sampled_from(
            ["", "10", "10:11", "0:0:0", "00:00:00", "10:11:12", "24:00:00", "10:60:00", "101112", "1:2:3"]
        ),
        st.sampled_from(["", "", ".", ".5", ".000", ".123456", ".1234567", ".0000000"]),
        st.sampled_from(["", "", "", "Z", "+02:00", "+00:00", "-05:00", " ", "x", " PM"]),
    )
)
CLOCKS = st.builds(
    lambda *parts: "".join(parts),
    st.sampled_from(["", "", "-", " ", "+", "2024-01-02 "]),
    st.sampled_from(["10:11:12", "838:59:59", "839:00:00", "1:2", "12", "1012", "101112", "10:60:00", "1 2:03:04", ""]),
    st.sampled_from(["", "", ".", ".4", ".000", ".123456"]),
    st.sampled_from(["", "", " ", "Z", "PM", "+02:00"]),
)
YEARS = joined("20", "24", "19", "01", "0", ".", "5", " ", "-", "x", most=4)
TEXTS = st.one_of(
    joined("a", "é", "東", "😀", " ", "\t", "\n", '"', ",", most=9), st.text(st.characters(codec="utf-8"), max_size=8)
)
WORDS = joined("a", "A", "b", "1", "2", "x y", " ", ",", "é", "e", "0", most=3)

KINDS = {
    "TINYINT": NUMBERS,
    "SMALLINT UNSIGNED": NUMBERS,
    "INT": NUMBERS,
    "BIGINT": NUMBERS,
    "BIGINT UNSIGNED": NUMBERS,
    "DECIMAL(5,2)": NUMBERS,
    "DECIMAL(20,8) UNSIGNED": NUMBERS,
    "DECIMAL(9,0)": NUMBERS,
    "FLOAT": NUMBERS,
    "DOUBLE": NUMBERS,
    "FLOAT(7,2)": NUMBERS,
    "DATE": DATES,
    "DATETIME": DATES,
    "DATETIME(3)": DATES,
    "TIMESTAMP(6) NULL": DATES,
    "TIME": CLOCKS,
    "TIME(6)": CLOCKS,
    "YEAR": YEARS,
    "CHAR(5)": TEXTS,
    "VARCHAR(5)": TEXTS,
    "TINYTEXT": TEXTS,
    "ENUM('a','b','x y','2','é')": WORDS,
    "SET('a','b','x y')": WORDS,
}
# These we refuse although the server stores what may well have been meant: it had to guess, or the text says it in a
# way in which nobody writes such a value.
GUESSED = ("exponent", "no colon", "two-digit year", "offset", "position", "1265")


@dataclass(frozen=True)
class Stored:
    """What became of one value: as text, None for NULL; how many warnings and Notes the server gave its row."""

    text: bytes | None
    warnings: int
    notes: int


@dataclass(frozen=True)
class Trial:
    """A table with one column of the kind."""

    connection: LoaderConnection
    table: Table
    exactness: ValidationRules

    def store(self, values: list[str]) -> list[Stored]:
        """Load the values, a row each, and take them out again."""
        data = rows(values)
        fd = os.memfd_create("values")
        try:
            os.pwrite(fd, data, 0)
            load(
                self.connection, statement(StatementRequest(self.table, DIALECT, MAPPING)), open_feed(fd, 0, len(data))
            )
        finally:
            os.close(fd)
        said = self._said()
        # A FLOAT as text has six digits, however many it holds.
        value = "CAST(x AS DOUBLE)" if self.table.column("x").kind == "float" else "x"
        found = dict(fetch_all(self.connection, f"SELECT id, CAST({value} AS CHAR CHARACTER SET utf8mb4) FROM t"))
        execute(self.connection, "ROLLBACK")
        texts = [None if found[n] is None else str(found[n]).encode() for n in range(len(values))]
        return [Stored(text, said["Warning", n + 1], said["Note", n + 1]) for n, text in enumerate(texts)]

    def _said(self) -> Counter[tuple[str, int]]:
        said: Counter[tuple[str, int]] = Counter()
        for level, _, message in self.connection.show_warnings():
            text = message.decode() if isinstance(message, bytes) else message
            row = re.search(r"at row (\d+)", text)
            said["Note" if level == "Note" else "Warning", int(row[1]) if row else 0] += 1
        return said

    def examined(self, values: list[str]) -> BlockFindings:
        return self.exactness.examine(block_of(rows(values)))


def is_same(column: Column, value: str, stored: bytes) -> bool:
    # Python's calendar begins with the year 1; MariaDB takes other marks and more spaces in dates.
    said, found = (re.sub(rb"^0000(?=[-/.])", b"0004", text) for text in (in_full(value, column.kind), stored))
    if column.kind in ("date", "datetime", "timestamp"):
        said = re.sub(rb"^(\d{4})[/.](\d+)[/.](\d+)", rb"\1-\2-\3", re.sub(rb"[T\s]+", b" ", said.strip()))
        said = re.sub(rb" (\d+)(?:\.0*)?$", rb" \1:00", said)
    return same_value(column, said, found) is Sameness.SAME


def in_full(value: str, kind: str) -> bytes:
    """The same time with colons and minutes, no days, no offset."""
    if kind == "time":
        value = re.sub(r"^(-?\d\d)(\d\d)(\d\d)$", r"\1:\2:\3", value).removeprefix("+")
        if found := re.match(r"\s*(-?)(\d+) (\d+)(:.*)", value):
            value = f"{found[1]}{24 * int(found[2]) + int(found[3])}{found[4]}"
    if kind in ("datetime", "timestamp"):
        value = re.sub(r"^(\d{4}.*[ T]\d{1,2})$", r"\1:00", value)
    value = re.sub(r"\.$", "", value) if kind in ("time", "datetime", "timestamp") else value
    return in_utc(value) if kind == "timestamp" else value.encode()


def in_utc(value: str) -> bytes:
    """A moment that is written with an offset, as the session's time zone has it."""
    said = re.fullmatch(r"(\d{4}-\d+-\d+)[ T](\d+:\d+:\d+)\.?(\d*)([+-]\d\d):00", value)
    if not said:
        return value.encode()
    zone = timezone(timedelta(hours=int(said[4])))
    try:
        moment = datetime(*map(int, re.split("[-:]", f"{said[1]}-{said[2]}")), tzinfo=zone).astimezone(UTC)
    except ValueError:
        return value.encode()
    return f"{moment:%Y-%m-%d %H:%M:%S}.{said[3] or 0}".encode()


def rows(values: list[str]) -> bytes:
    doubled = (value.replace('"', '""') for value in values)
    return "".join(f'{number},"{value}"\n' for number, value in enumerate(doubled)).encode()


def block_of(data: bytes) -> Block:
    ends = find_ends(data, DIALECT, final=True)
    return Block(0, 1, ends.size, data.count(b"\n"), ends, data)


@pytest.fixture(params=KINDS)
def trial(request, database):
    with connect_loader(database) as connection:
        execute(connection, f"CREATE TABLE t (id INT PRIMARY KEY, x {request.param}) CHARACTER SET utf8mb4")
        table = read_table(connection, database.database, "t")
        server = read_server(connection, database)
        exactness = ValidationRules.of(DIALECT, MAPPING, table, mariadb=server.mariadb, rounding="notice")
        yield Trial(connection, table, exactness), KINDS[request.param]


class TestOnServers:
    @EXAMPLES
    @given(data=st.data())
    def test_nothing_is_changed_in_silence(self, trial, data):
        it, strategy = trial
        values = data.draw(st.lists(strategy, min_size=1, max_size=12))
        column = it.table.column("x")
        each = [it.examined([value]) for value in values]
        for value, stored, found in zip(values, it.store(values), each, strict=True):
            note(f"{column.type}: {value!r} -> {stored} {found}")
            same = stored.text is not None and is_same(column, value, stored.text)
            if found.faults:
                code = found.faults[0][1].code
                assert stored.warnings or not same or code in GUESSED
            elif not stored.warnings:
                # MySQL says a Note twice about a number with more than 72 digits after the point.
                assert min(stored.notes, 1) == found.noted.total()
                assert same or found.notices or found.noted
        self._together_as_alone(it, values, each)

    def _together_as_alone(self, it: Trial, values: list[str], each: list[BlockFindings]) -> None:
        """Many records in one block are found out as each of them alone; and as one value after the other."""
        whole = it.examined(values)
        assert [(n, fault) for n, found in enumerate(each) for _, fault in found.faults] == whole.faults
        for counter in ("notices", "noted"):
            assert reduce(add, (getattr(found, counter) for found in each)) == getattr(whole, counter)
        block = block_of(rows(values))
        anything = bool(whole.faults or whole.notices or whole.noted)
        assert it.exactness.suspicious(block) is anything
        slowly = it.exactness.validator.examine_one_by_one(block)
        assert (slowly.notices, slowly.noted) == (whole.notices, whole.noted)
        # A date that no calendar has may pass: the server refuses it.
        assert set(whole.faults) <= set(slowly.faults)
        assert all(fault.code.isdigit() for fault in set(slowly.faults) - set(whole.faults) for fault in fault[1:])

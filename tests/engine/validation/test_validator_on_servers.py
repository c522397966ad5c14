"""The findings about a value agree with what a real server does with it."""

import os
import re
from collections import Counter
from dataclasses import dataclass
from functools import reduce
from operator import add

import pytest
from hypothesis import HealthCheck, given, note
from hypothesis import strategies as st

from importer.engine.feed.feed import open_feed
from importer.engine.load.methods.load_data_local import load, statement
from importer.engine.load.methods.statement_request import StatementRequest
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

pytestmark = pytest.mark.both_servers

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
# Codes of values that are refused although the server may store the intended value: the server guesses, or the notation
# is not used for such values.
GUESSED = ("exponent", "no colon", "two-digit year", "offset", "position", "1265")


@dataclass(frozen=True)
class Stored:
    """One stored value as text, None for NULL, with the server's warnings and Notes about its row."""

    text: bytes | None
    warnings: int
    notes: int


@dataclass(frozen=True)
class Trial:
    """A table with one column of the type."""

    connection: LoaderConnection
    table: Table
    validation: ValidationRules

    def store(self, values: list[str]) -> list[Stored]:
        """Load the values, a row each, read them back, and roll back."""
        data = rows(values)
        fd = os.memfd_create("values")
        try:
            os.pwrite(fd, data, 0)
            load(
                self.connection, statement(StatementRequest(self.table, DIALECT, MAPPING)), open_feed(fd, 0, len(data))
            )
        finally:
            os.close(fd)
        messages = self._message_counts()
        # The server writes a FLOAT as text with six digits.
        value = "CAST(x AS DOUBLE)" if self.table.column("x").kind == "float" else "x"
        rows_by_id = dict(fetch_all(self.connection, f"SELECT id, CAST({value} AS CHAR CHARACTER SET utf8mb4) FROM t"))
        execute(self.connection, "ROLLBACK")
        texts = [None if rows_by_id[n] is None else str(rows_by_id[n]).encode() for n in range(len(values))]
        return [Stored(text, messages["Warning", n + 1], messages["Note", n + 1]) for n, text in enumerate(texts)]

    def _message_counts(self) -> Counter[tuple[str, int]]:
        counts: Counter[tuple[str, int]] = Counter()
        for level, _, message in self.connection.show_warnings():
            text = message.decode() if isinstance(message, bytes) else message
            row = re.search(r"at row (\d+)", text)
            counts["Note" if level == "Note" else "Warning", int(row[1]) if row else 0] += 1
        return counts

    def examined(self, values: list[str]) -> BlockFindings:
        return self.validation.examine(block_of(rows(values)))


def is_same(column: Column, value: str, stored: bytes) -> bool:
    return same_value(column, value.encode(), stored) is Sameness.SAME


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
        validation = ValidationRules.of(DIALECT, MAPPING, table, mariadb=server.mariadb, rounding="notice")
        yield Trial(connection, table, validation), KINDS[request.param]


class TestOnServers:
    @EXAMPLES
    @given(data=st.data())
    def test_value_that_the_server_changes_silently_has_a_finding(self, trial, data):
        it, strategy = trial
        values = data.draw(st.lists(strategy, min_size=1, max_size=12))
        column = it.table.column("x")
        each = [it.examined([value]) for value in values]
        for value, stored, findings in zip(values, it.store(values), each, strict=True):
            note(f"{column.type}: {value!r} -> {stored} {findings}")
            same = stored.text is not None and is_same(column, value, stored.text)
            if findings.faults:
                code = findings.faults[0][1].code
                assert stored.warnings or not same or code in GUESSED
            elif not stored.warnings:
                # MySQL gives two Notes about a number with more than 72 digits after the point.
                assert min(stored.notes, 1) == findings.noted.total()
                assert same or findings.notices or findings.noted
        self._check_one_block(it, values, each)

    def _check_one_block(self, it: Trial, values: list[str], each: list[BlockFindings]) -> None:
        """Records in one block have the findings of each record alone, and of an examination value by value."""
        whole = it.examined(values)
        assert [(n, fault) for n, findings in enumerate(each) for _, fault in findings.faults] == whole.faults
        for counter in ("notices", "noted"):
            assert reduce(add, (getattr(findings, counter) for findings in each)) == getattr(whole, counter)
        block = block_of(rows(values))
        anything = bool(whole.faults or whole.notices or whole.noted)
        assert it.validation.suspicious(block) is anything
        slow = it.validation.validator.examine_one_by_one(block)
        assert (slow.notices, slow.noted) == (whole.notices, whole.noted)
        # A date that does not exist may pass: the server refuses it.
        assert set(whole.faults) <= set(slow.faults)
        assert all(fault.code.isdigit() for fault in set(slow.faults) - set(whole.faults) for fault in fault[1:])

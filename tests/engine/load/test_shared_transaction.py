"""Small chunks that share a transaction: all of them as they are, or none, on real servers."""

from dataclasses import replace
from pathlib import Path

import pytest

from importer.engine.errors import TargetProblem
from importer.engine.load import ledger
from importer.engine.load import loader as load
from importer.engine.load.chunk_load import ChunkLoad, LoadCallbacks
from importer.engine.load.loader import Loader, load_chunk
from importer.engine.load.outcome import Outcome, Tally
from importer.engine.load.shared_transaction import group_size
from importer.engine.mapping.columns import ColumnMapping, GeneratedColumn
from importer.engine.mysql.connection import Address, connect, fetch_all
from importer.engine.native import loader
from importer.engine.plan.options import Options
from importer.engine.plan.plan import ImportPlan, LoadStatements
from importer.engine.source.chunks.scanner import ChunkRange
from importer.engine.source.dialect import Dialect
from tests.engine.loads import HEADERLESS, Unchecked, five_chunks, loads_so_far, rows_of, run_sql, works

pytestmark = pytest.mark.both_servers

SMALL = Options(chunk_bytes=18)
CHUNKS = 5


@pytest.fixture
def five(database: Address, tmp_path: Path) -> list[ChunkLoad]:
    return five_chunks(database, tmp_path, SMALL)


def together(given: list[ChunkLoad]) -> list[Outcome] | None:
    first = given[0]
    with Loader(first.path, first.address, first.plan) as loader:
        return loader.load_group(first, [each.chunk for each in given])


def in_ledger(work: ChunkLoad) -> list[tuple]:
    sql = f"SELECT chunk, attempt, row_count, byte_count, digest FROM {ledger.TABLE} ORDER BY chunk"
    with connect(work.address) as connection:
        return fetch_all(connection, sql)


class TestAllOfThemAsTheyAre:
    def test_go_in_by_one_statement_and_each_has_its_ledger_row(self, five: list[ChunkLoad]):
        before = loads_so_far(five[0].address)
        found = together(five)
        assert loads_so_far(five[0].address) == before + 1
        assert found
        assert [(each.rows, each.already, each.tally) for each in found] == [(2, False, Tally(2))] * CHUNKS
        assert rows_of(five[0].address, "SELECT COUNT(*), SUM(n) FROM t") == [(10, 45)]
        assert in_ledger(five[0]) == [
            (each.number, 1, each.rows, each.length, each.digest) for each in (work.chunk for work in five)
        ]

    def test_share_the_seconds_that_it_took(self, five: list[ChunkLoad]):
        found = together(five[:3])
        assert found
        assert found[0].timings.keys() == {"connect", "ledger", "load", "commit"}
        assert len({each.timings["load"] for each in found}) == 1
        assert found[0].timings["load"] > 0

    @pytest.mark.parametrize(
        ("dialect", "data", "columns"),
        [
            (HEADERLESS, 'é,"a ""b"""\nNULL,"NULL"\n,""\nplain,"two\nlines"\n', "a VARCHAR(9), b VARCHAR(9)"),
            (replace(HEADERLESS, line_end="\r\n"), "1,one\r\n2,two\r\n3,three\r\n", "a INT, b VARCHAR(9)"),
            (replace(HEADERLESS, line_end="any"), "1,one\r\n2,two\n3,three\r4,four", "a INT, b VARCHAR(9)"),
            (Dialect(header=False, encoding="cp1252"), "ä,ö\nü,ß\n€,é\n€,x\n", "a VARCHAR(9), b VARCHAR(9)"),
            (Dialect(header=False, delimiter=";;"), "1;;a;b\n2;;\n3;;ccc\n", "a INT, b VARCHAR(9)"),
            (HEADERLESS, "one,\ntwo,\nthree,", "a VARCHAR(9), b VARCHAR(9)"),
        ],
    )
    def test_bring_what_each_by_itself_brings(
        self, database: Address, source, dialect: Dialect, data: str, columns: str
    ):
        run_sql(database, f"CREATE TABLE t ({columns}) CHARACTER SET utf8mb4")
        path = source(data.encode(dialect.encoding))
        given = works(database, path, ["a", "b"], SMALL, dialect=dialect, chunk_bytes=7)
        assert len(given) > 1
        for each in given:
            load_chunk(each, LoadCallbacks())
        alone = rows_of(database)
        run_sql(database, "DELETE FROM t", f"DELETE FROM {ledger.TABLE}")
        assert together(given)
        assert rows_of(database) == alone

    def test_are_numbered_as_in_the_file(self, database: Address, source):
        run_sql(database, "CREATE TABLE t (word VARCHAR(20), at_row INT, at_line INT, file VARCHAR(9))")
        path = source('a\n"b\nb"\nc\nd\n"e\n\n"\nf\n')
        fillings = (
            GeneratedColumn("at_row", "row"),
            GeneratedColumn("at_line", "line"),
            GeneratedColumn("file", "file"),
        )
        given = works(database, path, ["word"], SMALL, chunk_bytes=4, fillings=fillings)
        assert len(given) > 3
        assert together([replace(each, file_name="a.csv") for each in given])
        words = [("a", 1), ("b\nb", 2), ("c", 4), ("d", 5), ("e\n\n", 6), ("f", 9)]
        assert rows_of(database) == [(word, row, line, "a.csv") for row, (word, line) in enumerate(words, start=1)]

    def test_may_be_sent_with_bytes_for_hexadecimal_digits(self, database: Address, source):
        run_sql(database, "CREATE TABLE t (n INT PRIMARY KEY, x VARBINARY(9))")
        path = source("".join(f"{n},{n:06x}\n" for n in range(20)))
        mapping = [ColumnMapping("n"), ColumnMapping("x", transforms=("hex",))]
        given = works(database, path, mapping, SMALL, chunk_bytes=40)
        assert together(given)
        assert rows_of(database) == [(n, n.to_bytes(3, "big")) for n in range(20)]

    @pytest.mark.parametrize("method", ["load_data_server", "insert", "insert_prepared"])
    def test_go_in_by_any_method(self, database: Address, source, method: str):
        run_sql(database, "CREATE TABLE t (n INT PRIMARY KEY, word VARCHAR(9))")
        path = source("".join(f"{n},word {n}\n" for n in range(20)))
        given = works(database, path, ["n", "word"], replace(SMALL, method=method), chunk_bytes=18)
        assert together(given)
        assert rows_of(database) == [(n, f"word {n}") for n in range(20)]

    def test_are_told_as_bytes_of_all_of_them(self, five: list[ChunkLoad]):
        told: list[int] = []
        first = five[0]
        with Loader(first.path, first.address, first.plan) as loader:
            loader.load_group(first, [each.chunk for each in five], told.append)
        assert told[-1] == sum(each.chunk.length for each in five)


class TestIfAnythingIsTheMatter:
    @pytest.fixture(autouse=True)
    def checked_each_time(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The target is checked again for the chunk by itself, as it is after a slow load of all of them."""
        monkeypatch.setattr(load, "RECHECK_SECONDS", 0)

    def nothing_is_kept(self, given: list[ChunkLoad], there: int = 0) -> None:
        """...and the connection is as good as before."""
        first = given[0]
        with Loader(first.path, first.address, first.plan) as loader:
            connected = loader.connect()
            assert loader.load_group(first, [each.chunk for each in given]) is None
            assert rows_of(first.address, "SELECT COUNT(*) FROM t") == [(there,)]
            assert first.chunk.number not in [number for number, *_ in in_ledger(first)]
            assert loader.load(first).tally == Tally(2)
            assert loader.connect() == connected

    def test_a_key_that_is_there(self, five: list[ChunkLoad]):
        run_sql(five[0].address, "INSERT INTO t VALUES (7, 'here')")
        self.nothing_is_kept(five, there=1)

    def test_a_value_that_the_server_would_change(self, database: Address, source):
        run_sql(database, "CREATE TABLE t (n TINYINT)")
        path = source("11\n22\n33\n44\n555\n66\n")
        unchecked = Unchecked(chunk_bytes=18)
        self.nothing_is_kept(works(database, path, ["n"], unchecked, chunk_bytes=6))

    def test_a_statement_that_a_row_ends(self, five: list[ChunkLoad]):
        run_sql(
            five[0].address,
            "CREATE TRIGGER no BEFORE INSERT ON t FOR EACH ROW"
            " IF NEW.n = 7 THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'no sevens'; END IF",
        )
        self.nothing_is_kept(five)

    def test_bytes_that_are_not_those_that_were_scanned(self, five: list[ChunkLoad]):
        assert isinstance(five[0].path, Path)
        data = five[0].path.read_bytes()
        five[0].path.write_bytes(data.replace(b"word 7", b"ward 7"))
        self.nothing_is_kept(five)

    def test_a_file_that_has_become_shorter(self, five: list[ChunkLoad]):
        assert isinstance(five[0].path, Path)
        five[0].path.write_bytes(five[0].path.read_bytes()[:-20])
        self.nothing_is_kept(five)

    def test_one_that_is_in_already(self, five: list[ChunkLoad]):
        load_chunk(replace(five[3], first=True), LoadCallbacks())
        self.nothing_is_kept(five, there=2)
        assert load_chunk(replace(five[3], attempt=2), LoadCallbacks()).already

    def test_digits_that_are_none(self, database: Address, source):
        run_sql(database, "CREATE TABLE t (n INT, x VARBINARY(9))")
        path = source("1,aa\n2,bb\n3,cc\n4,dd\n5,eeg\n6,ff\n")
        mapping = [ColumnMapping("n"), ColumnMapping("x", transforms=("hex",))]
        found = works(database, path, mapping, SMALL, chunk_bytes=10)
        if loader.library():
            # So it is found out on the way to the server.
            assert {each.statements.plain for each in found} == {found[0].plan.statements.unhexed.statement}
        self.nothing_is_kept(found)

    def test_what_is_no_matter_of_rows_is_raised(self, five: list[ChunkLoad]):
        run_sql(five[0].address, "ALTER TABLE t ADD more INT")
        with pytest.raises(TargetProblem, match="has changed since the import was planned"):
            together(five)


PLAN = ImportPlan(
    statements=LoadStatements("load_data_local", plain="", null_word="", traced=""),
    schema="s",
    table="t",
    chunk_bytes=10,
    parallelism=1,
    table_digest="",
    fields=(),
    reasons=(),
    first_chunk_bytes=20,
    transaction_bytes=50,
)


def chunks(*lengths: int, begin: int = 0, **known) -> list[ChunkRange]:
    found, offset = [], begin
    for number, length in enumerate(lengths):
        found.append(ChunkRange(number, offset, length, 1, 1, "", **known))
        offset += length
    return found


class TestHowMany:
    def test_are_as_many_as_are_planned_for_one_transaction(self):
        assert group_size(PLAN, chunks(*[10] * 9, begin=1000)) == 5
        assert group_size(PLAN, chunks(*[11] * 9, begin=1000)) == 4
        assert group_size(PLAN, chunks(10, 10, begin=1000)) == 2

    def test_are_few_at_first_so_that_rows_are_in_soon(self):
        assert group_size(PLAN, chunks(*[10] * 9)) == 2
        assert group_size(PLAN, chunks(*[10] * 9, begin=30)) == 3

    def test_is_one_where_that_is_larger_or_where_it_is_planned(self):
        assert group_size(PLAN, chunks(99, 1, begin=1000)) == 1
        assert group_size(replace(PLAN, transaction_bytes=0), chunks(1, 1, begin=1000)) == 1

    def test_do_not_go_over_a_gap(self):
        given = chunks(10, 10, 10, begin=1000)
        assert group_size(PLAN, [given[0], given[2]]) == 1

    @pytest.mark.parametrize(("suspect", "expected"), [(0, 1), (1, 1), (2, 2)])
    def test_do_not_reach_to_one_that_has_to_be_looked_at(self, suspect: int, expected: int):
        given = chunks(10, 10, 10, begin=1000)
        given[suspect] = replace(given[suspect], suspect=True)
        assert group_size(PLAN, given) == expected

"""What the scanner says about records is what a real server makes of the same bytes."""

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from importer.engine.connection import connect_loader, execute, fetch_all
from importer.engine.dialect import PRESETS, Dialect
from importer.engine.errors import SourceProblem
from importer.engine.feed import ByteRange
from importer.engine.mapping import ColumnMapping
from importer.engine.methods.load_data_local import load, statement
from importer.engine.scanner import scan
from tests.engine.reference import documents, in_file, read

# More fields than any document has: for one with too many, the server looks for the line end without minding quotes.
COLUMNS = tuple(f"c{number}" for number in range(50))
EXAMPLES = settings(
    max_examples=300, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.fixture
def loaded(database):
    """A function that loads pieces of a file, one LOAD DATA each; the rows in order, and the Records of each load."""
    with connect_loader(database) as connection:
        columns = ", ".join(f"{name} LONGTEXT" for name in COLUMNS)
        execute(connection, f"CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, {columns}) CHARSET utf8mb4")

        def load_pieces(fd, dialect: Dialect, pieces: list[tuple[int, int]]):
            sql = statement(database.database, "t", dialect, [ColumnMapping(name) for name in COLUMNS])
            reports = [load(connection, sql, ByteRange(fd, offset, length)) for offset, length in pieces]
            rows = fetch_all(connection, f"SELECT {', '.join(COLUMNS)} FROM t ORDER BY id")
            execute(connection, "ROLLBACK")
            assert all(report.skipped == 0 for report in reports)
            return rows, [report.records for report in reports]

        yield load_pieces


def same_values(values: list[bytes | None], row: tuple) -> bool:
    """Whether the server's row has these values, and nothing in the columns without one."""
    expected = [None if value is None else value.decode() for value in values]
    found, rest = list(row[: len(values)]), row[len(values) :]
    if expected[-1] == "" and found[-1] is None:
        # The server reads no field after a delimiter at the very end of the data.
        expected[-1] = None
    return found == expected and not any(rest)


class TestOnServers:
    @EXAMPLES
    @given(document=documents(), chunk_bytes=st.sampled_from([1, 1, 5, 12, 1000]), block=st.sampled_from([3, 16, 1000]))
    def test_chunks_load_to_the_same_rows_as_the_whole_file(self, loaded, document, chunk_bytes, block):
        dialect, data = document
        with in_file(data) as fd:
            whole, [records] = loaded(fd, dialect, [(0, len(data))])
            reading = read(data, dialect)
            note(f"{reading} {whole}")
            # The reference reads as this server does...
            assert records == len(whole) == len(reading.rows)
            for values, row in zip(reading.rows, whole, strict=True):
                assert same_values(values, row)
            # ...and the scan's chunks give the same rows, unless it refuses the file for a reason.
            try:
                options = {"start": 0, "first_line": 1, "end": len(data), "block_bytes": block}
                chunks = list(scan(fd, dialect, chunk_bytes=chunk_bytes, **options))
            except SourceProblem:
                assert reading.foreign or reading.unclosed
                return
            rows, counts = loaded(fd, dialect, [(chunk.offset, chunk.length) for chunk in chunks])
            assert counts == [chunk.rows for chunk in chunks]
            assert rows == whole[: len(rows)]
            assert not any(any(row) for row in whole[len(rows) :]), "only blank lines at the end are left out"

    @pytest.mark.parametrize("dialect", PRESETS.values(), ids=list(PRESETS))
    def test_every_cut_of_a_document_with_everything_in_it(self, loaded, dialect):
        d, q, e = dialect.delimiter, dialect.quote, dialect.escape
        lines = [f"a{d}é", f'5" disk{d}x', f"{q}q{q}{d}{q}{q}", f"{q}in {q}{q}line\n{d}{q}{d}東", f"{q}x{q}y{q}{d}z"]
        if e:
            lines += [f"{e}N{d}{e}\nb", f"c{e}{e}{d}{e}t{e}{d}", f"d{e}{e}{e}\n{d}e"]
        data = "\n".join(lines).encode()
        with in_file(data) as fd:
            whole, [records] = loaded(fd, dialect, [(0, len(data))])
            for chunk_bytes in range(1, len(data) + 1):
                options = {"start": 0, "first_line": 1, "end": len(data), "block_bytes": chunk_bytes + 1}
                chunks = list(scan(fd, dialect, chunk_bytes=chunk_bytes, **options))
                rows, counts = loaded(fd, dialect, [(chunk.offset, chunk.length) for chunk in chunks])
                assert rows == whole
                assert counts == [chunk.rows for chunk in chunks]
        for record, row in zip(read(data, dialect).rows, whole, strict=True):
            assert same_values(record, row)
        assert len(whole) == records

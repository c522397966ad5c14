"""What the scanner says about records is what a real server makes of the same bytes."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, note
from hypothesis import strategies as st

from importer.engine.errors import SourceProblem
from importer.engine.feed.feed import open_feed, skip_ranges
from importer.engine.feed.rewriter import rewritten
from importer.engine.load.methods.load_data_local import load, statement
from importer.engine.load.methods.statement_request import StatementRequest
from importer.engine.mapping.columns import ColumnMapping
from importer.engine.mysql.connection import connect_loader, execute, fetch_all
from importer.engine.schema.table import read_table
from importer.engine.source.chunks.chunk_sizes import ChunkSizes
from importer.engine.source.chunks.scanner import scan
from importer.engine.source.dialect import PRESETS, Dialect
from tests.engine.reference import Reading, documents, in_file, read, scan_with
from tests.examples import examples

# More fields than any document has: for one with too many, the server looks for the line end without minding quotes.
COLUMNS = tuple(f"c{number}" for number in range(50))
EXAMPLES = examples(500, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def loaded(database):
    """A function that loads ranges of a file, one LOAD DATA each, less the gaps; the rows in order, Records of each."""
    with connect_loader(database) as connection:
        columns = ", ".join(f"{name} LONGTEXT" for name in COLUMNS)
        execute(connection, f"CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, {columns}) CHARSET utf8mb4")
        table = read_table(connection, database.database, "t")

        def load_pieces(fd, dialect: Dialect, pieces: list[tuple[int, int]], gaps=()):
            sql = statement(StatementRequest(table, dialect, [ColumnMapping(name) for name in COLUMNS]))
            reports = []
            for offset, length in pieces:
                within = [gap for gap in gaps if offset <= gap[0] < offset + length]
                steps = [skip_ranges(np.array(within, np.int64).reshape(-1, 2), offset)]
                steps += [rewritten(dialect)] if dialect.rewriting else []
                reports.append(load(connection, sql, open_feed(fd, offset, length, steps=steps)))
            rows = fetch_all(connection, f"SELECT {', '.join(COLUMNS)} FROM t ORDER BY id")
            execute(connection, "ROLLBACK")
            assert all(report.skipped == 0 for report in reports)
            return rows, [report.records for report in reports]

        yield load_pieces


def same_values(values: list[bytes | None], row: tuple, dialect: Dialect) -> bool:
    """Whether the server's row has these values, and nothing in the columns without one."""
    expected = [None if value is None else value.decode() for value in values]
    found, rest = list(row[: len(values)]), row[len(values) :]
    if expected[-1] == "" and found[-1] is None:
        # The server reads no field after a delimiter at the very end of the data.
        expected[-1] = None
    # After a trailing delimiter the server reads a field more, with nothing in it.
    return found == expected and not any(rest)


def not_sent(data: bytes, dialect: Dialect, reading: Reading) -> list[tuple[int, int]]:
    """The byte ranges of records that must not be sent: stray quotes, blank lines, no delimiter at the end."""
    kept = set(reading.sent(dialect))
    if dialect.trailing_delimiter:
        mark = dialect.delimiter_bytes
        kept = {each for each in kept if data[slice(*reading.record(each))].rstrip(b"\r\n").endswith(mark)}
    return [reading.record(number) for number in range(len(reading.ends)) if number not in kept]


class TestOnServers:
    @EXAMPLES
    @given(
        document=documents(),
        chunk_bytes=st.sampled_from([1, 1, 5, 12, 1000]),
        block=st.sampled_from([3, 16, 1000]),
    )
    def test_chunks_load_to_the_same_rows_as_the_whole_file(self, loaded, document, chunk_bytes, block):
        dialect, data = document
        reading = read(data, dialect)
        gaps = not_sent(data, dialect, reading)
        with in_file(data) as fd:
            if reading.foreign or reading.unclosed:
                with pytest.raises(SourceProblem):
                    list(scan(fd, dialect, ChunkSizes(chunk_bytes), end=len(data)))
                return
            whole, [records] = loaded(fd, dialect, [(0, len(data))], gaps)
            note(f"{reading} {whole}")
            # The reference reads as this server does...
            left_out = {low for low, _ in gaps}
            rows = [row for number, row in enumerate(reading.rows) if reading.record(number)[0] not in left_out]
            assert records == len(whole) == len(rows)
            for values, row in zip(rows, whole, strict=True):
                assert same_values(values, row, dialect)
            # ...and the scan's chunks give the same rows.
            options = {"end": len(data), "block_bytes": block, "tolerate": True}
            chunks = list(scan_with(fd, dialect, ChunkSizes(chunk_bytes), **options))
            rows, counts = loaded(fd, dialect, [(chunk.offset, chunk.length) for chunk in chunks], gaps)
            bad = [sum(chunk.offset <= low < chunk.offset + chunk.length for low, high in gaps) for chunk in chunks]
            assert all(
                count <= chunk.rows <= count + left for count, chunk, left in zip(counts, chunks, bad, strict=True)
            )
            assert rows == whole

    @pytest.mark.parametrize("dialect", PRESETS.values(), ids=list(PRESETS))
    def test_every_cut_of_a_document_with_everything_in_it(self, loaded, dialect):
        d, q, e = dialect.delimiter, dialect.quote, dialect.escape
        lines = [f"a{d}é", f'5" disk{d}x', f"{q}q{q}{d}{q}{q}", f"{q}in {q}{q}line\n{d}{q}{d}東", f"{q}x{q}{d}z"]
        if e:
            lines += [f"{e}N{d}{e}\nb", f"c{e}{e}{d}{e}t{e}{d}", f"d{e}{e}{e}\n{d}e"]
        data = "\n".join(lines).encode()
        with in_file(data) as fd:
            whole, [records] = loaded(fd, dialect, [(0, len(data))])
            for chunk_bytes in range(1, len(data) + 1):
                options = {"end": len(data), "block_bytes": chunk_bytes + 1}
                chunks = list(scan_with(fd, dialect, ChunkSizes(chunk_bytes), **options))
                rows, counts = loaded(fd, dialect, [(chunk.offset, chunk.length) for chunk in chunks])
                assert rows == whole
                assert counts == [chunk.rows for chunk in chunks]
        for record, row in zip(read(data, dialect).rows, whole, strict=True):
            assert same_values(record, row, dialect)
        assert len(whole) == records

    @pytest.mark.parametrize(
        "delimiter", ["||", "|||", "|~|", "aa", "aba", "\x01", "\x01\x02", "::", ".*", "é", "東京", " "]
    )
    @pytest.mark.parametrize("quote", ['"', ""])
    def test_delimiters_of_all_kinds(self, loaded, delimiter, quote):
        dialect = Dialect(delimiter=delimiter, quote=quote)
        part = delimiter[:1]
        values = ["x", part, f"x{part}", "", f"{part}{part}y", f"{quote}a{delimiter}b{quote}", "\\N"]
        # Where the file goes as it is and has a quote, the plain statement makes NULL of the word.
        values += ["NULL"] if dialect.rewriting or not quote else []
        data = "".join(f"{one}{delimiter}{other}\n" for one in values for other in values).encode()
        with in_file(data) as fd:
            whole, [records] = loaded(fd, dialect, [(0, len(data))])
        expected = read(data, dialect).rows
        assert records == len(expected)
        for values, row in zip(expected, whole, strict=True):
            assert same_values(values, row, dialect)

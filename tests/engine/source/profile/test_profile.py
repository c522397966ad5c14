"""Profiles of files by their first part: nothing is guessed without a note."""

import csv
import gzip
import os
import zipfile
from dataclasses import replace
from pathlib import Path
from random import Random

import psutil
import pytest

from importer.engine.errors import SourceProblem
from importer.engine.feed.feed import SourceBytes
from importer.engine.load.methods.load_data_local import load, statement
from importer.engine.load.methods.statement_request import StatementRequest
from importer.engine.mapping.suggest import suggest_mapping
from importer.engine.mysql.connection import Address, connect, connect_loader, execute, fetch_all
from importer.engine.schema.table import read_table
from importer.engine.source.chunks.chunk_sizes import ChunkSizes
from importer.engine.source.chunks.scanner import Position, scan
from importer.engine.source.dialect import MYSQL_TSV, RFC4180, TSV, Dialect
from importer.engine.source.profile.profile import SAMPLE_BYTES, SAMPLE_ROWS, profile_file
from tests.engine.packing import PACKED

FILES = sorted((Path(__file__).parents[2] / "csv").glob("*.csv"))
CRLF = Dialect(line_end="\r\n")
DIALECTS = {
    "cr": replace(RFC4180, line_end="\r"),
    "mixed_line_ends": replace(RFC4180, line_end="any"),
    "crlf": CRLF,
    "lf_in_quotes_of_crlf": CRLF,
    "semicolon": Dialect(delimiter=";"),
    "tabs_stray_quote": TSV,
    "bars": Dialect(delimiter="|"),
    "no_header": replace(RFC4180, header=False),
    "written_by_the_server": MYSQL_TSV,
}


def refusal(path: Path, dialect: Dialect | None = None) -> SourceProblem:
    with pytest.raises(SourceProblem) as caught:
        profile_file(path, dialect)
    assert caught.value.where.startswith(path.name)
    assert caught.value.advice
    return caught.value


class TestFilesOfAllKinds:
    @pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
    def test_profile_and_scan_read_it_as_pythons_csv_module_does(self, path):
        profile = profile_file(path)
        assert profile.dialect == DIALECTS.get(path.stem, RFC4180)
        expected = expected_rows(path, profile.dialect)
        header = [expected.pop(0)] if profile.dialect.header else []
        assert [list(row) for row in profile.rows] == expected
        assert not header or list(profile.header) == header[0]
        with path.open("rb") as file:
            begin = Position(profile.data_offset, profile.data_line)
            chunks = list(scan(file.fileno(), profile.dialect, ChunkSizes(1), begin, end=profile.size))
        # A blank line alone is a chunk without rows here.
        assert [chunk.first_line for chunk in chunks if chunk.rows] == list(profile.lines)

    def test_there_are_files(self):
        assert len(FILES) > 15


def expected_rows(path: Path, dialect: Dialect) -> list[list[str]]:
    if dialect.escape:
        return [["1", r"\N", "a\tb"], ["2", "x", "\\"]]
    with path.open(encoding="utf-8-sig", newline="") as file:
        return [row for row in csv.reader(file, delimiter=dialect.delimiter, quotechar=dialect.quote) if row]


class TestNotACsvFile:
    def test_a_file_that_is_not_there(self, tmp_path):
        assert "no such file" in refusal(tmp_path / "missing.csv").what

    def test_a_folder(self, tmp_path):
        assert "folder" in refusal(tmp_path).what

    def test_a_pipe_is_not_waited_for(self, tmp_path):
        os.mkfifo(tmp_path / "pipe")
        assert "not a regular file" in refusal(tmp_path / "pipe").what

    @pytest.mark.skipif(os.getuid() == 0, reason="root may read everything")
    def test_a_file_without_permission(self, source):
        path = source("a,b\n1,2\n")
        path.chmod(0)
        assert "Permission denied" in refusal(path).what

    @pytest.mark.parametrize("content", [b"", b"\n\n", b"\xef\xbb\xbf", b"\xef\xbb\xbf\r\n", b"  \n"])
    def test_an_empty_file(self, source, content):
        what = refusal(source(content)).what
        assert "empty" in what
        assert ("blank lines only" in what) == (b"\n" in content)

    def test_lines_that_end_with_cr_alone(self, source):
        profile = profile_file(source("id,name\r1,a\r\r2,b\r"))
        assert profile.dialect.line_end == "\r"
        assert (profile.rows, profile.lines) == ((("1", "a"), ("2", "b")), (2, 4))
        assert "Lines end in CR, as on old Macs." in profile.notes

    def test_a_cr_in_a_value_is_no_line_end(self, source):
        assert profile_file(source('"a\rb",c'), replace(RFC4180, header=False)).rows == (("a\rb", "c"),)

    @pytest.mark.parametrize("content", ["id,name\n\n", "id,name", "id,name\r\n"])
    def test_a_header_and_no_data_has_no_rows(self, source, content):
        path = source(content)
        profile = profile_file(path)
        assert (profile.header, profile.rows, profile.data_offset) == (("id", "name"), (), path.stat().st_size)

    @pytest.mark.parametrize(
        ("content", "what"),
        [
            (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "PNG"),
            (b"\xff\xd8\xff\xe0\0\x10JFIF", "JPEG"),
            (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "PDF"),
            (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(100), ".xls"),
            (b"SQLite format 3\0" + bytes(20), "SQLite"),
            (b"Rar!\x1a\x07\x01\0", "RAR"),
            (gzip.compress(b"FEA1", mtime=0), "Feather"),
            (b"<!DOCTYPE html><html><body>404</body></html>", "HTML"),
            (b'<?xml version="1.0"?><rows/>', "XML"),
        ],
    )
    def test_another_format_is_named(self, source, content, what):
        assert what in refusal(source(content)).what

    @pytest.mark.parametrize(
        ("inside", "what"),
        [("[Content_Types].xml", "Office document"), ("data.gz", "packed twice"), ("xl/workbook.bin", ".xlsb")],
    )
    def test_a_zip_archive_and_what_is_in_it(self, tmp_path, inside, what):
        with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
            archive.writestr(inside, gzip.compress(b"a,b\n1,2\n"))
        assert what in refusal(tmp_path / "x.zip").what

    def test_random_bytes_are_not_taken_for_text(self, source):
        problem = refusal(source(Random(5).randbytes(100_000)))
        assert problem.what.startswith("This does not look like a text file: 9,")
        assert "of the first 100,000 bytes are control characters" in problem.what
        assert problem.where == "data.csv"
        assert "--encoding utf-16-le" in problem.advice

    def test_words_that_only_look_like_another_format(self, source):
        assert profile_file(source("PAR1,ORC\n1,2\n")).header == ("PAR1", "ORC")

    def test_an_unclosed_quote_with_its_line(self, source):
        assert refusal(source('id,name\n1,a\n2,"b\n3,c\n')).where == "data.csv, line 3"

    def test_an_unclosed_quote_in_the_last_record_spoils_its_own_line_alone(self, source):
        profile = profile_file(source('id,name\n1,a\n2,b\n3,"c\n'))
        assert profile.lines == (2, 3, 4)
        assert [row[0] for row in profile.rows] == ["1", "2", "3"]

    def test_without_a_header_the_first_record_does_not_decide_the_width(self, source):
        profile = profile_file(source("1,a,,x\n2,b\n3,c\n"), header=False)
        assert (profile.header, profile.dialect.width) == (("column_1", "column_2"), 2)

    def test_mixed_line_ends_read_as_one_of_them(self, source):
        dialect = replace(RFC4180, line_end="\n")
        assert refusal(source("id,name\n1,a\n2,b\r\n3,c\n"), dialect).where == "data.csv, line 3"

    def test_a_dialect_that_does_not_fit(self, source):
        assert "CR LF" in refusal(source("id,name\r\n1,a\r\n"), RFC4180).what


class TestSample:
    def test_a_record_that_the_sample_cuts_is_read_whole_or_not_at_all(self, source):
        row = "7," + "é" * 997 + "\n"
        profile = profile_file(source("id,text\n" + row * 2000))
        assert SAMPLE_BYTES / len(row.encode()) < len(profile.rows) <= SAMPLE_ROWS
        assert set(profile.rows) == {("7", "é" * 997)}

    def test_no_more_rows_than_a_preview_needs(self, source):
        profile = profile_file(source("id,n\n" + "1,2\n" * 5000))
        assert len(profile.rows) == len(profile.lines) == SAMPLE_ROWS
        assert profile.lines[-1] == SAMPLE_ROWS + 1

    def test_a_record_larger_than_the_sample(self, source):
        profile = profile_file(source('id,text\n1,"' + "x\n" * SAMPLE_BYTES + '"\n2,y\n'))
        assert [(row[0], len(row[1])) for row in profile.rows] == [("1", 2 * SAMPLE_BYTES)]


class TestPacked:
    @pytest.mark.parametrize("pack", PACKED.values(), ids=PACKED)
    @pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "utf-16"])
    def test_what_is_inside_is_read(self, source, pack, encoding):
        text = "id,name\n1,Zoë €\n"
        profile = profile_file(source(pack(text.encode(encoding))))
        assert profile.rows == (("1", "Zoë €"),)
        assert "unpacked before it is read" in profile.notes[0]
        assert profile.size == len(text.encode("cp1252" if encoding == "cp1252" else "utf-8"))

    @pytest.mark.thorough
    def test_the_size_is_an_estimate_until_it_is_unpacked(self, source):
        body = b"".join(b"%d,%d\n" % (n, n * 7919 % 100_003) for n in range(400_000))
        profile = profile_file(source(gzip.compress(b"id,n\n" + body)))
        assert 0.5 < profile.size / len(body) < 2
        assert len(profile.rows) == SAMPLE_ROWS

    def test_a_record_larger_than_the_sample(self, source):
        profile = profile_file(source(gzip.compress(b'id,text\n1,"' + b"x\n" * SAMPLE_BYTES + b'"\n2,y\n')))
        assert [(row[0], len(row[1])) for row in profile.rows] == [("1", 2 * SAMPLE_BYTES)]

    @pytest.mark.thorough
    def test_a_look_is_bounded_by_itself(self, source):
        """So well packed that a copy would be refused: for that the job's limits are."""
        row = b'1,"' + b"x" * 80 * 2**20 + b'"\n'
        with pytest.raises(SourceProblem, match="No record ends within 67,108,864 bytes"):
            profile_file(source(gzip.compress(b"id,text\n" + row)))

    def test_a_look_at_a_large_file_reads_little_of_it(self, tmp_path):
        """A file that unpacks to 100 MB: what is looked at is a sample, not the file."""
        member = gzip.compress(b"".join(b"%d,%d\n" % (n, n * 7919 % 100_003) for n in range(400_000)), 1)
        (tmp_path / "large.gz").write_bytes(member * 20)
        before = psutil.Process().io_counters().read_chars
        profile = profile_file(tmp_path / "large.gz")
        read = psutil.Process().io_counters().read_chars - before
        assert len(member) / 10 < read < 2 * len(member)
        assert profile.size > 20_000_000


class TestDialectAndHeader:
    def test_a_decimal_comma_is_no_delimiter(self, source):
        assert profile_file(source("a;b\n" + "1,5;2,5\n" * 20)).dialect.delimiter == ";"

    def test_commas_in_a_text_are_no_delimiter(self, source):
        profile = profile_file(source("text\none\ntwo, three\nfour\nfive, six, seven\neight\n"))
        assert profile.header == ("text",)
        assert "No delimiter found" in profile.notes[0]

    def test_two_delimiters_that_fit_are_asked_about(self, source):
        [guess] = [each for each in profile_file(source("a;b|c\n1;2|3\n4;5|6\n")).decisions if each.name == "delimiter"]
        assert [answer.flag for answer in guess.answers] == ["--delimiter ';'", "--delimiter '|'"]

    def test_quotes_that_never_close_are_characters(self, source):
        profile = profile_file(source('id\tsize\n1\t"5\n2\t6\n' + "3\t7\n" * 50))
        assert profile.dialect.quote == ""
        assert profile.rows[0] == ("1", '"5')

    @pytest.mark.parametrize(
        ("content", "header"),
        [
            ("id,name\n1,a\n", True),
            ("1,a\n2,b\n", False),
            ("2013-01-01,a\n2013-01-02,b\n", False),
            ("name,city\nAnna,Rome\n", True),
            ("Anna,Rome\nBob,Rome\n", False),
            ("id,id\n1,2\n", True),
            (",name\n1,a\n", True),
        ],
    )
    def test_header(self, source, content, header):
        assert profile_file(source(content)).dialect.header is header

    def test_a_header_of_text_above_text_is_asked_about(self, source):
        [guess] = [each for each in profile_file(source("name,city\nanna,rome\n")).decisions if each.name == "header"]
        assert [answer.flag for answer in guess.answers] == ["--header", "--no-header"]

    @pytest.mark.parametrize(("header", "note"), [("id,ID", "'id' more than once"), ("id,", "Field 2 has no name")])
    def test_odd_headers_are_kept_and_noted(self, source, header, note):
        profile = profile_file(source(f"{header}\n1,2\n"))
        assert profile.header == tuple(header.split(","))
        assert any(note in each for each in profile.notes)

    def test_rows_of_another_width_are_noted_with_a_line(self, source):
        notes = profile_file(source("a,b\n1,2\n1,2,3\n4,5\n")).notes
        assert any("the one on line 3 has 3" in note for note in notes)

    def test_a_dialect_that_is_given_is_not_questioned(self, source):
        profile = profile_file(source("1;2\n"), Dialect(header=False))
        assert (profile.header, profile.rows) == (("column_1",), (("1;2",),))


class TestOnServers:
    @pytest.mark.parametrize(
        ("column", "values", "stored"),
        [
            ("DATETIME", ["2013-01-01T10:00:00Z", "NA"], ["2013-01-01 10:00:00", None]),
            ("DATETIME(3)", ["2013-01-01T10:00:00.125Z"], ["2013-01-01 10:00:00.125"]),
            ("DATETIME", ["2013-01-01T10:00:00", "20130102", ""], ["2013-01-01 10:00:00", "2013-01-02 00:00:00", None]),
            ("DATETIME", ["2013-1-1 10:00", "2013-01-02"], ["2013-01-01 10:00:00", "2013-01-02 00:00:00"]),
            ("TIMESTAMP", ["2013-01-01 10:00Z"], ["2013-01-01 10:00:00"]),
            ("DATE", ["13/01/2020", "1/2/2020"], ["2020-01-13", "2020-02-01"]),
            ("DATETIME", ["1/13/2020 9:30:15 PM"], ["2020-01-13 21:30:15"]),
            ("DATETIME", ["01.02.2020 09:30"], ["2020-02-01 09:30:00"]),
            ("DATE", ["2020/01/31"], ["2020-01-31"]),
            ("DECIMAL(9,2)", ["1.5", "N/A", ""], ["1.50", None, None]),
            ("TIME", ["10:00:00", "-"], ["10:00:00", None]),
        ],
    )
    def test_what_is_suggested_loads_without_a_warning(self, database: Address, source, column, values, stored):
        path = source("id,v\n" + "".join(f"{number},{value}\n" for number, value in enumerate(values)))
        with connect(database) as connection:
            execute(connection, f"CREATE TABLE t (id INT PRIMARY KEY, v {column} NULL)")
            target = read_table(connection, database.database, "t")
        profile = profile_file(path)
        sql = statement(StatementRequest(target, profile.dialect, suggest_mapping(profile, target)))
        with connect_loader(database) as connection, path.open("rb") as file:
            feed = SourceBytes(file.fileno(), profile.data_offset, profile.size - profile.data_offset)
            report = load(connection, sql, feed)
            rows = fetch_all(connection, "SELECT CAST(v AS CHAR) FROM t ORDER BY id")
        assert (report.records, report.warnings, report.skipped) == (len(values), 0, 0)
        assert [row[0] for row in rows] == stored

"""Files that cannot be read as one are refused, with both names and the difference."""

import pytest

from importer.connections.by_hand.resolve import resolve_sources
from importer.engine.errors import SourceProblem
from importer.models import ImportJob
from importer.preparation.joined_files import FilesDiffer
from importer.preparation.prepare import ImportRequest, prepare
from tests.importer.jobs.test_several_files import FILES, TABLE, planned, written
from tests.targets import on_one_server, target_with

pytestmark = pytest.mark.usefixtures("no_workers", "plain_dir", "transactional_db")


@on_one_server
class TestDifferent:
    @pytest.mark.parametrize(
        ("second", "difference"),
        [
            (b"id,title\n3,three\n", "only a.csv has name, only b.csv has title"),
            (b"name,id,id\nthree,3,3\n", "b.csv has a column more than once"),
            (b"id,name\r\n3,three\r\n", "b.csv cannot be read as a.csv is: Line 1 ends with CR LF"),
            ("id,name\n3,drei\n".encode("utf-16"), "different encodings: a.csv utf-8, b.csv utf-16"),
        ],
    )
    def test_files_are_refused_with_both_names_and_the_difference(self, second, difference, database, tmp_path):
        names = written(tmp_path, {"a.csv": FILES["a.csv"], "b.csv": second})
        with pytest.raises(FilesDiffer, match=difference) as refused:
            planned(names, database, fillings=())
        assert refused.value.where.startswith("a.csv and b.csv")
        assert ImportJob.objects.count() == 0

    @pytest.mark.parametrize("packed", [False, True])
    def test_an_encoding_that_only_one_has_is_refused(self, packed, database, tmp_path):
        files = {"a.csv": "id,name\n1,Müller\n".encode("cp1252"), "b.csv": b"id,name\n2,ASCII\n"}
        other = {"c.csv": "id,name\n3,Müller\n".encode()}
        target, request = target_with(database, TABLE), ImportRequest(known_format={"encoding": "cp1252"})
        prepare(resolve_sources(written(tmp_path, files, packed=packed)), target, "t", request)
        names = written(tmp_path, files | other, packed=packed)
        with pytest.raises(FilesDiffer, match=r"different encodings: a\.csv cp1252, c\.csv utf-8"):
            prepare(resolve_sources(names), target, "t", request)

    def test_widths_without_a_header_are_refused(self, database, tmp_path):
        names = written(tmp_path, {"a.csv": b"1,one\n2,two\n", "b.csv": b"3,three,3\n"})
        target = target_with(database, "CREATE TABLE t (id INT, name VARCHAR(9))")
        with pytest.raises(FilesDiffer, match=r"different numbers of fields: a\.csv 2, b\.csv 3"):
            prepare(resolve_sources(names), target, "t", ImportRequest(known_format={"header": False}))

    @pytest.mark.parametrize(
        ("first", "second", "difference"),
        [
            ("1,one\n2,two\n", "name,id\n3,three\n", "has a header, and .* has no header: name,id"),
            ("Report\n1,one\n2,two\n", "3,three\n4,four\n", "has 1 line to leave out above the first record: 3,three"),
        ],
    )
    def test_lines_that_only_one_of_files_without_a_header_has(self, first, second, difference, database, tmp_path):
        names = written(tmp_path, {"a.csv": first.encode(), "b.csv": second.encode()})
        target = target_with(database, "CREATE TABLE t (id INT, name VARCHAR(9))")
        known = {"header": False, "skip_rows": int(first.startswith("Report"))}
        with pytest.raises(FilesDiffer, match=difference):
            prepare(resolve_sources(names), target, "t", ImportRequest(known_format=known))

    @pytest.mark.parametrize(
        ("first", "second", "difference"),
        [
            (
                "1,one\n2,two\nTotal,2",
                "3,three\n4,four",
                "has no lines of a footer, and .* has 1 line of a footer: 4,four",
            ),
            ("1,one\n2,two\nTotal,2", "3,three", "has no lines of a footer, and .* has 1 line of a footer: 3,three"),
            ("1,one\n2,two\n", "3,three\nTotal,1", "has 1 line of a footer, and .* has no lines of a footer: Total,1"),
            (
                "1,one\nTotal,1",
                "2,two\n\nTotal,1\nby Ann",
                "has 2 lines of a footer, and .* has 1 line of a footer: Total,1 / by Ann",
            ),
            ("[-],[text]\n1,one\n", "2,two\n3,three\n", "has 1 line of units below the header: 2,two"),
            ("1,one\n2,two\n", "[-],[text]\n3,three\n", r"has 1 line of units below the header, .*: \[-\],\[text\]"),
        ],
    )
    @pytest.mark.parametrize("packed", [False, True])
    def test_lines_that_only_one_has_are_refused(self, first, second, difference, packed, database, tmp_path):
        files = {name: f"id,name\n{rows}".encode() for name, rows in (("a.csv", first), ("b.csv", second))}
        sources = resolve_sources(written(tmp_path, files, packed=packed))
        target = target_with(database, "CREATE TABLE t (id INT, name VARCHAR(9))")
        with pytest.raises(FilesDiffer, match=difference):
            prepare(sources, target, "t", ImportRequest(accept_guesses=True))

    def test_dumps_whose_times_are_in_two_zones_are_refused(self, database, tmp_path):
        dump = "SET time_zone = '+00:00';\nINSERT INTO t (id) VALUES (1);"
        files = {"a.sql": dump.encode(), "b.sql": dump.replace("SET", "-- SET").encode()}
        target = target_with(database, "CREATE TABLE t (id INT)")
        with pytest.raises(FilesDiffer, match=r"differ in time zone: a\.sql \+00:00, b\.sql none"):
            prepare(resolve_sources(written(tmp_path, files)), target, "t", ImportRequest())

    def test_one_file_twice_is_refused(self, database, tmp_path):
        names = written(tmp_path, {"a.csv": FILES["a.csv"]})
        with pytest.raises(SourceProblem, match="named twice"):
            planned([*names, *names], database)

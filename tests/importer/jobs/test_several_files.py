"""Several files as one import: one equation, each row from its own file and line."""

import gzip
import html
import io
import re
from collections.abc import Sequence
from datetime import timedelta
from itertools import islice
from pathlib import Path

import pytest
from django.db import connection as own_connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from importer.connections.by_hand.resolve import resolve_sources
from importer.engine.errors import Problem
from importer.engine.mapping.columns import GeneratedColumn
from importer.engine.mysql.connection import Address, connect, execute, fetch_all
from importer.engine.plan.options import Options
from importer.jobs import report
from importer.jobs.actions import commands
from importer.jobs.actions.again import create_once, is_file_there, newest_of_file, run_again
from importer.jobs.record import write_record
from importer.jobs.rejects import downloads
from importer.models import ImportJob, RetentionPolicy
from importer.preparation.joined_files import FilesDiffer
from importer.preparation.prepare import PreparedImport, prepare
from importer.preparation.request import ImportRequest, NewTableRequest
from importer.retention import ended_jobs
from importer.retention.files import remove_by_hand
from importer.sources import parts, uploads
from importer.sources.several import as_one
from scripts.flights import TABLE as TABLE_OF_FLIGHTS
from scripts.flights import flights_file
from tests.importer.steps import run
from tests.people import admin
from tests.stack import ROOT
from tests.targets import on_one_server, saved_target, target_with

pytestmark = pytest.mark.usefixtures("no_workers", "plain_dir", "transactional_db")
TABLE = "CREATE TABLE t (id INT PRIMARY KEY, name VARCHAR(12), file VARCHAR(40), line INT)"
FLIGHTS = 6_000  # of 336,776
WHERE = (GeneratedColumn("file", "file"), GeneratedColumn("line", "line"))
# Without a last line end, with a byte order mark and the end of file of DOS, of the header alone, with a blank end.
FILES = {
    "a.csv": b"id,name\n1,one\n2,two",
    "b.csv": b"\xef\xbb\xbfid,name\n3,three\n4,four\n5,five\x1a",
    "c.csv": b"id,name\n",
    "d.csv": b'id,name\n6,"si\nx"\n7,seven\n\n',
}
ROWS = [
    *((1, "one", "a.csv", 2), (2, "two", "a.csv", 3), (3, "three", "b.csv", 2), (4, "four", "b.csv", 3)),
    *((5, "five", "b.csv", 4), (6, "si\nx", "d.csv", 2), (7, "seven", "d.csv", 4)),
]


def written(folder: Path, files: dict[str, bytes], *, packed: bool = False) -> list[str]:
    for name, data in files.items():
        (folder / name).write_bytes(gzip.compress(data) if packed else data)
    return [str(folder / name) for name in files]


def planned(names: Sequence[str], address: Address, options: Options | None = None, fillings=WHERE) -> PreparedImport:
    target = target_with(address, TABLE)
    return prepare(resolve_sources(names), target, "t", ImportRequest(options=options, fillings=fillings))


def loaded(address: Address) -> list[tuple]:
    with connect(address) as connection:
        return fetch_all(connection, "SELECT id, name, file, line FROM t ORDER BY id")


def imported(prepared: PreparedImport) -> ImportJob:
    return run(commands.create(prepared))


def test_no_row_of_a_file_is_in_if_an_import_that_stages_failed(database, tmp_path):
    files = {"a.csv": b"id,name\n1,one\n", "b.csv": b"id,name\n1,two\n"}
    job = imported(planned(written(tmp_path, files), database, Options(mode="atomic")))
    assert (job.status, loaded(database)) == ("failed", [])
    assert job.chunks.filter(status="loaded").exists()
    rows = [each["rows"] for each in report.report(job)["files"]]
    assert [(each["source"], each["taken"], each["missing"]) for each in rows] == [(1, 0, 1), (1, 0, 1)]


@pytest.mark.parametrize(
    ("mode", "packed", "chunk_rows"), [("append", False, None), ("append", True, 2), ("replace", False, 1)]
)
def test_every_row_is_in_with_its_own_file_and_line(mode, packed, chunk_rows, database, tmp_path):
    names = written(tmp_path, FILES, packed=packed)
    job = imported(planned(names, database, Options(mode=mode, commit_rows=chunk_rows)))
    assert (job.status, job.balanced, job.scanned_rows) == ("succeeded", True, 7), job.problem
    assert loaded(database) == ROWS
    assert job.skipped_lines.counts == {"header": 4, "blank": 1}
    assert set(job.chunks.values_list("file", flat=True)) == {0, 1, 3}


@pytest.mark.parametrize("packed", [False, True])
@on_one_server
def test_columns_in_another_order_are_found_by_their_names(packed, database, tmp_path):
    moved = b'Name,id\n"th,\nree",3\nfour,x\n"a ""b""",5\n'
    names = written(tmp_path, {"a.csv": FILES["a.csv"], "b.csv": moved, "c.csv": b"id,name\n6,six"}, packed=packed)
    prepared = planned(names, database, Options(on_error="reject"))
    assert "Columns of b.csv are put into the order of a.csv" in [each.choice for each in prepared.plan.reasons]
    job = imported(prepared)
    assert (job.status, job.balanced, job.scanned_rows, job.rejected_rows) == ("succeeded", True, 6, 1), job.problem
    assert loaded(database) == [
        *((1, "one", "a.csv", 2), (2, "two", "a.csv", 3), (3, "th,\nree", "b.csv", 2), (5, 'a "b"', "b.csv", 5)),
        (6, "six", "c.csv", 2),
    ]
    (row,) = downloads.first_rows(job, 9)
    assert (row.line, row.file, row.byte_offset) == (4, "b.csv", moved.index(b"four"))
    assert b"".join(downloads.reject_file(job)) == b"id,name\nx,four\n"


@on_one_server
def test_a_footer_of_each_file_is_left_out(database, tmp_path):
    rows = ("1,one\n2,two\n\nTotal,2", "Total,0", "3,three\n4,four\nTotal,1\n\n")
    files = {f"{number}.csv": f"id,name\n{each}".encode() for number, each in enumerate(rows)}
    target = target_with(database, "CREATE TABLE t (id INT, name VARCHAR(9))")
    sources = resolve_sources(written(tmp_path, files))
    job = imported(prepare(sources, target, "t", ImportRequest(known_format={"skip_footer": 1})))
    assert (job.status, job.scanned_rows) == ("succeeded", 4), job.problem
    assert job.skipped_lines.counts["footer"] == 3


@on_one_server
def test_last_lines_that_are_stated_to_be_rows_are_loaded_of_each_file(database, tmp_path):
    names = written(tmp_path, {"a.csv": b"id,name\n1,one\n", "b.csv": b"id,name\n2,two\nTotal,1"})
    target = target_with(database, "CREATE TABLE t (id VARCHAR(9), name VARCHAR(9))")
    job = imported(prepare(resolve_sources(names), target, "t", ImportRequest(known_format={"skip_footer": 0})))
    assert (job.status, job.scanned_rows) == ("succeeded", 3), job.problem


@on_one_server
def test_a_row_that_the_order_of_the_first_file_would_change_stops_the_import(database, tmp_path):
    files = {"a.csv": b"id,name\n# by x\n1,one\n", "b.csv": b"name,id\ntwo,2\nthree,#3\n"}
    job = imported(planned(written(tmp_path, files), database))
    assert (job.status, job.problem["where"]) == ("failed", "b.csv, line 3"), job.problem
    assert "'three,#3' cannot be put into the order of the first file" in job.problem["what"]
    assert loaded(database) == []


@on_one_server
class TestBadRows:
    FILES = {"a.csv": b"id,name\n1,one\n", "b.csv": b"id,name\n2,two\nx,three\n4,four\n"}

    def test_stop_the_import_with_file_and_line(self, database, tmp_path):
        job = imported(planned(written(tmp_path, self.FILES), database))
        assert (job.status, job.problem["where"]) == ("failed", "b.csv, line 3, column id"), job.problem

    def test_are_left_out_with_their_file(self, database, tmp_path, client):
        job = imported(planned(written(tmp_path, self.FILES), database, Options(on_error="reject")))
        assert (job.status, job.rejected_rows) == ("succeeded", 1), job.problem
        assert [row[0] for row in loaded(database)] == [1, 2, 4]
        lines = b"".join(downloads.reasons_file(job)).decode().splitlines()
        assert [lines[0].split(",")[-1], lines[1].split(",")[:3], lines[1].split(",")[-1]] == [
            "file",
            ["3", "14", "id"],
            "b.csv",
        ]
        (row,) = downloads.first_rows(job, 9)
        assert (row.line, row.byte_offset, row.file) == (3, 14, "b.csv")
        assert b"".join(downloads.reject_file(job)) == b"id,name\nx,three\n"
        client.force_login(admin("ada"))
        page = " ".join(html.unescape(client.get(f"/jobs/{job.pk}/").content.decode()).split())
        assert re.search(r'b\.csv</th><td class="number">3</td><td class="number">2</td>', page)
        assert re.search(r"b\.csv</span> 3</td>", page)

    def test_are_counted_for_each_file_also_without_the_chunks(self, database, tmp_path):
        job = imported(planned(written(tmp_path, self.FILES), database, Options(on_error="reject")))
        a, b = {"source": 1, "taken": 1, "rejected": 0}, {"source": 3, "taken": 2, "rejected": 1}
        rest = {"skipped": 0, "missing": 0}
        expected = [{"name": "a.csv", "rows": a | rest}, {"name": "b.csv", "rows": b | rest}]
        assert report.report(job)["files"] == expected
        write_record(job.pk)
        for policy in ("retry", "rejects", "chunks"):
            RetentionPolicy.objects.update_or_create(name=policy, defaults={"days": 0})
        assert ended_jobs.remove_chunks(timezone.now() + timedelta(days=1), 9) == 1
        assert report.report(ImportJob.objects.get(pk=job.pk))["files"] == expected

    def test_that_cannot_be_read_are_named_with_their_file(self, database, tmp_path):
        files = {**self.FILES, "c.csv": b'id,name\n5,"fi"ve\n'}
        job = imported(planned(written(tmp_path, files), database))
        assert (job.status, job.problem["where"]) == ("failed", "c.csv, line 2"), job.problem


@on_one_server
@pytest.mark.parametrize("other", [FILES["b.csv"][:20], FILES["b.csv"].replace(b"four", b"five")])
@pytest.mark.parametrize("packed", [False, True])
def test_a_file_that_has_changed_fails_by_its_name(packed, other, database, tmp_path):
    job = commands.create(planned(written(tmp_path, FILES, packed=packed), database))
    written(tmp_path, {"b.csv": other}, packed=packed)
    job = run(job)
    assert (job.status, job.problem["kind"], job.problem["where"]) == ("failed", "SourceChanged", "b.csv")


@on_one_server
def test_types_of_a_new_table_hold_all_files(database, tmp_path):
    names = written(tmp_path, {"a.csv": b"id,name\n1,one\n", "b.csv": b"id,name\n300000,a very long name indeed\n"})
    target = target_with(database)
    request = ImportRequest(options=Options(mode="create"), accept_guesses=True)
    job = imported(prepare(resolve_sources(names), target, "n", request))
    assert (job.status, job.balanced) == ("succeeded", True), job.problem
    with connect(database) as connection:
        assert fetch_all(connection, "SELECT id, name FROM n ORDER BY id")[1] == (300000, "a very long name indeed")


@on_one_server
class TestFilledColumns:
    FILES = {"a.csv": b"id,name\n1,one\n", "b.csv": b"id,name\n2,two\n3,three\n"}

    def prepared(self, database, tmp_path, *fillings: GeneratedColumn, **types: str) -> PreparedImport:
        names = written(tmp_path, self.FILES)
        new = NewTableRequest(types, ("id",))
        request = ImportRequest(options=Options(mode="create"), fillings=fillings, new_table=new)
        return prepare(resolve_sources(names), target_with(database), "n", request)

    def test_are_in_a_new_table(self, database, tmp_path):
        fillings = (GeneratedColumn("source", "file"), GeneratedColumn("at", "line"), GeneratedColumn("v", "text", "x"))
        job = imported(self.prepared(database, tmp_path, *fillings, source="varchar(9)"))
        assert (job.status, job.balanced) == ("succeeded", True), job.problem
        with connect(database) as connection:
            rows = fetch_all(connection, "SELECT * FROM n ORDER BY id")
            assert rows == [(1, "one", "a.csv", 2, "x"), (2, "two", "b.csv", 2, "x"), (3, "three", "b.csv", 3, "x")]
            assert "`source` varchar(9)" in fetch_all(connection, "SHOW CREATE TABLE n")[0][1]
            execute(connection, "DELETE FROM n")
        # Run again, the columns are filled again.
        again = run(run_again(job, newest_of_file(job)))
        assert (again.status, again.balanced) == ("succeeded", True), again.problem

    def test_with_the_name_of_a_field_are_refused(self, database, tmp_path):
        with pytest.raises(Problem, match="two columns named Name: one is for a field"):
            self.prepared(database, tmp_path, GeneratedColumn("Name", "file"))


@on_one_server
class TestJsonLines:
    FILES = {
        "a.jsonl": b'{"id": 1, "name": "one"}\n{"id": 2, "name": "two"}\n',
        "b.jsonl": b'{"id": 3, "name": null}\n\n{"id": 4, "name": "a name that is too long"}\n',
        "c.jsonl": b'{"id": 5, "name": "five"}',
    }

    @pytest.mark.parametrize("packed", [False, True])
    def test_rows_have_their_own_file_and_line(self, packed, database, tmp_path):
        names = written(tmp_path, self.FILES, packed=packed)
        job = imported(planned(names, database, Options(on_error="reject")))
        assert (job.status, job.balanced, job.rejected_rows) == ("succeeded", True, 1), job.problem
        assert loaded(database) == [
            *((1, "one", "a.jsonl", 1), (2, "two", "a.jsonl", 2), (3, None, "b.jsonl", 1), (5, "five", "c.jsonl", 1))
        ]
        (row,) = downloads.first_rows(job, 9)
        assert (row.line, row.file) == (3, "b.jsonl")

    def test_types_of_a_new_table_hold_all_files(self, database, tmp_path):
        names = written(tmp_path, self.FILES)
        request = ImportRequest(options=Options(mode="create"), accept_guesses=True)
        job = imported(prepare(resolve_sources(names), target_with(database), "n", request))
        assert (job.status, job.balanced, job.loaded_rows) == ("succeeded", True, 5), job.problem

    @pytest.mark.parametrize("name", ["Name", "title"])
    def test_other_keys_are_refused(self, name, database, tmp_path):
        other = b'{"id": 9, "%s": "x"}\n' % name.encode()
        names = written(tmp_path, {"a.jsonl": self.FILES["a.jsonl"], "b.jsonl": other})
        with pytest.raises(FilesDiffer, match=f"only b.jsonl has {name}"):
            planned(names, database, fillings=())


@on_one_server
class TestFiles:
    @pytest.fixture
    def job(self, database, tmp_path, settings) -> ImportJob:
        settings.UPLOAD_DIR = tmp_path / "uploads"
        uploaded = []
        for name in ("a.csv", "b.csv"):
            source = uploads.begin_upload(name, len(FILES[name]), None)
            parts.append(source, 0, io.BytesIO(FILES[name]), source.size)
            uploaded.append(uploads.finish(source))
        request = ImportRequest(fillings=WHERE)
        return imported(prepare(as_one(uploaded), target_with(database, TABLE), "t", request))

    def test_stay_while_an_import_of_them_does(self, job):
        assert job.balanced
        first, _ = job.source.files
        with pytest.raises(uploads.SourceInUse, match="1 import"):
            uploads.remove(first)
        assert first not in uploads.not_imported(admin("ada"))

    def test_are_imported_again_as_one(self, job, database):
        with connect(database) as connection:
            execute(connection, "DELETE FROM t")
        again = run(run_again(job, newest_of_file(job)))
        assert (again.status, again.balanced, again.source) == ("succeeded", True, job.source), again.problem

    def test_that_are_deleted_make_a_retry_impossible(self, job):
        remove_by_hand(job.source.files[1])
        job.refresh_from_db()
        assert job.source.is_removed
        assert not is_file_there(job)


@on_one_server
def test_each_file_is_locked_before_its_imports_are_looked_for(database, tmp_path):
    prepared = planned(written(tmp_path, FILES), database)
    with CaptureQueriesContext(own_connection) as captured:
        create_once(prepared, None)
    statements = [each["sql"] for each in captured]
    looked = next(number for number, sql in enumerate(statements) if 'FROM "importer_importjob"' in sql)
    keys = ", ".join(str(each.pk) for each in (prepared.source, *prepared.source.files))
    locked = f'FROM "importer_sourcefile" WHERE "importer_sourcefile"."id" IN ({keys}) ORDER BY'
    assert any(locked in sql for sql in statements[:looked]), statements


def test_a_retry_loads_what_is_missing(database, tmp_path):
    names = written(tmp_path, {"a.csv": FILES["a.csv"], "b.csv": b"id,name\n3,a name that is too long\n"})
    job = imported(planned(names, database))
    assert (job.status, [row[0] for row in loaded(database)]) == ("failed", [1, 2])
    with connect(database) as connection:
        execute(connection, "ALTER TABLE t MODIFY name VARCHAR(40)")
    commands.retry(job.pk)
    job = run(ImportJob.objects.get(pk=job.pk))
    assert (job.status, job.balanced, job.loaded_rows) == ("succeeded", True, 3), job.problem


@pytest.mark.parametrize("packed", [False, True])
def test_twelve_files_give_the_checksum_of_the_whole(packed, database, tmp_path):
    with flights_file(ROOT / "var" / "demo").open("rb") as file:
        header, *rows = islice(file, FLIGHTS + 1)
    share = -(-len(rows) // 12)
    files = {f"2013-{number + 1:02}.csv": rows[number * share :][:share] for number in range(12)}
    written(tmp_path, {name: header + b"".join(part) for name, part in files.items()}, packed=packed)
    (tmp_path / "whole.csv").write_bytes(header + b"".join(rows))
    checksums = []
    for name in ("whole.csv", "2013-*.csv"):
        with connect(database) as connection:
            execute(connection, "DROP TABLE IF EXISTS flights")
            execute(connection, TABLE_OF_FLIGHTS)
        target = saved_target(database, name=name.split(".")[0].strip("-*"))
        job = imported(prepare(resolve_sources([f"{tmp_path}/{name}"]), target, "flights", ImportRequest()))
        assert (job.status, job.balanced, job.loaded_rows) == ("succeeded", True, len(rows)), job.problem
        with connect(database) as connection:
            checksums.append(fetch_all(connection, "CHECKSUM TABLE flights")[0][1])
    assert checksums[0] == checksums[1]
    assert [each["rows"]["taken"] for each in report.report(job)["files"]] == list(map(len, files.values()))

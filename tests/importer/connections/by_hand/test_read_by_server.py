"""LOAD DATA INFILE: the server reads the file on its host, and every row is accounted for as with any other method."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from importer.connections.by_hand import read_by_server
from importer.engine.errors import SourceProblem, TargetProblem
from importer.engine.load import loader
from importer.engine.mapping.columns import GeneratedColumn
from importer.engine.mysql.connection import Address
from importer.engine.plan.options import Options
from importer.engine.plan.server_file import LONGEST_SILENCE
from importer.jobs import report
from importer.jobs.actions import commands
from importer.jobs.rejects import downloads
from importer.models import ImportJob, Target
from importer.preparation.plan_sql import plan_sql
from importer.preparation.prepare import ImportRequest, PreparedImport, prepare
from importer.sources import uploads
from tests.engine.loads import account_with, inserted_at_each_begin, rows_of, run_sql
from tests.importer.steps import run
from tests.server_folder import file_for, largest_packet
from tests.targets import on_one_server, saved_target, target_with

pytestmark = [pytest.mark.usefixtures("no_workers", "plain_dir", "transactional_db"), pytest.mark.both_servers]
TABLE = "CREATE TABLE t (id INT PRIMARY KEY, word VARCHAR(12) CHARACTER SET utf8mb4, n INT)"
ITSELF = Options(method="load_data_infile")
FILE = '\ufeffid,word,n\n1,"a ""b""",10\n2,NULL,\n3,"si\nx",-3\n4,žluť,4\n'.encode()
ROWS = [(1, 'a "b"', 10), (2, "NULL", None), (3, "si\nx", -3), (4, "žluť", 4)]


@pytest.fixture
def there(database: Address, tmp_path: Path) -> Iterator[Path]:
    path = file_for(database, tmp_path, FILE)
    yield path
    path.unlink()


def planned(path: Path, address: Address, options: Options = ITSELF, **more) -> PreparedImport:
    if not Target.objects.exists():
        target_with(address, TABLE)
    return prepare(uploads.register(path), Target.objects.get(), "t", ImportRequest(options=options, **more))


def received(address: Address) -> int:
    """The bytes that clients have sent to the server."""
    return int(rows_of(address, "SHOW GLOBAL STATUS LIKE 'Bytes_received'")[0][1])


@pytest.mark.parametrize(
    "options", [ITSELF, replace(ITSELF, mode="replace"), replace(ITSELF, verify="full"), replace(ITSELF, mode="upsert")]
)
def test_every_row_arrives_as_it_is_in_the_file(options, there, database):
    job = run(commands.create(planned(there, database, options)))
    assert (job.status, job.balanced, job.scanned_rows, job.chunks.count()) == ("succeeded", True, 4, 1), job.problem
    assert rows_of(database, "SELECT * FROM t ORDER BY id") == ROWS
    assert job.plan.statements.method == "load_data_infile"
    assert report.report(job)["plan"]["method"] == "load_data_infile"


def test_rows_that_the_server_numbers_are_found_when_the_load_begins_again(database, tmp_path, monkeypatch):
    """A bad row ends the load of the whole file, and others insert before and after it begins in pieces."""
    path = file_for(database, tmp_path, b"word\na\nfar too long for it\nb\n")
    target_with(database, "CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, word TEXT, CHECK (LENGTH(word) < 9))")
    begun = inserted_at_each_begin(monkeypatch, database, "INSERT INTO t (word) VALUES ('other')")
    options = replace(ITSELF, verify="full", on_error="reject")
    job = run(commands.create(planned(path, database, options)))
    assert (job.balanced, job.loaded_rows, begun) == (True, 2, [1, 1]), job.problem
    assert sorted(rows_of(database, "SELECT word FROM t")) == [("a",), ("b",), ("other",), ("other",)]
    path.unlink()


def test_no_byte_of_the_file_is_sent(database, tmp_path):
    path = file_for(database, tmp_path, b"id,word,n\n" + b"".join(b"%d,word %d,5\n" % (n, n) for n in range(20_000)))
    job = commands.create(planned(path, database, replace(ITSELF, on_error="reject")))
    before = received(database)
    job = run(job)
    assert received(database) - before < path.stat().st_size / 4
    assert (job.balanced, job.loaded_rows) == (True, 20_000), job.problem
    path.unlink()


def test_neither_side_ends_the_session_while_a_large_file_is_read(there, database, monkeypatch):
    """The server sends nothing during the statement, and this process sends nothing while it reads the file."""
    waits = []
    connect_loader = loader.connect_loader

    def noted(address, read_timeout, session):
        waits.append((read_timeout, session["wait_timeout"]))
        return connect_loader(address, read_timeout, session)

    monkeypatch.setattr(loader, "connect_loader", noted)
    assert run(commands.create(planned(there, database))).balanced
    assert waits == [(LONGEST_SILENCE, LONGEST_SILENCE)]


def test_the_plan_shows_what_the_server_runs(there, database):
    prepared = planned(there, database)
    (whole, statement), *faster, (fed, sent) = plan_sql(prepared.plan)
    assert statement.startswith(f"LOAD DATA INFILE '{there}' IGNORE INTO TABLE ")
    assert " IGNORE 1 LINES\n" in statement
    assert whole.startswith("The whole file")
    assert all(" IGNORE 1 LINES\n" in each for _, each in faster)
    assert (fed, "IGNORE 1 LINES" in sent) == ("If rows are left out: the others are sent", False)
    words = " ".join(f"{each.choice} {each.why}" for each in prepared.plan.reasons)
    assert "same SHA-256 there as here" in words


class TestBadRows:
    DATA = b"id,word,n\n1,one,1\n\n2,two,x\n3,three,3\n3,again,3\n4,much too long a word,4\n5,five,5\n"

    @pytest.fixture
    def there(self, database, tmp_path) -> Iterator[Path]:
        path = file_for(database, tmp_path, self.DATA)
        yield path
        path.unlink()

    def test_are_left_out_by_line(self, there, database):
        job = run(commands.create(planned(there, database, replace(ITSELF, on_error="reject"))))
        assert (job.status, job.balanced, job.loaded_rows, job.rejected_rows) == ("succeeded", True, 3, 3), job.problem
        assert [row[0] for row in rows_of(database, "SELECT id FROM t ORDER BY id")] == [1, 3, 5]
        assert [row.line for row in downloads.first_rows(job, 9)] == [4, 6, 7]
        assert job.skipped_lines.counts == {"header": 1, "blank": 1}

    def test_stop_the_import_with_the_line(self, there, database):
        job = run(commands.create(planned(there, database)))
        assert (job.status, rows_of(database)) == ("failed", [])
        assert "line 4, column n" in job.problem["where"]

    def test_that_only_the_server_finds_are_left_out_by_line(self, database, tmp_path):
        path = file_for(database, tmp_path, b"id,word,n\n1,one,1\n2,two,2\n1,one again,3\n")
        job = run(commands.create(planned(path, database, replace(ITSELF, on_error="reject"))))
        assert (job.balanced, job.loaded_rows, job.rejected_rows) == (True, 2, 1), job.problem
        assert [row.line for row in downloads.first_rows(job, 9)] == [4]
        path.unlink()


def test_a_file_that_changes_after_its_plan_is_not_loaded(there, database):
    job = commands.create(planned(there, database))
    job = run_scan_then(job, lambda: there.write_bytes(FILE.replace(b"-3", b"-4")))
    assert (job.status, job.problem["kind"], rows_of(database)) == ("failed", "SourceChanged", [])


def run_scan_then(job: ImportJob, change) -> ImportJob:
    """Scan the file, change it, and take the other steps."""
    from tests.importer.steps import advance, queued, take

    advance(job)
    for step in queued(job):
        take(step)
    change()
    return run(ImportJob.objects.get(pk=job.pk))


class TestRefusals:
    def test_an_account_without_the_privilege(self, there, database):
        run_sql(database, TABLE)
        with account_with(database, "SELECT, INSERT, CREATE") as few:
            target = saved_target(few)
            with pytest.raises(TargetProblem, match="GRANT FILE"):
                prepare(uploads.register(there), target, "t", ImportRequest(options=ITSELF))

    # MySQL reads what its account may read, and root may read everything.
    @on_one_server
    def test_a_file_that_the_server_may_not_read(self, there, database):
        there.chmod(0o600)
        with pytest.raises(TargetProblem, match="does not find the file, or may not read it"):
            planned(there, database)

    def test_a_file_elsewhere_than_the_server_allows(self, database, tmp_path):
        path = tmp_path / "elsewhere.csv"
        path.write_bytes(FILE)
        allowed = rows_of(database, "SELECT @@secure_file_priv")[0][0]
        if not allowed:
            assert planned(path, database).plan.statements.server_file.path == str(path)
            return
        with pytest.raises(TargetProblem, match=f"loads files from {allowed} only"):
            planned(path, database)

    @pytest.mark.parametrize(
        ("change", "said"),
        [
            ({"options": replace(ITSELF, on_duplicate="skip")}, "does not say which rows it skips"),
            ({"options": replace(ITSELF, commit_rows=2)}, "a commit after some rows"),
            ({"fillings": (GeneratedColumn("n", "line"),), "overrides": ()}, "the number of the row or line"),
            ({"known_format": {"skip_footer": 1}}, "lines below the first record are left out"),
            ({"known_format": {"line_end": "\n", "encoding": "cp1252"}}, "cp1252, which is converted on the way"),
        ],
    )
    @on_one_server
    def test_what_needs_rows_that_are_sent(self, change, said, database, tmp_path):
        path = file_for(database, tmp_path, b"id,word\n1,one\n2,two\n")
        with pytest.raises(Exception, match=said):
            planned(path, database, change.pop("options", ITSELF), **change, accept_guesses=True)

    @on_one_server
    def test_a_byte_order_mark_before_the_first_row(self, database, tmp_path):
        path = file_for(database, tmp_path, b"\xef\xbb\xbf1,one,1\n2,two,2\n")
        with pytest.raises(SourceProblem, match="behind a byte order mark"):
            planned(path, database, known_format={"header": False})

    @on_one_server
    def test_a_packed_file(self, database, tmp_path):
        import gzip

        path = file_for(database, tmp_path, gzip.compress(FILE))
        with pytest.raises(SourceProblem, match="packed, or of another format"):
            planned(path, database)


def test_a_file_that_is_larger_than_the_server_shows(database, tmp_path, monkeypatch):
    data = b"id,word,n\n" + b"".join(b"%d,word,5\n" % n for n in range(9_000))
    path = file_for(database, tmp_path, data)
    with largest_packet(database, 65_536):
        job = run(commands.create(planned(path, database)))
        assert (job.status, job.balanced, job.loaded_rows) == ("succeeded", True, 9_000), job.problem
        assert job.plan.statements.server_file.digest == ""
        # As if the server ran on another machine: its host has another name.
        monkeypatch.setattr(read_by_server.server_files.socket, "gethostname", lambda: "elsewhere")
        with pytest.raises(TargetProblem, match="cannot be determined"):
            planned(path, database)
        assert planned(path, database, replace(ITSELF, verify="full")).plan.statements.server_file
    path.unlink()

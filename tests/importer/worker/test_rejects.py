"""Imports that reject bad rows, on real servers, with each step taken in this process."""

import csv
import gzip
import os
import uuid
from functools import partial
from pathlib import Path

import pytest

from importer.engine.errors import Problem
from importer.engine.load import ledger
from importer.engine.load.chunk_load import LoadCallbacks
from importer.engine.load.loader import load_chunk
from importer.engine.mysql.connection import connect, execute, fetch_all
from importer.engine.plan.options import Options
from importer.engine.source.profile.profile import profile_file
from importer.jobs import lifecycle
from importer.jobs.actions import commands
from importer.jobs.rejects import downloads
from importer.jobs.steps.chunk_leases import ChunkRun, claim_run
from importer.models import Chunk, ImportJob, Target
from importer.preparation.prepare import ImportRequest, prepare
from importer.sources import uploads
from importer.worker import load_chunks
from tests.importer import steps
from tests.importer.steps import import_of, queued, run, take

pytestmark = pytest.mark.usefixtures("no_workers")

ROWS = 3000
Status = ImportJob.Status
created = partial(steps.created, on_error="reject")
# What stands in the file instead of a good row, by n; the row of n is on line n + 2.
BAD = {
    150: "150,a word that is much too long for its column,2024-01-01",
    151: "151,word 151,2024-02-31",
    1500: "99999999999,word 1500,2024-01-01",
    1501: "1501,word 1501",
    2998: "x998,word 2998,2024-01-01",
}


@pytest.fixture(autouse=True)
def rejects_dir(settings, tmp_path):
    settings.REJECTS_DIR = tmp_path / "rejects"


TABLES = ("CREATE TABLE t (n INT PRIMARY KEY, word VARCHAR(20), at DATE)",)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return written(tmp_path / "words.csv", (BAD.get(n, good(n)) for n in range(ROWS)))


def good(n: int, word: str = "word") -> str:
    return f"{n},{word} {n},2024-01-{n % 28 + 1:02}"


def written(path: Path, rows) -> Path:
    path.write_text("n,word,at\n" + "".join(f"{row}\n" for row in rows))
    return path


def on(target: Target, sql: str) -> list:
    with connect(target.address) as connection:
        if sql.startswith("SELECT"):
            return fetch_all(connection, sql)
        execute(connection, sql)
        return []


def keys(target: Target) -> set[int]:
    return {n for (n,) in on(target, "SELECT n FROM t")}


def reject_file(job: ImportJob) -> str:
    return b"".join(downloads.reject_file(job)).decode()


def explained(job: ImportJob) -> list[dict[str, str]]:
    return list(csv.DictReader(b"".join(downloads.reasons_file(job)).decode().splitlines()))


def test_bad_rows_of_every_kind_are_left_out_and_all_others_are_in(target: Target, file: Path):
    job = run(created(target, file))
    assert (job.status, job.balanced, job.problem) == (Status.SUCCEEDED, True, {})
    assert (job.loaded_rows, job.rejected_rows, job.scanned_rows) == (ROWS - len(BAD), len(BAD), ROWS)
    assert keys(target) == set(range(ROWS)) - set(BAD)
    assert reject_file(job) == "n,word,at\n" + "".join(f"{row}\n" for row in BAD.values())
    assert [int(row["line"]) for row in explained(job)] == [n + 2 for n in BAD]
    assert [row["column"] for row in explained(job)] == ["word", "at", "n", "", "n"]
    assert sum(kind["rows"] for kind in job.reject_reasons) == len(BAD)
    text = file.read_bytes()
    for row, raw in zip(explained(job), BAD.values(), strict=True):
        assert text[int(row["byte_offset"]) :].startswith(raw.encode())


@pytest.mark.parametrize("mode", ["append", "atomic", "replace", "upsert"])
def test_an_import_whose_rows_are_all_rejected_fails_and_leaves_the_table_alone(
    target: Target, tmp_path: Path, mode: str
):
    on(target, "INSERT INTO t VALUES (7, 'there before', NULL)")
    job = run(created(target, written(tmp_path / "bad.csv", ("x,word,2024-01-01" for _ in range(50))), mode=mode))
    assert (job.status, job.loaded_rows, job.rejected_rows, job.scanned_rows) == (Status.FAILED, 0, 50, 50)
    assert job.problem["kind"] == "AllRowsRejected"
    assert job.problem["what"].startswith(
        "All 50 rows were rejected, so nothing was imported. Most common: 50 rows: n:"
    )
    assert on(target, "SELECT n, word FROM t") == [(7, "there before")]
    assert commands.nothing_is_missing(job) == (mode == "append")
    assert reject_file(job).count("x,word,2024-01-01\n") == 50


def test_a_retry_of_rows_that_are_all_rejected_is_refused_and_the_reject_file_is_not(target: Target, tmp_path: Path):
    job = run(created(target, written(tmp_path / "bad.csv", ["5,a word that is much too long for it,2024-01-01"])))
    with pytest.raises(Problem, match="No row is missing"):
        commands.retry(job.pk)
    on(target, "ALTER TABLE t MODIFY word VARCHAR(60)")
    again = downloads.write_reject_file(job)
    assert again
    assert run(created(target, again)).status == Status.SUCCEEDED
    assert keys(target) == {5}


def test_an_import_with_one_good_row_succeeds(target: Target, tmp_path: Path):
    job = run(created(target, written(tmp_path / "one.csv", ["x,word,2024-01-01", good(1)])))
    assert (job.status, job.loaded_rows, job.rejected_rows) == (Status.SUCCEEDED, 1, 1)


def test_a_file_that_is_loaded_a_second_time_fails_since_all_its_keys_exist(target: Target, tmp_path: Path):
    path = written(tmp_path / "twice.csv", (good(n) for n in range(20)))
    first, second = run(created(target, path)), run(created(target, path))
    assert (first.status, second.status, second.rejected_rows) == (Status.SUCCEEDED, Status.FAILED, 20)
    assert second.problem["kind"] == "AllRowsRejected"
    assert keys(target) == set(range(20))


def test_the_reject_file_loads_unchanged_once_the_table_allows_it(target: Target, file: Path, tmp_path: Path):
    mendable = {n: row for n, row in BAD.items() if n == 150}
    written(file, (mendable.get(n, good(n)) for n in range(ROWS)))
    first = run(created(target, file))
    on(target, "ALTER TABLE t MODIFY word VARCHAR(60)")
    again = downloads.write_reject_file(first)
    assert again
    second = run(created(target, again))
    assert (second.status, second.loaded_rows) == (Status.SUCCEEDED, 1)
    assert keys(target) == set(range(ROWS))


@pytest.mark.parametrize(("limits", "ends"), [
    ({"max_rejects": 4}, Status.FAILED), ({"max_rejects": 5}, Status.SUCCEEDED),
    ({"max_reject_percent": 0.16}, Status.FAILED), ({"max_reject_percent": 0.17}, Status.SUCCEEDED),
])  # fmt: skip
def test_a_limit_is_enforced_and_a_retry_lifts_it(target: Target, file: Path, limits, ends):
    job = run(created(target, file, **limits))
    assert job.status == ends
    if ends == Status.FAILED:
        assert job.problem["kind"] == "TooManyRejects"
        assert len(keys(target)) == job.loaded_rows
        commands.retry(job.pk)
        job = run(job)
    assert (job.status, job.rejected_rows) == (Status.SUCCEEDED, len(BAD))
    assert keys(target) == set(range(ROWS)) - set(BAD)


def test_a_chunk_with_more_than_the_limit_by_itself_is_not_kept(target: Target, file: Path):
    job = run(created(target, file, chunk_bytes=2**20, max_rejects=4))
    assert (job.status, job.problem["kind"]) == (Status.FAILED, "TooManyRejects")
    assert (job.loaded_rows, job.rejected_rows) == (0, 0)
    assert keys(target) == set()


def test_an_import_stopped_by_bad_rows_is_retried_without_them(target: Target, file: Path):
    job = run(created(target, file, on_error="stop"))
    assert (job.status, job.rejected_rows) == (Status.FAILED, 0)
    commands.retry(job.pk, leave_out=True)
    job = run(job)
    assert (job.status, job.rejected_rows) == (Status.SUCCEEDED, len(BAD))
    assert keys(target) == set(range(ROWS)) - set(BAD)
    assert reject_file(job).count("\n") == 1 + len(BAD)


@pytest.mark.parametrize("on_error", ["reject", "stop"])
def test_records_that_cannot_be_read_are_left_out_as_well(target: Target, file: Path, on_error: str):
    stray = {1000: '1000,"a "stray" quote",2024-01-01', 2000: '2000,"no end" of it",2024-01-01'}
    written(file, (stray.get(n, good(n)) for n in range(ROWS)))
    job = run(created(target, file, on_error=on_error))
    if on_error == "stop":
        assert (job.status, job.problem["kind"]) == (Status.FAILED, "RecordUnreadable")
        commands.retry(job.pk, leave_out=True)
        job = run(job)
    assert (job.status, job.rejected_rows) == (Status.SUCCEEDED, len(stray)), job.problem
    assert keys(target) == set(range(ROWS)) - set(stray)
    assert [int(row["line"]) for row in explained(job)] == [n + 2 for n in stray]
    assert reject_file(job) == "n,word,at\n" + "".join(f"{row}\n" for row in stray.values())


def test_skipped_duplicates_are_counted_and_listed(target: Target, file: Path):
    on(target, "INSERT INTO t VALUES (7, 'was here', NULL)")
    written(file, [*(good(n) for n in range(ROWS)), good(2000, "late"), BAD[150]])
    job = run(created(target, file, on_duplicate="skip"))
    assert (job.status, job.skipped_rows, job.rejected_rows) == (Status.SUCCEEDED, 2, 1)
    assert job.parallelism == 1
    assert on(target, "SELECT word FROM t WHERE n IN (7, 2000) ORDER BY n") == [("was here",), ("word 2000",)]
    assert [int(row["line"]) for row in explained(job)] == [9, ROWS + 2, ROWS + 3]
    assert reject_file(job) == f"n,word,at\n{BAD[150]}\n"


def test_the_last_row_in_the_file_replaces_the_others(target: Target, file: Path):
    on(target, "INSERT INTO t VALUES (7, 'was here', NULL)")
    written(file, [*(good(n) for n in range(ROWS)), good(10, "late"), good(2000, "late")])
    job = run(created(target, file, on_duplicate="replace"))
    assert (job.status, job.balanced) == (Status.SUCCEEDED, True)
    assert job.loaded_rows + job.replaced_rows == ROWS + 2
    assert on(target, "SELECT word FROM t WHERE n IN (7, 10, 2000) ORDER BY n") == [
        ("word 7",),
        ("late 10",),
        ("late 2000",),
    ]


class TestKilled:
    """The state after a worker died between two steps; tests/faults kills real workers."""

    def first_run(self, job: ImportJob) -> ChunkRun:
        """The job's first run, claimed as by a worker."""
        take(lifecycle.advance(job.pk)[0])
        step = next(step for step in [*lifecycle.advance(job.pk), *queued(job)] if step.task == "load_run")
        run = claim_run(step.id)
        assert run
        return run

    def give_back(self, chunk: Chunk) -> None:
        Chunk.objects.filter(pk=chunk.pk).update(status=Chunk.Status.PENDING, lease=None)

    def test_a_worker_killed_between_commit_and_record_counts_rejects_once(self, target: Target, file: Path):
        job = created(target, file, chunk_bytes=2**20)
        run_of_one = self.first_run(job)
        load_chunk(load_chunks._first_load(run_of_one), LoadCallbacks())
        assert len(keys(target)) == ROWS - len(BAD)
        self.give_back(run_of_one.chunks[0])
        job = run(job)
        assert (job.status, job.rejected_rows, job.loaded_rows) == (Status.SUCCEEDED, len(BAD), ROWS - len(BAD))
        assert sum(kind["rows"] for kind in job.reject_reasons) == len(BAD)
        assert reject_file(job).count("\n") == 1 + len(BAD)

    def test_between_the_parts_and_the_commit(self, target: Target, file: Path):
        """The table changed between the attempts: the next one rejects fewer rows, and the old parts must go."""
        job = created(target, file, chunk_bytes=2**20)
        run_of_one = self.first_run(job)
        load_chunk(load_chunks._first_load(run_of_one), LoadCallbacks())
        # As if it had not been committed: the server has taken all back, only the parts are there.
        on(target, "DELETE FROM t")
        on(target, f"DELETE FROM {ledger.TABLE}")
        self.give_back(run_of_one.chunks[0])
        Chunk.objects.filter(pk=run_of_one.chunks[0].pk).update(attempt=0)
        on(target, "ALTER TABLE t MODIFY word VARCHAR(60)")
        commands.cancel(job.pk)
        lifecycle.advance(job.pk)
        commands.retry(job.pk)
        job = run(job)
        assert (job.status, job.rejected_rows) == (Status.SUCCEEDED, len(BAD) - 1)
        assert "much too long" not in reject_file(job)
        assert reject_file(job).count("\n") == len(BAD)


SHAPES = {
    "plain": "n,word,at\n{}\n",
    "BOM and CR LF": "\ufeffn,word,at\r\n{}\r\n",
    "quoted line breaks": 'n,word,at\n1,"a word\nfar too long for\nits ""column""",2024-01-01\n{}\n',
    "the last line without an end": "n,word,at\n5,fine,2024-01-01\n{}",
    "mixed line ends": "n,word,at\n5,fine,2024-01-01\r\n{}",
}


# cp1252 has no byte order mark.
SHAPED = [
    (shape, name) for shape in SHAPES for name in ("utf-8", "cp1252", "utf-16-le") if (shape[0], name[0]) != ("B", "c")
]


@pytest.mark.one_of("encoding")
@pytest.mark.parametrize(("shape", "encoding"), SHAPED)
def test_the_reject_file_of_any_dialect_loads_unchanged(target: Target, tmp_path: Path, shape: str, encoding: str):
    text = SHAPES[shape].format("2,wörd much too long für it,2024-01-01")
    mark = "\ufeff" if encoding.startswith("utf-16") and "BOM" not in shape else ""
    path = tmp_path / "shaped.csv"
    path.write_bytes((mark + text).encode(encoding))
    chosen = Options(on_error="reject")
    dialect = profile_file(path, encoding=encoding).dialect
    job = run(import_of(path, target, dialect=dialect, options=chosen))
    bad = 2 if "quoted" in shape else 1
    # An import without a single good row has failed, and has its reject file all the same.
    status = Status.SUCCEEDED if "fine" in text else Status.FAILED
    assert (job.status, job.rejected_rows) == (status, bad), job.problem
    again = downloads.write_reject_file(job)
    assert again
    assert "wörd much too long für it" in again.read_bytes().decode(encoding)
    assert again.read_bytes()[:4] == path.read_bytes()[:4]

    on(target, "ALTER TABLE t MODIFY word VARCHAR(60)")
    second = import_of(again, target, dialect=job.file_dialect, options=chosen)
    second = run(second)
    assert (second.status, second.loaded_rows, second.rejected_rows) == (Status.SUCCEEDED, bad, 0), second.problem
    assert on(target, "SELECT word FROM t WHERE n = 2") == [("wörd much too long für it",)]


def test_of_a_packed_file_without_header_too(target: Target, tmp_path: Path):
    path = tmp_path / "words.2024.csv.gz"
    path.write_bytes(gzip.compress("".join(f"{BAD.get(n, good(n))}\n" for n in range(ROWS)).encode()))
    dialect = profile_file(path, header=False).dialect
    prepared = prepare(
        uploads.register(path), target, "t", ImportRequest(dialect=dialect, options=Options(on_error="reject"))
    )
    job = run(commands.create(prepared))
    assert (job.status, job.rejected_rows) == (Status.SUCCEEDED, len(BAD)), job.problem
    again = downloads.write_reject_file(job)
    assert again
    assert (again.name, again.read_text()) == ("words.2024.rejects.csv", "".join(f"{row}\n" for row in BAD.values()))


class TestFullDisk:
    """The kernel answers ENOSPC to every write to /dev/full."""

    @pytest.mark.parametrize("suffix", ["rejects", "csv", "json"])
    def test_no_room_for_a_chunks_rejects_fails_it_and_a_retry_loads_it(self, target: Target, file: Path, suffix: str):
        job = created(target, file, chunk_bytes=2**20)
        folder = downloads.make_folder(job)
        full = folder / f"00000000.{suffix}.{os.getpid()}.tmp"
        full.symlink_to("/dev/full")
        job = run(job)
        assert "rejected and skipped rows cannot be written to disk: No space left on device" in job.problem["what"]
        assert "Make room there, then retry" in job.problem["advice"]
        assert (job.status, keys(target)) == (Status.FAILED, set())
        assert [path.name for path in folder.iterdir()] == [downloads.HEAD]
        commands.retry(job.pk)
        assert run(job).rejected_rows == len(BAD)

    def test_no_room_for_the_folder_of_rejects(self, target: Target, file: Path, full_names: uuid.UUID):
        job = created(target, file)
        folder = downloads.folder(job)
        folder.mkdir(parents=True)
        (folder / f"{downloads.HEAD}.{full_names.hex}.tmp").symlink_to("/dev/full")
        job = run(job)
        assert "rejected rows cannot be written to disk: No space left on device" in job.problem["what"]
        assert "REJECTS_DIR" in job.problem["advice"]
        assert (job.status, list(folder.iterdir())) == (Status.FAILED, [])

    def test_no_room_for_the_command_lines_copies(self, target: Target, file: Path, full_names: uuid.UUID):
        job = run(created(target, file))
        before = sorted(downloads.folder(job).iterdir())
        for write, kind in (
            (downloads.write_reject_file, "rejects"),
            (downloads.write_reasons_file, "reasons"),
        ):
            name = f"{downloads.file_name(job, kind)}.{full_names.hex}.tmp"
            (downloads.folder(job) / name).symlink_to("/dev/full")
            with pytest.raises(Problem, match="No space left on device"):
                write(job)
        assert sorted(downloads.folder(job).iterdir()) == before

    @pytest.fixture
    def full_names(self, monkeypatch) -> uuid.UUID:
        """The part of the names of temporary files that is otherwise drawn by chance."""
        name = uuid.uuid4()
        monkeypatch.setattr(downloads, "uuid4", lambda: name)
        return name

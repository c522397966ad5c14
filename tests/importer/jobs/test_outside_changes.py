"""A file that other hands change while it is loaded: noticed where a chunk is sent, or else at the end."""

import gzip
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from importer.jobs import report
from importer.models import ImportJob, Target
from importer.worker import load_chunks
from tests.importer.steps import created, queued, run, until

ROWS = 4000
HEADER = "n,word\n"
Status = ImportJob.Status
pytestmark = [pytest.mark.both_servers, pytest.mark.usefixtures("no_workers")]
TABLES = ("CREATE TABLE t (n INT, word VARCHAR(40))",)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "rows.csv"
    path.write_text(HEADER + "".join(f"{n},word {n}\n" for n in range(ROWS)))
    return path


def append(path: Path) -> None:
    with path.open("a") as out:
        out.write("1,more\n")


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size - 100)


def replace(path: Path) -> None:
    other = path.with_suffix(".new")
    other.write_bytes(path.read_bytes().replace(b"word", b"WORD"))
    other.replace(path)


def edit(path: Path) -> None:
    """Its size and its time of modification stay."""
    before = path.stat()
    with path.open("r+b") as out:
        out.seek(before.st_size - 3)
        out.write(b"x")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def touch(path: Path) -> None:
    path.write_bytes(path.read_bytes())


@pytest.mark.parametrize(
    ("act", "kinds"),
    [
        (append, [("grown", 7)]),
        (cut, [("changed", 0)]),
        (replace, [("changed", 0)]),
        (edit, [("changed", 0)]),
        (touch, []),
        (Path.unlink, []),
    ],
)
def test_after_all_rows_were_sent(target: Target, file: Path, act: Callable[[Path], None], kinds: list):
    job = created(target, file)
    until(job, "verify")
    size = file.stat().st_size
    act(file)
    job = run(job)
    assert (job.status, job.loaded_rows, job.balanced) == (Status.SUCCEEDED, ROWS, True)
    changes = report.report(job)["outside_changes"]
    assert [(each["kind"], each["bytes"]) for each in changes] == kinds
    if act is append:
        assert changes[0]["what"] == "7 bytes were appended to rows.csv after the scan; they are not loaded."
        assert f"behind byte {size:,}" in changes[0]["advice"]


@pytest.mark.parametrize(("act", "status"), [(append, Status.SUCCEEDED), (cut, Status.FAILED), (edit, Status.FAILED)])
def test_before_the_last_rows_are_sent(target: Target, file: Path, act: Callable[[Path], None], status: str):
    job = created(target, file, parallelism=1)
    until(job, "load_run")
    act(file)
    load_chunks.load(queued(job)[0].id, lambda _job, _later: None)
    job = run(job)
    assert job.status == status
    if status == Status.FAILED:
        assert job.problem["kind"] == "SourceChanged"
    else:
        assert [each["kind"] for each in job.outside_changes_json] == ["grown"]


def test_bytes_that_continue_the_last_record_are_named(target: Target, file: Path):
    """The last row was read as it was: 3999, and the number in the file is 39991 now."""
    file.write_text(f"{HEADER}1,one\n3999,word")
    job = created(target, file)
    until(job, "verify")
    with file.open("a") as out:
        out.write(" and more\n")
    (change,) = run(job).outside_changes_json
    assert "the last row in the table is incomplete" in change["what"]


def test_a_packed_file_that_grew(target: Target, file: Path):
    """Its copy was made before."""
    packed = file.with_suffix(".csv.gz")
    packed.write_bytes(gzip.compress(file.read_bytes()))
    job = created(target, packed)
    until(job, "verify")
    more = gzip.compress(b"1,more\n")
    packed.write_bytes(packed.read_bytes() + more)
    (change,) = run(job).outside_changes_json
    assert (change["kind"], change["bytes"]) == ("grown", len(more))

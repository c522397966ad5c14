"""`millrace load` while the disk of the application's database fills up: its figures are those of the target."""

import json
import resource
import subprocess
from pathlib import Path
from urllib.parse import quote

import psutil
import pytest

from importer.models import Target
from importer.models.outcomes import UNKNOWN
from importer.worker import local_pool
from tests.importer.management.command_line.interrupts import locked, waiting_loads
from tests.importer.management.installation import Installation, ended
from tests.importer.management.people_file import loaded, report_of
from tests.stack import wait_until

ROWS = 400
# Seconds after which nobody waits any more for a process that has ended.
SHORT_LEASE = {"LEASE_SECONDS": "2"}
SMALL_FILE = 2048  # bytes, fewer than a page of the database
pytestmark = pytest.mark.both_servers


def file_of(folder: Path, size: int) -> Path:
    """A file of ROWS rows and about this many bytes."""
    path = folder / "people.csv"
    unread = "x" * (size // ROWS)
    path.write_text("id,name,unread\n" + "".join(f"{n},name {n},{unread}\n" for n in range(ROWS)))
    return path


def url_of(target: Target) -> str:
    address = target.address
    account = f"{quote(address.user)}:{quote(address.password)}"
    return f"mysql://{account}@{address.host}:{address.port}/{address.database}.people"


def let_no_file_grow(command: subprocess.Popen[str]) -> None:
    """From now on each write of the command's processes to its database fails, as on a full disk.

    The client library's options for a connection are a small file, which is on another disk.
    """
    process = psutil.Process(command.pid)
    for each in (process, *process.children(recursive=True)):
        resource.prlimit(each.pid, resource.RLIMIT_FSIZE, (SMALL_FILE, resource.RLIM_INFINITY))


@pytest.mark.one_of("size")
@pytest.mark.parametrize("size", [0, local_pool.IN_THREADS_BELOW], ids=["threads", "processes"])
def test_a_load_whose_records_cannot_be_written(target_on_each: Target, tmp_path: Path, size: int):
    own = Installation.with_tables(tmp_path, **SHORT_LEASE)
    words = ("--commit-rows", "20", "--parallel", "2", "--ignore-fields", "--json")
    with locked(target_on_each, "people"):
        command = own.start("import_csv", str(file_of(tmp_path, size)), url_of(target_on_each), *words)
        wait_until(lambda: command.poll() is not None or waiting_loads(target_on_each) == 2)
        let_no_file_grow(command)
    out, err = ended(command)
    report, (rows, *_) = report_of(out), loaded(target_on_each)
    assert (command.returncode, "Traceback" in err) == (UNKNOWN, False), err
    assert 0 < report["rows"]["loaded"] == rows
    assert report["rows"]["missing"] == report["rows"]["source"] - rows
    assert "Millrace cannot use its own database" in report["problem"]["what"]
    assert f"By millrace_ledger, {rows} rows of it are in" in report["problem"]["advice"]
    assert f"millrace job run {report['job']}" in report["problem"]["advice"]

    with own.shell() as shell:

        def shown() -> dict:
            return json.loads(shell.manage("job", "show", str(report["job"]), "--json"))

        wait_until(lambda: [each["cause"] for each in shown()["why"]][:1] == ["no_process"])
        assert shown()["rows"]["loaded"] == rows
        assert "1: loading, but by no process, " in shell.manage("job", "list")
        shell.manage("job", "run", str(report["job"]))
    assert loaded(target_on_each)[0] == ROWS

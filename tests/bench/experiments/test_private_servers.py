"""Ways on a private server, which the experiment starts, stops and removes; and which settings a server has no more."""

import os
import signal
import subprocess
import uuid
from contextlib import suppress
from io import StringIO
from itertools import pairwise
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import call_command
from django.utils import timezone

from bench.experiments.private_server import PrivateServers
from bench.experiments.raw.loads import cuts_at_lines, read_part
from bench.experiments.variants import POOL, REDO, ServerVariant
from bench.servers import Server
from importer.engine.errors import Problem
from importer.lab.cleanup import remove_orphans
from importer.models import Lab
from tests.documents import read
from tests.stack import PYTHON, ROOT, wait_until
from tests.targets import saved_target

pytestmark = pytest.mark.both_servers

XA, MYISAM = "own server, innodb_support_xa off", "own server, MyISAM, performance_schema off"


def test_ways_on_a_private_server_are_measured_and_it_is_removed(server, database, tmp_path: Path, transactional_db):
    """Refused ways say what the server answers. The data folder is made once for all of them."""
    target, out = saved_target(database, database.database), StringIO()
    program = Server(server.flavour, server.address).program(tmp_path)
    call_command(
        *("experiment", "run", "naive", "--target", target.name, "--size", "40", "--repeats", "1", "--no-warm-up"),
        *("--server-program", str(program), "--way", XA, "--way", MYISAM, "--json"),
        *("--report", str(tmp_path)),
        stdout=out,
    )
    ways = {each["way"]: each for each in read(out.getvalue())["ways"]}
    assert set(ways) == {"single INSERTs", "own server, defaults", XA, MYISAM}
    assert "innodb_support_xa" in ways[XA]["failed"]
    assert "gone since MySQL 8.0 and MariaDB 10.3" in ways[XA]["failed"]
    assert [name for name, each in ways.items() if each["failed"]] == [XA]
    (report,) = tmp_path.glob("naive-*.md")
    assert "performance_schema=OFF" in report.read_text()
    assert f"- {MYISAM}: {'MySQL' if server.flavour == 'mysql' else 'MariaDB'}" in report.read_text()
    assert not list(settings.LAB_DIR.glob(f"{Lab.objects.get().key}*"))
    assert Lab.objects.get().status == Lab.Status.DONE


def test_a_killed_experiment_takes_its_private_server_with_it(mariadb, stack_env, transactional_db):
    target = saved_target(mariadb, mariadb.database)
    words = ["experiment", "run", "naive", "--target", target.name, "--size", "20", "--way", "own server, defaults"]
    command = [str(PYTHON), "manage.py", *words, "--repeats", "50"]
    with subprocess.Popen(command, cwd=ROOT, env=stack_env.env) as process:
        looks: list[tuple[int, list[str]] | None] = []
        wait_until(lambda: looks.append(caught(process)) or looks[-1], what="a private server")
        (pid, words), folder = looks[-1], next(settings.LAB_DIR.glob("*.server"))
        # Its root has no password.
        assert "--skip-networking" in words
        assert folder.stat().st_mode & 0o077 == 0
        process.send_signal(signal.SIGKILL)
    wait_until(lambda: not is_running(pid), what="the server's end")
    Lab.objects.update(lease=timezone.now())
    wait_until(swept, what="the end of the lab")
    assert not list(settings.LAB_DIR.glob(f"{Lab.objects.get().key}*"))


def caught(process: subprocess.Popen) -> tuple[int, list[str]] | None:
    """Stop the command while its server runs, and return the server's pid and words; None if none runs yet.

    A trial takes half a second: the server may end between two looks.
    """
    files = list(settings.LAB_DIR.glob("*.server/server.pid"))
    if files:
        process.send_signal(signal.SIGSTOP)
    for file in files:
        with suppress(OSError, ValueError):
            pid = int(file.read_text())
            if "--skip-name-resolve" in (words := Path(f"/proc/{pid}/cmdline").read_text().split("\0")):
                return pid, words
    process.send_signal(signal.SIGCONT)
    return None


def swept() -> bool:
    """Whether the lab has ended, by this sweep or by the workers' own."""
    call_command("lab", "sweep", stdout=StringIO())
    return Lab.objects.get().ended


def is_running(pid: int) -> bool:
    """Whether the process runs; one that has ended may wait for its parent."""
    status = Path(f"/proc/{pid}/stat")
    return status.exists() and status.read_text().rpartition(")")[2].split()[0] != "Z"


@pytest.mark.django_db
def test_a_copy_for_the_server_and_a_server_that_a_killed_experiment_left_are_removed(tmp_path: Path):
    copy, key = tmp_path / "millrace-experiment-1", uuid.uuid4()
    for folder in (copy, server := settings.LAB_DIR / f"{key}.1.server"):
        folder.mkdir(parents=True)
        (folder / "rows").write_text("1\n")
    link = settings.LAB_DIR / f"{key}.1.mixed-40.copy"
    link.symlink_to(copy)
    assert remove_orphans() == 2
    assert not any(each.exists() or each.is_symlink() for each in (copy, server, link))


def test_without_such_a_program_the_way_is_not_measured(tmp_path: Path):
    servers = PrivateServers("MySQL", tmp_path / "server", str(tmp_path / "mysqld"))
    with pytest.raises(Problem, match="no mysqld of MySQL"), servers.running(ServerVariant()):
        pass


def test_a_buffer_pool_is_no_larger_than_a_quarter_of_the_memory_and_names_differ_by_server():
    variant = ServerVariant({POOL: 2**60, REDO: 2**31})
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    assert variant.options("MySQL")[POOL] <= memory // 4
    assert variant.options("MySQL")["innodb_redo_log_capacity"] == 2**31
    assert variant.options("MariaDB")["innodb_log_file_size"] == 2**31


@pytest.mark.parametrize("parts", [1, 3, 8])
def test_a_file_is_cut_for_sessions_at_line_ends(tmp_path: Path, parts):
    lines = [b"header\n", *(b"%d,%s\n" % (number, b"x" * (number * 7 % 23)) for number in range(50))]
    path = tmp_path / "rows.csv"
    path.write_bytes(b"".join(lines))
    cuts = cuts_at_lines(path, parts)
    pieces = [b"".join(read_part(path, *each)) for each in pairwise(cuts)]
    assert len(pieces) == parts
    assert b"".join(pieces) == b"".join(lines[1:])
    assert all(not each or each.endswith(b"\n") for each in pieces)

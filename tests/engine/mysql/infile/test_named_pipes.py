"""Pipes that a server reads from: no side waits for ever, and a killed owner leaves none behind."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from importer.engine.errors import SourceChanged, TargetProblem
from importer.engine.load.chunk_load import LoadCallbacks
from importer.engine.load.loader import load_chunk
from importer.engine.load.methods import registry
from importer.engine.load.methods.load_request import LoadRequest
from importer.engine.load.outcome import Tally
from importer.engine.mysql.connection import Address
from importer.engine.mysql.infile.named_pipes import PREFIX, PipeWriter, pipe_in
from tests.engine.loads import Unchecked, account_with, rows_of, run_sql, works
from tests.stack import wait_until

pytestmark = pytest.mark.both_servers

BY_PIPE = Unchecked(method="load_data_server")
DIES = """
import os, sys
from pathlib import Path
from importer.engine.mysql.infile.named_pipes import pipe_in
with pipe_in(Path(sys.argv[1])) as pipe:
    print(pipe, flush=True)
    os._exit(1)
"""

# Sends one row and never the rest.
KILLED = """
import threading
from importer.engine.mysql.connection import Address, connect_loader, execute
from importer.engine.load.methods import load_data_server
def stuck():
    yield b"7\\n"
    threading.Event().wait()
with connect_loader(Address(**{address!r})) as connection:
    load_data_server.load(connection, {statement!r}, stuck(), folder={folder!r})
"""


def pipe_folders(folder: Path) -> list[Path]:
    return list(folder.glob(f"{PREFIX}*"))


def test_reader_of_a_pipe_gets_the_bytes_and_the_pipe_is_removed_at_the_end(tmp_path: Path):
    data = os.urandom(3 * 2**20)
    with pipe_in(tmp_path) as pipe:
        writer = PipeWriter(pipe, [data[:100], data[100:]])
        assert pipe.read_bytes() == data
        writer.stop()
        assert writer.done
    assert pipe_folders(tmp_path) == []


def test_pipe_writer_without_a_reader_ends_when_it_is_stopped(tmp_path: Path):
    with pipe_in(tmp_path) as pipe:
        writer = PipeWriter(pipe, [b"x"])
        writer.stop()
        assert not writer.done


def test_pipe_writer_whose_reader_stops_reading_ends_when_it_is_stopped(tmp_path: Path):
    with pipe_in(tmp_path) as pipe:
        writer = PipeWriter(pipe, [b"x" * 2**22])
        with pipe.open("rb") as reader:
            reader.read(10)
            writer.stop()
        assert not writer.done
        assert not writer.error


def test_pipe_writer_records_an_exception_of_the_pieces(tmp_path: Path):
    def pieces() -> Iterator[bytes]:
        yield b"x"
        raise SourceChanged("shorter")

    with pipe_in(tmp_path) as pipe:
        writer = PipeWriter(pipe, pieces())
        assert pipe.read_bytes() == b"x"
        writer.stop()
        assert isinstance(writer.error, SourceChanged)


def test_next_pipe_removes_that_of_a_killed_process_and_ends_the_wait_of_its_reader(tmp_path: Path):
    dead = subprocess.run([sys.executable, "-c", DIES, tmp_path], stdout=subprocess.PIPE, text=True)
    pipe = Path(dead.stdout.strip())
    assert pipe.is_fifo()
    read: list[bytes] = []
    server = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    server.start()
    wait_until(lambda: _opens(server), what="the reader to wait for a writer")
    with pipe_in(tmp_path) as mine:
        assert pipe_folders(tmp_path) == [mine.parent]
    server.join(timeout=10)
    assert read == [b""]


def _opens(thread: threading.Thread) -> bool:
    """Whether the thread waits in the system call openat (its number on x86 and ARM)."""
    return Path(f"/proc/self/task/{thread.native_id}/syscall").read_text().split()[0] in ("257", "56")


def test_pipe_of_a_living_process_is_not_removed(tmp_path: Path):
    with pipe_in(tmp_path) as first, pipe_in(tmp_path):
        assert first.is_fifo()


class TestLoadFromAPipe:
    @pytest.fixture
    def table(self, database: Address) -> None:
        run_sql(database, "CREATE TABLE t (n INT)")

    def test_load_of_a_file_that_became_shorter_fails_and_leaves_no_rows_and_no_pipe(self, database, source, table):
        path = source("1\n" * 100_000)
        (work,) = works(database, path, ["n"], BY_PIPE)
        os.truncate(path, 100_000)
        with pytest.raises(SourceChanged):
            load_chunk(work, LoadCallbacks())
        assert rows_of(database) == []
        assert pipe_folders(Path(work.plan.statements.pipe_folder)) == []

    def test_load_by_an_account_without_the_file_privilege_fails_with_the_grant(self, database, source, table):
        path = source("1\n")
        with account_with(database, "INSERT", "SELECT", "CREATE") as address:
            with pytest.raises(TargetProblem, match="GRANT FILE"):
                works(address, path, ["n"], BY_PIPE)
            # The privilege was revoked after planning.
            (work,) = works(database, path, ["n"], BY_PIPE)
            with pytest.raises(TargetProblem, match="GRANT FILE"):
                load_chunk(replace(work, address=address), LoadCallbacks())
        assert pipe_folders(Path(work.plan.statements.pipe_folder)) == []

    def test_load_from_a_missing_folder_fails_with_the_name_of_the_setting(self, database, source, table):
        (work,) = works(database, source("1\n"), ["n"], BY_PIPE)
        load = registry.for_name("load_data_server", LoadRequest(work.dialect, 1, folder="/nowhere"))
        with pytest.raises(TargetProblem, match="SERVER_FILES_DIR"):
            load(None, "", None)

    def test_load_after_a_killed_loader_stores_all_rows_and_removes_its_pipe(self, database, source, table):
        (work,) = works(database, source("1\n2\n"), ["n"], BY_PIPE)
        folder = Path(work.plan.statements.pipe_folder)
        program = KILLED.format(
            address=asdict(work.address), statement=work.plan.statements.plain, folder=work.plan.statements.pipe_folder
        )
        child = subprocess.Popen([sys.executable, "-c", program])
        running = "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE INFO LIKE 'LOAD DATA INFILE%'"
        wait_until(lambda: rows_of(database, running) == [(1,)], what="the load to begin")
        child.kill()
        child.wait()
        assert len(pipe_folders(folder)) == 1
        assert load_chunk(work, LoadCallbacks()).tally == Tally(loaded=2)
        assert sorted(rows_of(database)) == [(1,), (2,)]
        assert pipe_folders(folder) == []

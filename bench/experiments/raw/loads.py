"""Ways of plain LOAD DATA: one statement, bulks, several sessions, and a file that the server reads itself."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice, pairwise
from pathlib import Path

from bench.experiments.raw.target import Run, StatementTarget, TrialTable, begin_session, connected
from importer.engine.feed.feed import BLOCK
from importer.engine.mysql.connection import FEED_NAME, Feed, LoaderConnection, connect_loader, execute

# What ends a field and a row: usually, and in the files of mysqlBulk.
Ends = tuple[str, str]
USUAL: Ends = (",", "\n")
MYSQLBULK: Ends = (":::,", "^^^\n")


def load(target: StatementTarget) -> int:
    """Load the whole file with one LOAD DATA LOCAL. Returns the number of rows."""
    fill(target, target.own)
    return target.own.rows


def fill(target: StatementTarget, table: TrialTable) -> None:
    """Load the file of one of the tables with LOAD DATA LOCAL, and commit. Raises TargetProblem."""
    with connect_loader(target.address) as connection, table.path.open("rb") as file:
        begin_session(connection, target)
        _send(connection, table, iter(lambda: file.read(BLOCK), b""), header=True)


def load_in_bulks(rows: int, ends: Ends = USUAL) -> Run:
    """A way of one LOAD DATA LOCAL and one commit for every `rows` rows, over one connection.

    `ends`: those that fields and rows are sent with, for values that contain neither commas nor line ends.
    """

    def run(target: StatementTarget) -> int:
        with connect_loader(target.address) as connection, target.own.path.open("rb") as file:
            begin_session(connection, target)
            file.readline()
            while bulk := b"".join(islice(file, rows)):
                for usual, end in zip(USUAL, ends, strict=True):
                    bulk = bulk.replace(usual.encode(), end.encode())
                _send(connection, target.own, iter([bulk]), ends, header=False)
        return target.own.rows

    return run


def load_in_parallel(sessions: int) -> Run:
    """A way of one LOAD DATA LOCAL in each of `sessions` sessions at a time, each with its part of the file."""

    def run(target: StatementTarget) -> int:
        def load_part(begin: int, end: int) -> None:
            with connect_loader(target.address) as connection:
                begin_session(connection, target)
                _send(connection, target.own, read_part(target.own.path, begin, end), header=False)

        cuts = cuts_at_lines(target.own.path, sessions)
        with ThreadPoolExecutor(sessions) as pool:
            for done in [pool.submit(load_part, *each) for each in pairwise(cuts)]:
                done.result()
        return target.own.rows

    return run


def load_server_file(target: StatementTarget) -> int:
    """Load the whole file with one LOAD DATA, without LOCAL: the server reads it itself."""
    with connected(target) as connection:
        sql = target.own.table.load_sql(str(target.own.path), into=target.own.name, local=False)
        execute(connection, sql)
        connection.commit()
    return target.own.rows


def load_then(sql: str) -> Run:
    """A way of one LOAD DATA LOCAL into a table without transactions, and of this statement afterwards."""

    def run(target: StatementTarget) -> int:
        load(target)
        with connected(target) as connection:
            execute(connection, sql.format(table=target.own.name))
        return target.own.rows

    return run


def _send(connection: LoaderConnection, table: TrialTable, feed: Feed, ends: Ends = USUAL, *, header: bool) -> None:
    """Run one LOAD DATA LOCAL that sends the feed, and commit. Raises the feed's error or the server's."""
    with connection.serving(feed):
        execute(connection, table.table.load_sql(FEED_NAME, *ends, into=table.name, header=header))
    connection.commit()


def cuts_at_lines(path: Path, parts: int) -> list[int]:
    """Offsets of the beginnings of lines that cut the file, without its header, into `parts` parts; and its end."""
    size = path.stat().st_size
    with path.open("rb") as file:
        file.readline()
        first = file.tell()
        cuts = [first]
        for part in range(1, parts):
            # Back by one byte: a cut that falls on the beginning of a line stays there.
            file.seek(max(cuts[-1], first + (size - first) * part // parts) - 1)
            file.readline()
            cuts.append(file.tell())
    return [*cuts, size]


def read_part(path: Path, begin: int, end: int) -> Iterator[bytes]:
    """The bytes of the file from `begin` to `end`, in pieces."""
    with path.open("rb") as file:
        file.seek(begin)
        while begin < end and (piece := file.read(min(BLOCK, end - begin))):
            begin += len(piece)
            yield piece

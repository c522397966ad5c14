"""A table, an import's connection that waits, and connections of others that are in its way."""

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace

from importer.engine.errors import TargetProblem
from importer.engine.mysql.connection import Address, Connection, connect, execute, fetch_all, kill
from importer.engine.mysql.diagnosis.blockers import SHORTEST_WAIT
from importer.engine.mysql.diagnosis.cause import Evidence, Explanation
from importer.engine.mysql.diagnosis.diagnose import diagnose
from importer.engine.mysql.diagnosis.facts import Facts
from importer.engine.mysql.diagnosis.snapshot import Snapshot, read_snapshot
from tests.stack import wait_until


class Scene:
    """Connections to the table t of a database. All of them are closed at the end, the waiting ones by KILL."""

    def __init__(self, address: Address, opened: ExitStack) -> None:
        self.address = self._root = address
        self._opened = opened
        self.watch = self.root = opened.enter_context(connect(address))
        execute(self.watch, "CREATE TABLE t (n INT PRIMARY KEY, k INT)")
        execute(self.watch, "INSERT INTO t VALUES (1, 1), (2, 2)")

    def other(self, *statements: str) -> Connection:
        """Another connection, which has run these statements."""
        opened = self._opened.enter_context(connect(self.address))
        for each in statements:
            execute(opened, each)
        return opened

    def running(self, statement: str) -> int:
        """The number of a connection that runs the statement, which takes long; returns when the server shows that."""
        numbers: list[int] = []
        address = self.address

        def run() -> None:
            with suppress(TargetProblem), connect(address) as own:
                numbers.append(own.thread_id())
                execute(own, statement)

        thread = threading.Thread(target=run)
        thread.start()
        self._opened.callback(thread.join)
        wait_until(lambda: numbers, what="a connection")
        self._opened.callback(kill, self._root, numbers[0])
        wait_until(lambda: self._shown(numbers[0]), what=f"that {statement} runs")
        return numbers[0]

    def waiting(self, statement: str) -> int:
        """The number of a connection that runs the statement and waits; returns when the server shows that."""
        number = self.running(statement)
        wait_until(lambda: self._waits(number), what=f"that {statement} waits")
        return number

    @contextmanager
    def seen_by(self, user: str) -> Iterator[None]:
        """In this context everything is done and seen by another account."""
        usual = self.address, self.watch
        self.address = replace(self.address, user=user)
        try:
            with connect(self.address) as self.watch:
                yield
        finally:
            self.address, self.watch = usual

    def _shown(self, number: int) -> bool:
        shown = read_snapshot(self.watch).session(number)
        return bool(shown and shown.statement)

    def _waits(self, number: int) -> bool:
        now = read_snapshot(self.watch)
        shown = now.session(number)
        in_line = bool(shown and shown.waits_for_lock) or any(each.waiting == number for each in now.row_waits)
        return in_line and bool(shown and shown.seconds >= SHORTEST_WAIT)

    def explained(self, *own: int, others: dict[int, int] | None = None) -> list[Explanation]:
        """The causes for an import into t with these connections."""
        facts = Facts(schema=self.address.database, table="t", connections=own, others=others or {})
        return diagnose(Evidence(facts, self.snapshot()))

    def snapshot(self) -> Snapshot:
        return read_snapshot(self.watch)


@contextmanager
def scene(address: Address) -> Iterator[Scene]:
    with ExitStack() as opened:
        yield Scene(address, opened)


@contextmanager
def setting(scene: Scene, variable: str, value: int) -> Iterator[None]:
    """In this context the server has this value."""
    (usual,) = fetch_all(scene.root, f"SELECT @@GLOBAL.{variable}")[0]
    execute(scene.root, f"SET GLOBAL {variable} = {value}")
    try:
        yield
    finally:
        execute(scene.root, f"SET GLOBAL {variable} = {usual}")

"""Each action of another session at each moment that hands_table.py declares: it ends as declared there."""

import os
import random
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
from django.db import connections

from importer.engine.errors import Problem
from importer.engine.failpoints import POINTS
from importer.engine.load import ledger
from importer.engine.load.verify import UPTIME_MARGIN
from importer.engine.mysql.connection import Address, connect, execute
from importer.engine.mysql.server_info import read_uptime
from importer.engine.plan.options import Options
from importer.engine.target.staging import staging_name
from importer.jobs.actions import commands
from importer.models import ImportJob
from importer.preparation.prepare import ImportRequest, prepare
from importer.sources import uploads
from tests.conftest import FLAVOURS
from tests.faults.points import hands, matrix
from tests.faults.points.hands_table import EXPECTED, LEFT_OUT, MOMENTS, Moment, hand_cases
from tests.faults.points.imports import COLUMNS, HEADER, SMALL, Row, contents
from tests.faults.points.stopped import Points
from tests.stack import wait_until
from tests.targets import TestServer, saved_target

Status = ImportJob.Status
# Seconds: no lease ends while a worker is held.
LEASE = 300
# How many cases `make test` tries, of those with so few imports at once that a busy machine does not hold them up.
SAMPLE, FEW = 4, 1
ROWS: list[Row] = [(n, f"word {n}x", n * 7 % 1000, n % 3) for n in range(1500)]
OLD: list[Row] = [(n, "old", 0, 0) for n in range(-50, 0)]
OPTIONS = {
    "fresh": SMALL,
    "filled": SMALL,
    "small_fresh": {"chunk_bytes": 4096},
    "small_filled": {"chunk_bytes": 4096},
    "deferring": {**SMALL, "indexes": "defer"},
    **{mode: {**SMALL, "mode": mode} for mode in ("atomic", "upsert")},
    "replacing": {**SMALL, "mode": "replace"},
}
KEYS = {"upsert": ", PRIMARY KEY (n)", "deferring": ", KEY word (word(40))"}
FRESH = ("fresh", "small_fresh", "deferring")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """All cases, or some that the seed chooses."""
    if "action" in metafunc.fixturenames:
        every = [(flavour, *case) for flavour in FLAVOURS for case in hand_cases()]
        if os.environ.get("FAULTS") != "all":
            few = [each for each in every if len(MOMENTS[each[1]].imports) <= FEW]
            every = random.Random(metafunc.config.option.case_seed).sample(few, SAMPLE)
        metafunc.parametrize(
            ("flavour", "moment", "action"), [pytest.param(*each, id="-".join(each)) for each in every]
        )


def test_each_point_is_a_moment_or_left_out():
    used = {point for each in MOMENTS.values() for point in each.points}
    left_out = [point for points in LEFT_OUT.values() for point in points]
    assert sorted([*used, *left_out]) == sorted(POINTS)


def test_an_outcome_is_declared_for_each_import_that_is_tried():
    for name, action in [(name, action) for name in MOMENTS for action in hands.ACTIONS]:
        letters = len(MOMENTS[name].imports) if MOMENTS[name].tries(action) else 0
        assert len(EXPECTED[action][name].strip("-")) == letters, (name, action)


def test_the_page_shows_the_matrix_of_hands():
    """As it is where every case has held on both servers."""
    everything = matrix.written_hands(matrix.everything_held(["mariadb", "mysql"]), ["mariadb", "mysql"])
    assert matrix.shown(matrix.HANDS_PART) == f"{everything}\n{matrix.legend_of_hands()}"


@dataclass
class Import:
    """An import into a table of the same name."""

    name: str
    address: Address
    job: ImportJob

    def ended(self) -> ImportJob:
        wait_until(lambda: ImportJob.objects.get(pk=self.job.pk).ended, what=f"the end of {self.name}")
        return ImportJob.objects.get(pk=self.job.pk)

    def retried(self) -> ImportJob:
        with suppress(Problem):  # It may be refused.
            commands.retry(self.job.pk)
        return self.ended()

    def wanted(self, action: hands.Action, moment: Moment) -> list[Row]:
        """The rows at the end of an import that survives the action."""
        old = [] if self.name in FRESH else OLD
        if moment.begins:
            old = action.applied(old)
        rows = [*ROWS, *([] if self.name == "replacing" else old)]
        return sorted(rows if moment.begins else action.applied(rows))

    def outcome(self, action: hands.Action, moment: Moment) -> str:
        """Its letter, after a retry if it fails. The rows are as they must be with that outcome."""
        job, found = self.ended(), self.rows()
        failed = job.status == Status.FAILED
        if failed:
            print(f"{self.name} has failed: {job.problem}")
            job, found = self.retried(), self.rows()
        if job.status == Status.FAILED:
            return "F"
        changes = [(each["kind"], each["rows"], each["bytes"]) for each in job.outside_changes_json]
        assert (job.status, job.balanced, found) == (Status.SUCCEEDED, True, self.wanted(action, moment))
        assert changes in ([], [action.notice])
        if changes:
            return "N"
        if not set(ROWS) <= set(found):
            return "U"
        return "R" if failed else "S"

    def rows(self) -> list[Row]:
        rows = contents(self.address, self.name)
        assert max(Counter(rows).values(), default=1) == 1, "a row is in the table twice"
        return rows


@pytest.fixture
def points(armed: Points, transactional_db) -> Iterator[Points]:
    yield armed
    armed.clear()
    connections.close_all()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "rows.csv"
    path.write_text(HEADER + "".join(f"{n},{word},{amount},{p}\n" for n, word, amount, p in ROWS))
    return path


def test_another_session_acts_at_a_point(
    flavour: str, moment: str, action: str, servers: dict[str, TestServer], points: Points, file: Path
):
    chosen, act = MOMENTS[moment], hands.ACTIONS[action]
    with servers[flavour].fresh_database() as address:
        wait_until(lambda: uptime(address) > UPTIME_MARGIN + 1, what="a server whose commits no restart can have lost")
        imports = held(points, chosen, address, file)
        tables = {each.name: staging_name(str(each.job.key)) for each in imports}
        with hands.acting(act, address, tables, file):
            points.go_on()
        points.wait_until_idle()
        letters = "".join(each.outcome(act, chosen) for each in imports)
    # R: whether it must be retried depends on when its worker looks at the table next.
    declared = zip(letters, EXPECTED[action][moment], strict=True)
    wanted = "".join(got if got + want == "SR" else want for got, want in declared)
    assert letters == wanted, (moment, action)


def made(address: Address, name: str, file: Path) -> Import:
    """An import that is not started."""
    with connect(address) as connection:
        ledger.create(connection)
        execute(connection, f"CREATE TABLE {name} ({COLUMNS}{KEYS.get(name, '')}) CHARACTER SET utf8mb4")
        if name not in FRESH:
            execute(connection, f"INSERT INTO {name} VALUES {', '.join(map(str, OLD))}")
    target = saved_target(address, f"{address.database} {name}")
    request = ImportRequest(options=Options(parallelism=1, **OPTIONS[name]))
    return Import(name, address, commands.create(prepare(uploads.register(file), target, name, request)))


def held(points: Points, moment: Moment, address: Address, file: Path) -> list[Import]:
    """Start the imports, and let their workers stop at the points of the moment, one after the other."""
    first, *further = moment.points
    points.arm(first, len(moment.imports))  # Before: the sweep starts an import that is created and not started.
    imports = [made(address, name, file) for name in moment.imports]
    for each in imports:
        commands.start(each.job.pk)
    points.wait(first)
    hands.copy_ledger(address)
    for point in further:
        points.arm(point, len(imports))
        points.go_on()
        points.wait(point)
    return imports


def uptime(address: Address) -> float:
    with connect(address) as connection:
        return read_uptime(connection)

"""Each fault at each point, as far as table.py says so: every row is in once, and nothing is left over."""

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from django.db import connections

from importer.engine.failpoints import POINTS
from importer.engine.mysql.connection import Address
from importer.models import ImportJob
from tests.conftest import FLAVOURS
from tests.faults.points import imports, matrix, others
from tests.faults.points.faults import INFLICT, Scene
from tests.faults.points.stopped import Points
from tests.faults.points.table import FAULTS, REACHED_BY, SAMPLE, WITHOUT_TARGET, Case, cases
from tests.importer.notifications.receivers import Hook, web_catcher
from tests.proxy import proxy
from tests.stack import wait_until
from tests.targets import TestServer

ALL = os.environ.get("FAULTS") == "all"
# Seconds. Workers must renew leases of this length even on a busy machine.
LEASE = 2


def tried() -> list[tuple[str, Case]]:
    """The cases, each with the server that it is tried on."""
    every = [each for each in cases(list(POINTS)) if not each.why_left_out]
    if not ALL:
        return [(FLAVOURS[0], each) for each in every if SAMPLE.get(each.point) == each.fault]
    return [
        (flavour, each)
        for flavour in FLAVOURS
        for each in every
        if flavour == FLAVOURS[0] or each.group not in WITHOUT_TARGET
    ]


def test_each_point_has_an_import_that_reaches_it():
    assert {point.partition(".")[0] for point in POINTS} == set(REACHED_BY)


def test_each_fault_can_be_inflicted():
    assert set(INFLICT) == set(FAULTS)


def test_the_sample_has_each_fault_and_each_import():
    sample = [each for each in cases(list(POINTS)) if SAMPLE.get(each.point) == each.fault]
    assert len(sample) == len(SAMPLE)
    assert not any(each.why_left_out for each in sample)
    assert {each.fault for each in sample} == set(FAULTS)
    assert {REACHED_BY[each.group] for each in sample} == set(REACHED_BY.values())


def test_the_page_shows_the_matrix_of_these_points_and_faults():
    """Where nothing is left out, the cell is the number of servers on which everything held."""
    everything = matrix.written(matrix.everything_held(["mariadb", "mysql"]), ["mariadb", "mysql"])
    assert matrix.shown() == f"{everything}\n{matrix.legend()}"


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return imports.write_files(tmp_path_factory.mktemp("source"))


@pytest.fixture(scope="module")
def incoming(files: dict[str, Path]) -> Iterator[Path]:
    """A folder of a schedule."""
    folder = others.folder_of_schedule(files)
    yield folder
    shutil.rmtree(folder)


@dataclass
class Maker:
    """Makes the work that reaches a point."""

    points: Points
    files: dict[str, Path]
    incoming: Path
    hook: Hook

    def make(self, name: str, address: Address, through: Address) -> imports.Disturbed:
        match name:
            case "restoring":
                return others.restoring(address, through, self.files, self.points)
            case "undoing":
                return others.undoing(address, through, self.files)
            case "scheduled":
                return others.scheduled(address, through, self.files, self.incoming)
            case "notified":
                return others.notified(self.hook)
        return imports.made(address, through, imports.KINDS[name], self.files)


@pytest.fixture
def maker(armed: Points, files: dict[str, Path], incoming: Path, transactional_db) -> Iterator[Maker]:
    with web_catcher() as hook:
        yield Maker(armed, files, incoming, hook)
    armed.clear()
    connections.close_all()


@pytest.mark.parametrize(
    ("flavour", "case"), [pytest.param(*each, id=f"{each[0]}-{each[1].point}-{each[1].fault}") for each in tried()]
)
def test_a_fault_at_a_point(flavour: str, case: Case, servers: dict[str, TestServer], maker: Maker):
    server, points = servers[flavour], maker.points
    if case.fault == "target full":
        server.shrink_files()
    with server.fresh_database() as address, proxy(address.host, address.port) as line:
        through = replace(address, host="127.0.0.1", port=line.port)
        disturbed = maker.make(case.reached_by, address, through)
        points.arm(case.point, disturbed.processes)
        disturbed.start()
        points.wait(case.point)
        INFLICT[case.fault](Scene(points, server, address.database, line, disturbed))
        points.wait_until_idle()
        disturbed.ends_well()


@pytest.mark.parametrize("point", ["backup.claimed", "backup.connected"])
def test_a_restore_that_lost_its_lease_does_not_rename_tables_later(
    point: str, servers: dict[str, TestServer], maker: Maker
):
    """By then another import may load into the table."""
    points = maker.points
    with servers[FLAVOURS[0]].fresh_database() as address:
        restoring = others.restoring(address, address, maker.files, points)
        points.arm(point, 1)
        restoring.start()
        points.wait(point)
        wait_until(restoring.over, what="the release of the backup")
        points.go_on()
        points.wait_until_idle()
        assert imports.contents(address, restoring.job.table_name) == imports.ROWS
        assert ImportJob.objects.get(pk=restoring.job.pk).restored_at is None
        restoring.ends_well()

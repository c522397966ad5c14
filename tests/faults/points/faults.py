"""Does one of the faults (table.py) to the processes that have stopped at a point."""

from collections.abc import Callable
from dataclasses import dataclass

from tests.faults.points.imports import Disturbed
from tests.faults.points.stopped import Points, kill
from tests.proxy import COMMIT, RENAME, Loss, Proxy
from tests.stack import wait_until
from tests.targets import TestServer


@dataclass(frozen=True)
class Scene:
    """What a fault may act on."""

    points: Points
    server: TestServer
    database: str
    proxy: Proxy
    disturbed: Disturbed

    def wait_for_the_others(self) -> None:
        """Return when all work is done, without the stopped processes."""
        self.disturbed.expire()
        wait_until(self.disturbed.over, seconds=100, what="the end without what had stopped")


def kill_child(scene: Scene) -> None:
    for each in scene.points.stopped:
        kill(each)


def kill_worker(scene: Scene) -> None:
    workers = scene.points.workers()
    assert workers
    for worker in workers:
        worker.kill()
    for worker in workers:
        worker.start()


def freeze(scene: Scene) -> None:
    scene.wait_for_the_others()
    scene.points.go_on()


def cut(scene: Scene) -> None:
    scene.proxy.cut()
    scene.points.go_on()


def lose_answer(scene: Scene) -> None:
    for each in scene.points.stopped:  # One after the other, so that each of them loses one.
        scene.proxy.loss = Loss((COMMIT, RENAME), arrives=True, once=True)
        scene.points.let_go(each)
        wait_until(lambda: scene.proxy.loss is None, what="a COMMIT or RENAME")


def kill_server(scene: Scene) -> None:
    scene.server.kill()
    scene.points.go_on()
    scene.server.start()


def fill_disk(scene: Scene) -> None:
    scene.points.limit(0)
    scene.points.go_on()
    scene.points.wait_until_idle()
    scene.points.limit(-1)


def fill_target(scene: Scene) -> None:
    with scene.server.without_room(scene.database):
        scene.points.go_on()
        wait_until(scene.disturbed.met_no_room, what="an error of the full server")


INFLICT: dict[str, Callable[[Scene], None]] = {
    "child killed": kill_child,
    "worker killed": kill_worker,
    "frozen": freeze,
    "cut": cut,
    "answer lost": lose_answer,
    "server killed": kill_server,
    "disk full": fill_disk,
    "target full": fill_target,
}

"""An installation of a web host and hosts of workers that share its databases, Redis and the store, and nothing else.

Each host has namespaces of its own (unshare(1)): a name, mounts in which the folders of the others are empty, and a
network from which it reaches the address of a bridge alone (network.py). There listen Redis, the store and a proxy to
the server with the databases.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import psutil
from cryptography.fernet import Fernet

from bench.meter import process_tree, processor_seconds
from importer.engine.mysql.connection import Address, connect, execute, fetch_all
from importer.management.processes.command_lines import CELERY
from importer.management.processes.private_servers import PrivateRedis, free_port
from tests.config.serving.tus import Uploader
from tests.faults.hosts.network import network
from tests.file_servers.s3 import S3Files, s3_files
from tests.proxy import proxy
from tests.stack import ROOT, wait_until
from tests.web_site import Place, WebSite, own_database, running_site

PART_BYTES = 8 * 2**20
LATEST = "ORDER BY id DESC LIMIT 1"
LEASE = {"LEASE_SECONDS": "4", "SWEEP_SECONDS": "1"}
# Whom the host is, and what it does not see; then it becomes its process.
BECOME = 'hostname "$1"; shift; while [ "$1" != -- ]; do mount -t tmpfs none "$1"; shift; done; shift; exec "$@"'
# As the page of a new import does it, in a process of the web host.
START = """
from importer.engine.plan.options import Options
from importer.jobs.actions import commands
from importer.models import SourceFile, Target
from importer.preparation.prepare import ImportRequest, prepare
from importer.targets import parse_url
place = parse_url({url!r})
address = {{"host": place.host, "port": place.port, "user": place.user, "database": place.database, "tls": "off"}}
target, made = Target.objects.get_or_create(name="shop", defaults=address)
target.set_password(place.password)
target.save()
options = Options(chunk_bytes={chunk_bytes}, parallelism=4, on_error="reject", max_rejects=10_000)
job = commands.create(prepare(SourceFile.objects.get(), target, {table!r}, ImportRequest(options=options)))
commands.start(job.pk)
"""


class Host:
    """A host of workers: one process that takes every kind of task."""

    def __init__(self, name: str, folder: Path, place: Place, hidden: list[Path], env: dict[str, str]) -> None:
        self.name, self.folder, self._place = name, folder, place
        self._env = {**env, "VAR_DIR": str(folder / "var")}
        self.slots = 2
        folder.mkdir()
        self._hidden = hidden

    @property
    def _command(self) -> list[str]:
        worker = (sys.executable, "-m", CELERY, "worker", "-Q", "load,control,scan", "-c", str(self.slots))
        worker += ("-n", "load@%h", "--loglevel=WARNING", "--without-gossip", "--without-mingle")
        isolated = (*self._place.inside, "unshare", "--uts", "--mount", "sh", "-ec", BECOME, "sh", self.name)
        return [*isolated, *map(str, self._hidden), "--", *worker, "--heartbeat-interval=5"]

    def start(self) -> None:
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(self._command, cwd=ROOT, env=self._env, stdout=log, stderr=log)

    def kill(self) -> None:
        """SIGKILL for every process of the host at once."""
        own = psutil.Process(self._process.pid)
        for process in [own, *own.children(recursive=True)]:
            process.kill()
        self._process.wait(timeout=30)

    def processor_seconds(self) -> float:
        """Processor seconds of all processes of the host so far."""
        return processor_seconds(process_tree(self._process.pid))

    def stop(self) -> None:
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
            self._process.wait(timeout=60)

    def files(self) -> list[str]:
        """The files on the disks of the host, except its log."""
        return [str(each.relative_to(self.folder)) for each in self.folder.rglob("*.*") if each.is_file()]


class Installation:
    """The hosts with their databases, Redis and store, and one import."""

    def __init__(self, site: WebSite, hosts: list[Host], store: S3Files, own: Address, target: Address) -> None:
        self.site, self.hosts, self.store, self._own, self.target = site, hosts, store, own, target
        self.browser = site.signed_in()

    def upload(self, data: bytes, name: str, *, killed: bool) -> None:
        """Upload a file through the web host, in parts; `killed` in the middle of one of them, it starts again."""
        uploader = Uploader(self.site, self.browser)
        path, offset = uploader.begin(len(data), name), 0
        while offset < len(data):
            part = data[offset : offset + PART_BYTES]
            if killed and offset > len(data) // 2:
                killed = False
                with uploader.begin_part(path, offset, len(part), part[: len(part) // 2]):
                    self.site.kill()
                self.site.start()
            else:
                answer = uploader.send(path, offset, part)
                assert answer.status_code == 204, answer.text
            offset = uploader.arrived(path)

    def import_it(self, chunk_bytes: int, table: str = "t") -> None:
        """Start the import of the file when the workers of all hosts are there: else the first would load it alone."""
        self.await_workers()
        url = own_database(self.target)
        self.site.manage("shell", "-c", START.format(url=url, chunk_bytes=chunk_bytes, table=table))

    def await_workers(self) -> None:
        """Return when the workers of all hosts are there."""
        wait_until(lambda: self._live_workers() == len(self.hosts), what="the workers of each host")

    def _live_workers(self) -> int:
        return len(self.browser.get(f"{self.site.url}/healthz", timeout=60).json()["workers"])

    def read(self, sql: str) -> list[tuple[object, ...]]:
        """The rows of the application's own database, which is no target."""
        with connect(replace(self._own, database="")) as connection:
            execute(connection, f"USE `{self._own.database}`")
            return [tuple(row) for row in fetch_all(connection, sql)]

    def loaded_by(self) -> dict[str, int]:
        """How many chunks each host has loaded."""
        sql = "SELECT SUBSTRING_INDEX(worker, '@', -1), COUNT(*) FROM importer_chunk WHERE status = 'loaded' GROUP BY 1"
        return {str(name): int(str(count)) for name, count in self.read(sql)}

    def state(self) -> tuple[object, ...]:
        """Status, balance, rows that are in, and rejected rows."""
        return self.read(f"SELECT status, balanced, loaded_rows, rejected_rows FROM importer_importjob {LATEST}")[0]

    def both_load(self) -> None:
        """Return when both hosts have loaded chunks, and some are still to come."""
        wait_until(lambda: len(self.loaded_by()) == len(self.hosts), what="chunks loaded by each host")
        assert self.state()[0] == "loading"

    def ended(self) -> tuple[object, ...]:
        """The state of the import, which must come to its end."""
        wait_until(lambda: self.state()[0] in ("succeeded", "failed"), seconds=240, what="the import's end")
        problem = self.read(f"SELECT problem FROM importer_importjob {LATEST}")
        assert self.state()[0] == "succeeded", problem
        return self.state()

    def rejects(self) -> str:
        """The reject file as the web host gives it."""
        answer = self.browser.get(f"{self.site.url}/jobs/1/rejects/", timeout=60)
        assert answer.status_code == 200
        return answer.text


@contextmanager
def installation(folder: Path, own: Address, target: Address, **settings: str) -> Iterator[Installation]:
    """A web host and two hosts of workers, which are stopped at the end; beat is on the web host.

    `settings` are further environment variables of all hosts.
    """
    names = ("one", "two")
    (folder / "store").mkdir()
    with ExitStack() as running:
        net = running.enter_context(network(("web", *names)))
        store = running.enter_context(s3_files(folder / "store", net.address))
        redis = RedisOnBridge(folder / "redis", net.address)
        redis.start()
        running.callback(redis.stop)
        own, target = (running.enter_context(_on_bridge(each, net.address)) for each in (own, target))
        shared = {
            **settings,
            "DATABASE_URL": own_database(own),
            "REDIS_URL": redis.url,
            "SECRET_KEY": Fernet.generate_key().decode(),
            "ENCRYPTION_KEYS": Fernet.generate_key().decode(),
            "FILE_STORE": "s3://files/installation",
            "FILE_STORE_ENDPOINT": store.url,
            "FILE_STORE_REGION": "us-east-1",
            "FILE_STORE_ACCESS_KEY": store.key,
            "FILE_STORE_SECRET_KEY": store.secret,
        }
        (folder / "web").mkdir()
        hosts = [_host(name, folder, net.places, shared) for name in names]
        for host in hosts:
            host.start()
            running.callback(host.stop)
        site = running.enter_context(running_site(folder / "web", net.places["web"], **shared))
        running.enter_context(_beat(folder / "web", site, shared))
        yield Installation(site, hosts, store, own, target)


class RedisOnBridge(PrivateRedis):
    """Redis on the address of the bridge."""

    def __init__(self, folder: Path, address: str) -> None:
        super().__init__(folder)
        self._address, self._port = address, free_port()

    @property
    def url(self) -> str:
        return f"redis://{self._address}:{self._port}/0"

    def command(self) -> list[str]:
        return [*super().command(), "--port", str(self._port), "--bind", self._address, "--protected-mode", "no"]


@contextmanager
def _on_bridge(server: Address, address: str) -> Iterator[Address]:
    """The database by way of a proxy on the address of the bridge."""
    with proxy(server.host, server.port, address) as made:
        yield replace(server, host=address, port=made.port)


def _host(name: str, folder: Path, places: dict[str, Place], shared: dict[str, str]) -> Host:
    hidden = [folder / other for other in ("store", "redis", *places) if other != name]
    for each in hidden:
        each.mkdir(exist_ok=True)
    env = {**os.environ, "DJANGO_SETTINGS_MODULE": "config.settings", "PYTHONPATH": str(ROOT), **shared}
    if (folder / name).is_dir():
        (folder / name).rmdir()
    return Host(name, folder / name, places[name], hidden, env)


@contextmanager
def _beat(folder: Path, site: WebSite, shared: dict[str, str]) -> Iterator[None]:
    env = {**os.environ, "DJANGO_SETTINGS_MODULE": "config.settings", "VAR_DIR": str(site.var_dir), **shared}
    with (folder / "beat.log").open("ab") as log:
        command = [*site.place.inside, sys.executable, "-m", "importer.management.processes", "beat"]
        beat = subprocess.Popen(command, cwd=ROOT, env={**env, "PYTHONPATH": str(ROOT)}, stdout=log, stderr=log)
    try:
        yield
    finally:
        beat.terminate()
        beat.wait(timeout=30)

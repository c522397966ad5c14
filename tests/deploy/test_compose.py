"""docker-compose.yml: what Compose would build, and each of its commands by hand, since tests have no engine."""

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from importer.engine.mysql.connection import Address, connect, execute
from importer.management.processes.private_servers import free_port, redis_program
from tests.deploy.compose import Containers, Missing, services
from tests.prepared import make_tables
from tests.stack import Process, wait_until
from tests.targets import on_one_server
from tests.web_site import own_database

PASSWORD = 'p@ss/w:rd#%?&= $HOME"'
GIVEN = {"MYSQL_PASSWORD": PASSWORD, "REDIS_PASSWORD": PASSWORD, "TARGET_PASSWORD": PASSWORD}
MILLRACE = ("web", "worker", "control", "beat")


def test_one_service_builds_the_image_and_all_others_wait_for_it():
    of_image = {name: each for name, each in services().items() if each["image"] == "millrace"}
    assert [name for name, each in of_image.items() if "build" in each] == ["prepare"]
    assert {each["pull_policy"] for each in of_image.values()} == {"never"}
    assert all("prepare" in each["depends_on"] for name, each in of_image.items() if name != "prepare")


def test_it_asks_for_the_passwords_that_it_needs():
    for name in ("MYSQL_PASSWORD", "REDIS_PASSWORD"):
        with pytest.raises(Missing, match=name):
            services({**GIVEN, name: ""})


def test_the_application_s_own_server_is_suggested_as_no_target():
    own, target = services()["mysql"], services()["target"]
    assert "local-infile" not in str(own)
    assert own["environment"]["MYSQL_DATABASE"] != target["environment"]["MARIADB_DATABASE"]
    assert set(own["volumes"]).isdisjoint(target["volumes"])


def test_the_target_s_server_has_a_buffer_pool_from_the_memory_and_needs_a_password(tmp_path: Path):
    entry = tmp_path / "docker-entrypoint.sh"
    entry.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    entry.chmod(0o755)
    kib = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 1024
    for size, pool in (("", f"{kib // 4}K"), ("3G", "3G")):
        said = Containers({**GIVEN, "TARGET_BUFFER_POOL": size}, {}).entered("target", tmp_path)
        assert said.stdout.split() == ["mariadbd", f"--innodb-buffer-pool-size={pool}"]
    refused = Containers({**GIVEN, "TARGET_PASSWORD": ""}, {}).entered("target", tmp_path)
    assert (refused.returncode, refused.stdout.split()[:3]) == (1, ["TARGET_PASSWORD", "is", "not"])


@pytest.fixture
def containers(database: Address, tmp_path: Path) -> Iterator[Containers]:
    """The file's services with all characters in passwords; MySQL is the tests' own server, with the file's account."""
    redis, web = free_port(), free_port()
    user = f"millrace@'{database.host}'"
    here = {
        "redis:6379": f"127.0.0.1:{redis}",
        "mysql:3306/millrace": f"{database.host}:{database.port}/{database.database}",
        "/var/lib/millrace": str(tmp_path / "data"),
        "/incoming": str(tmp_path),
        "127.0.0.1:8000": f"127.0.0.1:{web}",
        "8000": str(web),
        "0.0.0.0": "127.0.0.1",
        "python": sys.executable,
        "redis-cli": f"{Path(redis_program()).with_name('redis-cli')}\0-p\0{redis}",
        "redis-server": f"{redis_program()}\0--port\0{redis}\0--bind\x00127.0.0.1\0--dir\0{tmp_path}",
        "--host=127.0.0.1": f"--host={database.host} --port={database.port}",
        "'SELECT 1' millrace": f"'SELECT 1' {database.database}",
    }
    with connect(database) as connection:
        make_tables(tmp_path, own_database(database))
        # As the image's entrypoint does.
        execute(connection, f"CREATE USER {user} IDENTIFIED BY '{PASSWORD}'")
        execute(connection, f"GRANT ALL ON `{database.database}`.* TO {user}")
        yield Containers(GIVEN, here)
        execute(connection, f"DROP USER {user}")


@on_one_server
def test_each_command_runs_by_hand_with_any_password(containers: Containers, tmp_path: Path):
    with ExitStack() as ends:

        def start(service: str) -> None:
            process = Process(containers.command(service), containers.environment(service), tmp_path / f"{service}.log")
            ends.callback(process.stop)
            process.start()

        start("redis")
        for service in ("redis", "mysql"):
            wait_until(lambda service=service: containers.is_healthy(service), what=service)
        assert not containers.is_healthy("beat")
        prepared = containers.run("prepare")
        assert prepared.returncode == 0, prepared.stderr
        for service in MILLRACE:
            start(service)
        for service in MILLRACE:
            wait_until(lambda service=service: containers.is_healthy(service), what=service)

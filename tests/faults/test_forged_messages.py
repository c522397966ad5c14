"""Messages of somebody who can write to Redis: none runs code or stops a worker, and imports continue."""

import base64
import inspect
import json
import pickle
import subprocess
from pathlib import Path
from typing import Any
from uuid import uuid4

import redis
from celery import Task

import importer.tasks
from importer.models import Chunk, ImportJob
from tests.faults.conftest import Disturbed
from tests.stack import Stack, wait_until
from tests.targets import on_one_server

QUEUES = ("load", "control", "scan")


class Run:
    """Runs a command when it is unpickled."""

    def __init__(self, command: str) -> None:
        self.command = command

    def __reduce__(self) -> tuple[Any, ...]:
        return subprocess.check_call, (["/bin/sh", "-c", self.command],)


def message(task: str, args: Any, content_type: str = "application/json", body: bytes | None = None) -> str:
    """A message as Celery sends it (its protocol 2), base64 in the envelope of kombu."""
    key = str(uuid4())
    embed: dict[str, Any] = {"callbacks": None, "errbacks": None, "chain": None, "chord": None}
    body = json.dumps([args, {}, embed]).encode() if body is None else body
    return json.dumps({
        "body": base64.b64encode(body).decode(),
        "content-encoding": "utf-8" if content_type == "application/json" else "binary",
        "content-type": content_type,
        "headers": {"lang": "py", "task": task, "id": key, "root_id": key, "argsrepr": "()", "kwargsrepr": "{}"},
        "properties": {
            "correlation_id": key, "delivery_mode": 2, "delivery_info": {"exchange": "", "routing_key": "load"},
            "priority": 0, "body_encoding": "base64", "delivery_tag": key,
        },
    })  # fmt: skip


TASKS = ("scan", "verify", "arrange", "restore", "stage", "finish", "clean", "advance", "take_lab", "take_run", "tell")
LOAD = "importer.tasks.load_run"
WRONG_ARGS = [(), ("1; DROP TABLE t",), (-1,), (0,), (2**80,), (1.5,), (True,), ({"pk": 1},), ([],), (None,), (1, 2), 1]


def forged(marker: Path) -> list[str]:
    """Messages that would write the marker if any of them were believed, and others that are wrong in some way."""
    touch = f"touch {marker}"
    yaml = f"!!python/object/apply:subprocess.check_call [['/bin/sh', '-c', '{touch}']]"
    right = json.loads(message(LOAD, (2**40,)))
    changed = [{**right, name: value} for name in right for value in (None, {}, [], "x", 7)]
    changed += [
        {**right, "headers": {**right["headers"], name: ["x"]}} for name in (*right["headers"], "eta", "timelimit")
    ]
    changed += [{**right, "properties": {**right["properties"], name: 7}} for name in right["properties"]]
    return [
        message(LOAD, (), "application/x-python-serialize", pickle.dumps(((Run(touch),), {}, {}))),
        message(LOAD, (), "application/x-yaml", yaml.encode()),
        message(LOAD, (), "text/plain", b"\xff\xfe"),
        *(message(task, (touch,)) for task in ("os.system", "celery.chunks", "celery.map", "celery.chord_unlock")),
        message("importer.tasks.none_of_this_name", (1,)),
        *(message(LOAD, args) for args in WRONG_ARGS),
        *(message(f"importer.tasks.{name}", args) for name in TASKS for args in ((2**40,), ("x",))),
        *(message(LOAD, (), body=body) for body in (b"{not json", b'"text"', b"[]", b"null", b"[" * 100_000)),
        *map(json.dumps, changed),
        *("", "no message", "null", "[]", "7", "[" * 100_000),
    ]


def pids(stack: Stack) -> list[int | None]:
    """The processes of the workers; they are others if a worker ended and was started again."""
    return [worker.popen.pid if worker.popen else None for worker in (stack.load_worker, stack.control_worker)]


@on_one_server
def test_forged_messages_run_nothing_and_stop_no_worker(disturbed: Disturbed, stack: Stack, tmp_path: Path):
    broker = redis.Redis.from_url(stack.redis.url)
    before = pids(stack)
    marker = tmp_path / "run"
    disturbed.in_the_middle()
    for queue in QUEUES:
        for each in forged(marker):
            broker.lpush(queue, each)
        broker.lpush(queue, b"\xff\xfe")
    disturbed.ends_well()
    wait_until(lambda: not any(broker.llen(queue) for queue in QUEUES), what="all messages are taken")
    assert not marker.exists()
    assert pids(stack) == before


@on_one_server
def test_workers_take_no_remote_commands(disturbed: Disturbed, stack: Stack):
    from config.celery import app

    before = pids(stack)
    disturbed.in_the_middle()
    app.control.shutdown()
    assert app.control.ping(timeout=1) == []
    disturbed.ends_well()
    assert pids(stack) == before


def test_every_task_takes_an_id_or_nothing():
    """Other messages would be dropped (config/broker.py)."""
    tasks = [each for each in vars(importer.tasks).values() if isinstance(each, Task)]
    assert len(tasks) > 10
    for task in tasks:
        parameters = inspect.signature(task.run).parameters.values()
        assert [each.annotation for each in parameters] in ([], [int]), task.name


@on_one_server
def test_a_message_for_the_chunk_of_an_ended_import_loads_nothing(disturbed: Disturbed, stack: Stack):
    disturbed.ends_well()
    broker = redis.Redis.from_url(stack.redis.url)
    before = disturbed.contents()
    for pk in Chunk.objects.filter(job=disturbed.job).values_list("pk", flat=True)[:5]:
        broker.lpush("load", message("importer.tasks.load_run", (pk,)))
    for step in ("scan", "finish", "restore", "verify", "clean"):
        broker.lpush("control", message(f"importer.tasks.{step}", (disturbed.job.pk,)))
    wait_until(lambda: not any(broker.llen(queue) for queue in QUEUES), what="all messages are taken")
    assert disturbed.contents() == before
    assert ImportJob.objects.get(pk=disturbed.job.pk).status == ImportJob.Status.SUCCEEDED

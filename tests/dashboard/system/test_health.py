"""/healthz tells what an installation lacks, also what nobody would notice but for its speed; /readyz what fails."""

from pathlib import Path

import pytest
from django.urls import reverse

from importer import queue
from importer.engine.native import loader
from importer.worker.hosts import installation, presence

pytestmark = pytest.mark.django_db


@pytest.mark.skipif(not loader.library(), reason="the library is not compiled here")
def test_healthz_says_which_build_of_the_c_library_is_in_use(client):
    answer = client.get(reverse("healthz")).json()
    assert answer["native"] == loader.build_in_use()
    assert answer["native"] in loader.BUILDS


def test_healthz_says_that_the_c_library_is_missing(client, monkeypatch):
    monkeypatch.setattr(loader, "library", lambda: None)
    answer = client.get(reverse("healthz")).json()
    assert answer["native"] is None
    assert answer["database"] is True
    assert {"redis", "workers"} <= set(answer)


def test_readyz_names_each_queue_without_a_live_worker(client, redis):
    answer = client.get(reverse("readyz"))
    assert answer.status_code == 503
    assert answer.json() == {"ready": False, "failing": ["queue control", "queue load", "queue scan"], "low": []}
    presence.announce("load@a", 4, ["load"])
    presence.announce("control@a", 2, ["control"])
    assert client.get(reverse("readyz")).json()["failing"] == ["queue scan"]
    presence.announce("scan@b", 2, ["scan"])
    answer = client.get(reverse("readyz"))
    assert (answer.status_code, answer.json()) == (200, {"ready": True, "failing": [], "low": []})
    presence.withdraw("load@a")
    assert client.get(reverse("readyz")).json()["failing"] == ["queue load"]


def test_readyz_names_redis_and_the_database_and_tells_no_more(client, settings):
    settings.REDIS_URL = "unix:///nowhere/redis.sock?db=0"
    queue.connection.cache_clear()
    answer = client.get(reverse("readyz"))
    assert (answer.status_code, answer.json()["failing"]) == (503, ["redis"])
    health = client.get(reverse("healthz"))
    assert (health.status_code, health.json()["redis"]) == (200, False), "pages, uploads and the API work"
    assert b"nowhere" not in answer.content
    queue.connection.cache_clear()


@pytest.mark.parametrize("folder", ["VAR_DIR", "UPLOAD_DIR", "PLAIN_DIR", "REJECTS_DIR"])
def test_readyz_names_a_disk_without_room(client, redis, settings, tmp_path, folder):
    presence.announce("all@a", 4, ["load", "control", "scan"])
    for name in ("VAR_DIR", "UPLOAD_DIR", "PLAIN_DIR", "REJECTS_DIR"):
        setattr(settings, name, tmp_path / name / "not" / "yet")
    assert client.get(reverse("readyz")).status_code == 200
    # A file system without one free byte (proc(5)).
    setattr(settings, folder, Path("/proc/not-yet"))
    answer = client.get(reverse("readyz"))
    assert (answer.status_code, answer.json()) == (503, {"ready": False, "failing": ["disk"], "low": ["disk"]})


def test_readyz_warns_before_a_disk_is_full(client, redis, settings):
    presence.announce("all@a", 4, ["load", "control", "scan"])
    settings.WARN_FREE_BYTES = 2**62
    answer = client.get(reverse("readyz"))
    assert (answer.status_code, answer.json()) == (200, {"ready": True, "failing": [], "low": ["disk"]})


def test_a_store_that_does_not_answer_is_named(client, redis, settings, closed_port):
    presence.announce("all@a", 4, ["load", "control", "scan"])
    settings.FILE_STORE, settings.FILE_STORE_ENDPOINT = "s3://files/x", f"http://127.0.0.1:{closed_port}"
    settings.FILE_STORE_REGION = settings.FILE_STORE_ACCESS_KEY = settings.FILE_STORE_SECRET_KEY = "x"
    answer = client.get(reverse("readyz"))
    assert (answer.status_code, answer.json()["failing"]) == (503, ["store"])
    assert b"files/x" not in answer.content
    installation._store_answers.cache_clear()
    assert not installation.state().store_answers
    installation._store_answers.cache_clear()

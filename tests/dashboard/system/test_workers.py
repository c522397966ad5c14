"""The page Workers and its address in the API: hosts, versions, slots and load of the workers that are alive."""

import re
import time

import pytest
from django.urls import reverse

from config.version import VERSION
from importer import queue
from importer.models import Target
from importer.worker.hosts import presence
from tests.dashboard.api.program import Program
from tests.dashboard.home.test_page import make_schedule
from tests.dashboard.job_data import make_job
from tests.dashboard.lab.reports import reported
from tests.people import admin, operator, stranger, viewer
from tests.stack import announce_workers

pytestmark = pytest.mark.django_db


@pytest.fixture
def page(client):
    client.force_login(operator("olga"))

    def read() -> str:
        return client.get(reverse("workers")).content.decode()

    return read


def test_each_worker_is_shown_with_host_version_slots_and_load(page, redis):
    presence.announce("load@eu-1", 4, ["load"], busy=3)
    presence.announce("control@eu-1", 2, ["control", "scan"])
    html = page()
    assert html.count(">eu-1<") == 2
    assert ">3 of 4<" in html
    assert "control, scan" in html
    assert re.search(r"\b\d+ s ago", html)
    assert "No worker serves" not in html
    assert "Several versions" not in html


def test_the_imports_that_a_host_loads_are_named(page, redis):
    presence.announce("load@eu-1", 4, ["load"])
    job = make_job()
    assert "Loads now" in page()
    assert reverse("job", args=[job.pk]) not in page()
    job.chunks.filter(status="loading").update(worker="4711@eu-1")
    assert f'<a href="{reverse("job", args=[job.pk])}">import {job.pk}</a>' in page()


def test_a_queue_without_workers_and_another_version_are_named(page, redis, client):
    presence.announce("load@eu-1", 4, ["load"], version="0.0.9")
    html = page()
    assert "No worker serves control, scan" in html
    assert f"Several versions run: 0.0.9, {VERSION}" in html
    presence.announce("load@eu-2", 4, ["load"])
    make_job()
    home = client.get(reverse("home")).content.decode()
    assert "They have several versions" in home
    assert "No worker serves control, scan: imports wait." in home.partition('class="home"')[0]


@pytest.mark.parametrize(("ahead", "named"), [(60, 60), (-60, -60), (3, None)])
def test_a_host_whose_clock_differs_is_named(page, redis, ahead, named):
    presence.announce("load@here", 4, ["load"])
    presence.announce("load@there", 4, ["load"], time=time.time() + ahead)
    found = re.findall(r"The clock of (\w+) differs by (\S+) s", page())
    assert [(host, seconds.replace("\N{MINUS SIGN}", "-")) for host, seconds in found] == (
        [("there", str(named))] if named else []
    )
    assert Program(admin("root")).read("workers")["wrong_clocks"] == ({"there": named} if named else {})


def test_a_label_that_no_worker_has_is_named_with_its_targets(page, redis):
    Target.objects.create(name="far", host="db", user="u", database="d", label="eu-west")
    presence.announce("load@here", 4, ["load"])
    named = "The label eu-west needs a loading and a control worker: imports into far wait."
    assert named in page()
    presence.announce("load@there", 4, ["load.eu-west"], labels=["eu-west"])
    assert named in page(), "nobody scans its files"
    presence.announce("control@there", 2, ["control.eu-west", "scan.eu-west"], labels=["eu-west"])
    assert named not in page()


def test_a_label_s_targets_are_not_named_to_who_may_not_see_them(client, redis):
    Target.objects.create(name="far", host="db", user="u", database="d", label="eu-west")
    presence.announce("load@here", 4, ["load"])
    nobody = stranger("sam")
    client.force_login(nobody)
    assert "far" not in client.get(reverse("workers")).content.decode()
    assert Program(nobody).read("workers")["idle_labels"] == {}
    assert Program(admin("root")).read("workers")["idle_labels"] == {"eu-west": ["far"]}


def test_without_redis_nobody_claims_that_there_are_no_workers(page, settings, client):
    settings.REDIS_URL = "unix:///nowhere/redis.sock?db=0"
    queue.connection.cache_clear()
    assert "Redis does not answer" in page()
    make_job()
    home = client.get(reverse("home")).content.decode()
    assert "Redis does not answer: imports wait." in home.partition('class="home"')[0]
    assert "No worker is running" not in home
    queue.connection.cache_clear()


def test_that_no_worker_runs_stands_before_what_waits_for_one(redis, client):
    client.force_login(admin("root"))
    make_job()
    schedule = make_schedule()
    one = reverse("schedule", args=[schedule.pk])
    pages = {reverse("home"): "home", reverse("schedules"): "list-group", one: "schedule-figures"}
    for address, follows in pages.items():
        before = client.get(address).content.decode().partition(f'class="{follows}')[0]
        assert "No worker is running: imports wait." in before, address
    announce_workers()
    assert "imports wait" not in client.get(reverse("schedules")).content.decode()


def test_every_page_says_once_that_no_worker_runs_also_when_it_refreshes(redis, client):
    client.force_login(admin("root"))
    job, schedule = make_job(), make_schedule()
    lab = reported(job.target, status="running", eight=2.0)
    places = [
        *(reverse(each) for each in ("home", "jobs", "schedules", "history", "labs", "new", "targets", "channels")),
        reverse("job", args=[job.pk]),
        reverse("schedule", args=[schedule.pk]),
        reverse("lab", args=[lab.pk]),
    ]
    said = '<div class="alert alert-danger">No worker is running: imports wait.'
    assert {place: client.get(place).text.count(said) for place in places} == dict.fromkeys(places, 1)
    lives = [reverse("job_live", args=[job.pk]), reverse("lab_live", args=[lab.pk])]
    refreshed = [reverse("home"), reverse("jobs"), places[-2], *lives]
    seen = {place: client.get(place, headers={"HX-Request": "true"}).text for place in refreshed}
    frame = '<div id="halted" aria-live="polite" hx-swap-oob="true">'
    assert all(f'{frame}<div class="alert' in part for part in seen.values())
    # What they show otherwise is the same: the end of the outage alone is news.
    tokens = {each: re.search(r'name="seen" value="([^"]+)"', seen[each])[1] for each in refreshed if each != places[1]}
    announce_workers()
    for place, token in tokens.items():
        answer = client.get(place, {"seen": token}, headers={"HX-Request": "true"})
        assert f"{frame}</div>" in answer.text, place


def test_viewers_do_not_see_hosts(client):
    client.force_login(viewer("vic"))
    assert client.get(reverse("workers")).status_code == 403


def test_the_api_lists_them(redis):
    presence.announce("load@eu-1", 4, ["load"], busy=1)
    seen = Program(admin("root")).read("workers")
    (worker,) = seen["workers"]
    assert (worker["host"], worker["role"], worker["slots"], worker["busy"]) == ("eu-1", "load", 4, 1)
    assert seen["idle_queues"] == ["control", "scan"]
    assert seen["versions"] == [VERSION]

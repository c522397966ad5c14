"""A run whose import was restored says so wherever the run is shown: its rows are not in the table."""

import re
from dataclasses import replace

import pytest
from django.urls import reverse

from importer.engine.stored import to_json
from importer.jobs.steps.table_backup import restore_backup
from importer.models import ImportJob, Schedule, ScheduleRun
from importer.models.channel import Event
from importer.notifications.payload import payload_of
from tests.importer.schedules.conftest import drop
from tests.importer.schedules.steps import run_now
from tests.importer.schedules.test_schedule_command import schedule as command
from tests.importer.schedules.test_schedule_command import told

pytestmark = pytest.mark.usefixtures("no_workers")


def replacing(made: Schedule) -> Schedule:
    """The schedule, each import of which replaces the table, without rows that do not fit."""
    made.options_json = to_json(replace(made.options, mode="replace", on_error="reject"))
    made.save()
    return made


def job_of(run: ScheduleRun, name: str = "a.csv") -> ImportJob:
    return run.files.get(name=name).job


def test_every_place_names_a_restored_run(make, folder, client, admin_user):
    schedule = replacing(make())
    drop(folder, "a.csv", "1,one\nbad,x\n")
    run = run_now(schedule)
    client.force_login(admin_user)
    page = reverse("schedule", args=[schedule.pk])
    before = client.get(page)
    assert "1 completed with rejects" in before.text
    assert (before.context["figures"]["files"], before.context["figures"]["rows"]) == (1, 1)
    restore_backup(job_of(run).pk)

    # A page that is open shows it.
    live = client.get(page, {"seen": before.context["seen"]}, headers={"HX-Request": "true"})
    assert live.status_code == 200
    assert re.search(r'status-secondary status-lite">(?:(?!</span>).)*Restored', live.text, re.S)
    assert re.search(r"Runs of \d+ \w+: 1 restored", live.text)
    assert ", 1 restored" in live.text
    figures = live.context["figures"]
    assert (figures["lossy"], figures["files"], figures["rows"]) == (0, 0, 0)
    (performance,) = client.get(reverse("history")).context["table"].lines
    assert [each.text for each in performance.badges] == ["restored"]
    for place in (page, reverse("schedules"), reverse("home")):
        shown = client.get(place).text
        assert re.search(r'class="mark mark-secondary"[^>]*: restored"', shown), place
        assert "ompleted with rejects" not in shown, place
    assert command("show", "nightly")["runs"][0]["outcome"] == "restored"
    assert command("list")["schedules"][0]["last_run"]["colour"] == "grey"
    assert ", restored\n" in told("show", "nightly")
    assert payload_of(Event.RECOVERED, "", None, run, None)["run"]["outcome"] == "restored"


def test_rows_that_another_import_of_the_run_lost_come_first(make, folder):
    schedule = replacing(make())
    drop(folder, "a.csv", "1,one\n2,two\nbad,x\n")
    drop(folder, "b.csv", "3,three\n")
    run = run_now(schedule)
    restore_backup(job_of(run, "b.csv").pk)
    assert command("show", "nightly")["runs"][0]["outcome"] == "completed with rejects"

"""Each outcome has one word, colour and icon, on pages, in messages and in docs/contracts.md."""

import re
from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from importer.jobs import report as job_report
from importer.models import DiscoveredFile, ImportJob, Lab, MappingPreset, Schedule, ScheduleRun, SourceConnection
from importer.models.channel import Event
from importer.models.outcomes import OUTCOMES, Colour
from importer.models.outcomes.looks import LOOKS, NO_COMPLETE_FILE, NO_NEW_FILE, look_of
from importer.notifications.payload import payload_of
from importer.notifications.rendering import bodies
from importer.schedules import serialization
from tests.dashboard.job_data import Status, make_job
from tests.stack import ROOT

pytestmark = pytest.mark.django_db
ICONS = ROOT / "templates" / "shared" / "icons"


def test_the_contract_names_the_colour_and_icon_of_each():
    table = re.findall(
        r"^\| ([a-z ]+)(?::[^|]*)? \|[ \d]*\| (\w+) \| (\w+) \|$", (ROOT / "docs/contracts.md").read_text(), re.M
    )
    assert {words: (colour, icon) for words, colour, icon in table} == {
        each.words: (each.colour.value, each.icon) for each in (*OUTCOMES, NO_NEW_FILE, NO_COMPLETE_FILE)
    }


def test_every_state_has_a_look_and_each_icon_a_file():
    states = {*ImportJob.Status.values, *ScheduleRun.Status.values, *Lab.Status.values} - {"unapproved"}
    assert states <= set(LOOKS)
    assert {each.icon for each in LOOKS.values() if each.icon} <= {path.stem for path in ICONS.iterdir()}


@pytest.fixture
def schedule() -> Schedule:
    job = make_job(Status.SUCCEEDED, chunks=1)
    recipe = {name: getattr(job, name) for name in ("target", "schema_name", "table_name", "dialect_json")}
    preset = {"header": ["id"], "columns_json": [], "mapping_json": []}
    MappingPreset.objects.create(name="orders", **preset, **recipe)
    place = SourceConnection.objects.create(name="incoming", kind="folder", base="/tmp")
    due = {"pattern": "o.csv", "trigger": "cron", "cron": "30 2 * * *"}
    return Schedule.objects.create(name="nightly", connection=place, options_json={}, **due, **preset, **recipe)


def ran(schedule: Schedule, note: str = "", job: ImportJob | None = None) -> ScheduleRun:
    # In the order in which they are made, and in the month that the calendar shows.
    at = timezone.now() - timedelta(microseconds=9 - ScheduleRun.objects.count())
    times = {"due_at": at, "moment": at, "started_at": at, "finished_at": at}
    run = ScheduleRun.objects.create(schedule=schedule, cause="due", status="succeeded", note=note, **times)
    if job:
        DiscoveredFile.objects.create(run=run, schedule=schedule, name="o.csv", outcome="loaded", job=job)
    return run


def test_a_run_without_a_new_file_is_grey_and_one_that_lost_rows_amber(browser, schedule: Schedule):
    lossy = ran(schedule, job=make_job(Status.SUCCEEDED, chunks=1, rejected_rows=2495))
    nothing = ran(schedule, note=NO_NEW_FILE.words)
    growing = ran(schedule, note=f"{NO_COMPLETE_FILE.words}: 2 files still written")
    page = browser.get(reverse("schedule", args=[schedule.pk])).text
    for words, colour in (
        ("completed with rejects", "yellow"),
        ("no new file", "secondary"),
        ("no complete file", "secondary"),
    ):
        assert f'class="badge bg-{colour}-lt"' in page
        assert re.search(
            rf'class="status status-{colour} status-lite">(?:(?!</span>).)*{words.capitalize()}', page, re.S
        )
    assert "2 without a new file" in page
    assert 'class="status status-secondary' in browser.get(reverse("schedules")).text
    outcomes = [serialization.run(run)["outcome"] for run in (lossy, nothing, growing)]
    assert outcomes == ["completed with rejects", "no new file", "no complete file"]
    assert [payload_of(Event.REJECTS, "", None, run, None)["run"]["colour"] for run in (lossy, nothing)] == [
        "amber",
        "grey",
    ]


def test_the_report_and_the_mail_tell_the_colour(schedule: Schedule):
    job = make_job(Status.SUCCEEDED, chunks=1, rejected_rows=5)
    report = job_report.report(job)
    assert (report["outcome"], report["colour"]) == ("completed with rejects", Colour.AMBER)
    text, html = bodies(payload_of(Event.REJECTS, "5 rows did not go in.", job, None, None), "ops")
    assert "Outcome: completed with rejects" in text
    assert f"color: {Colour.AMBER.hex}" in html
    assert look_of("completed with rejects").colour is Colour.AMBER


def test_a_restored_import_says_what_is_in_the_table_now(browser):
    job = make_job(Status.SUCCEEDED, chunks=1)
    ImportJob.objects.filter(pk=job.pk).update(restored_at=timezone.now() - timedelta(hours=1), kept_table="")
    later = make_job(Status.SUCCEEDED, chunks=1)
    page = browser.get(reverse("job", args=[job.pk])).text
    for said in (
        "The old table is back",
        "It has none of the rows of this import.",
        "The table of this import is dropped.",
    ):
        assert said in page
    assert f'what was loaded into it since by <a href="/jobs/{later.pk}/">import {later.pk}</a>' in page
    assert "Balanced, and verified" not in page
    assert browser.get(reverse("jobs")).text.count("Restored</span>") == 1

"""What settles an import or a run that did not end well is told alike wherever the two are shown."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from dashboard.api.resources.imports.imports import show
from importer import schedules
from importer.engine.stored import to_json
from importer.jobs import report
from importer.jobs.actions import commands, fixes
from importer.jobs.rejects.rows import rows as rejected_rows
from importer.models import ImportJob, Schedule, ScheduleRun
from importer.models.channel import Event
from importer.models.outcomes import NEEDS_ANSWER
from importer.models.outcomes.sequels import run_sequels, told
from importer.notifications.payload import payload_of
from importer.preparation.prepare import prepare
from importer.preparation.presets import save
from importer.preparation.request import ImportRequest
from importer.schedules.serialization import run as run_as_json
from importer.sources import uploads
from tests.engine.loads import run_sql
from tests.importer.schedules.conftest import drop
from tests.importer.schedules.steps import request_of, run_now
from tests.importer.steps import import_of, run

pytestmark = pytest.mark.usefixtures("no_workers")
# The line of a total, which is no row.
ASKED = "1,one\n2,two\nTotal,2\n"
BAD = "x,one\ny,two\n"


@pytest.fixture
def rejecting(make: Callable[..., Schedule]) -> Schedule:
    made = make()
    made.options_json = to_json(replace(made.options, on_error="reject"))
    made.save()
    return made


def job_of(of: ScheduleRun) -> ImportJob:
    job = of.files.get().job
    assert job
    return job


def fix(job: ImportJob, person: User) -> ImportJob:
    """Correct each rejected row in its first field, and load them."""
    for number, row in enumerate(rejected_rows(job, None, 0, 10)):
        _, *others = fixes.texts_of(job, person, row)
        fixes.save_fix(job, person, row, [str(number), *others])
    return run(fixes.load_fixed(job, person)[0])


def expect_everywhere(client: Client, of: ScheduleRun, job: ImportJob | None, words: str, then: str) -> None:
    """Every place tells the sequel of the run and of its import, and Home asks nobody to look."""
    page = reverse("schedule", args=[of.schedule_id])
    of_import = [reverse("jobs"), reverse("job", args=[job.pk])] if job else []
    for place in (page, reverse("schedules"), reverse("home"), *of_import):
        shown = client.get(place).text
        assert re.search(rf"{words}, then {then}", shown, re.IGNORECASE), place
        assert not re.search(r'class="(mark mark-red|status status-red)', shown), place
    assert "Nothing needs your attention" in client.get(reverse("home")).text
    about = client.get(page).text
    assert ", 1 settled since" in about
    # Nothing there asks for what has been done.
    assert "Dismiss the run" not in about
    assert "text-danger" not in about
    assert "Run again" not in about
    assert run_as_json(of)["then"] == then
    assert payload_of(Event.FAILED, "", job, of, None)["run"]["then"] == then
    if job:
        job.refresh_from_db()
        assert told(job) == f"{words}, then {then}"
        assert report.report(job)["then"] == show(job)["then"] == then
        assert payload_of(Event.FAILED, "", job, of, None)["job"]["then"] == then


def test_rows_that_were_fixed_and_loaded(rejecting, folder: Path, client, admin_user):
    drop(folder, "a.csv", BAD)
    failed = run_now(rejecting)
    job = job_of(failed)
    assert (failed.status, job.status) == ("failed", "failed")
    client.force_login(admin_user)
    page = reverse("schedule", args=[rejecting.pk])
    before = client.get(page)
    assert "Dismiss the run" in before.text
    assert "1 failed</span>" in before.text
    fixed = fix(job, admin_user)
    # A page that is open shows it.
    assert client.get(page, {"seen": before.context["seen"]}, headers={"HX-Request": "true"}).status_code == 200
    expect_everywhere(client, failed, job, "failed", f"repaired by import {fixed.pk}")
    # Without the import that repaired it, it needs somebody again.
    fixed.delete()
    assert told(job) == "failed"
    assert schedules.needing_attention().get() == rejecting


def test_rows_of_which_one_is_still_missing(rejecting, folder: Path, admin_user):
    drop(folder, "a.csv", "1,one\n" + BAD)
    lossy = run_now(rejecting)
    job = job_of(lossy)
    first, second = rejected_rows(job, None, 0, 2)
    fixes.save_fix(job, admin_user, first, ["2", "one"])
    run(fixes.load_fixed(job, admin_user)[0])
    assert (told(job), run_sequels([lossy.pk])) == ("completed with rejects", {})
    fixes.save_fix(job, admin_user, second, ["3", "two"])
    last = run(fixes.load_fixed(job, admin_user)[0])
    assert told(job) == f"completed with rejects, then repaired by import {last.pk}"
    assert run_sequels([lossy.pk])[lossy.pk].words == f"repaired by import {last.pk}"


def test_a_file_that_was_loaded_by_hand_once_the_table_fits(make, folder: Path, database, tmp_path, client, admin_user):
    schedule = make()
    drop(folder, "a.csv", BAD)
    failed = run_now(schedule)
    job = job_of(failed)
    run_sql(database, "ALTER TABLE t MODIFY n VARCHAR(9)")
    # The same content under another name, which somebody has uploaded.
    copy = uploads.register(drop(tmp_path, "copy.csv", BAD))
    other = run(import_of(copy, job.target))
    client.force_login(admin_user)
    expect_everywhere(client, failed, job, "failed", f"repeated by import {other.pk}")


def test_a_run_whose_import_was_retried(make, folder: Path, database):
    schedule = make()
    drop(folder, "a.csv", BAD)
    failed = run_now(schedule)
    job = job_of(failed)
    run_sql(database, "ALTER TABLE t MODIFY n VARCHAR(9)")
    commands.retry(job.pk)
    run(job)
    assert run_sequels([failed.pk])[failed.pk].words == f"repeated by import {job.pk}"
    assert not schedules.needing_attention().exists()


def test_a_dismissal_names_its_person_until_a_retry(make, folder: Path, client, admin_user):
    schedule = make()
    drop(folder, "a.csv", BAD)
    failed = run_now(schedule)
    job = job_of(failed)
    client.force_login(admin_user)
    client.post(reverse("run_dismiss", args=[failed.pk]))
    expect_everywhere(client, failed, job, "failed", f"dismissed by {admin_user.username}")
    commands.retry(job.pk)
    run(job)
    assert told(job) == "failed"


@pytest.fixture
def held(make, folder: Path) -> ScheduleRun:
    """A run whose file ends in a line that may be no data."""
    schedule = make()
    drop(folder, "a.csv", ASKED)
    asked = run_now(schedule)
    assert (asked.status, asked.files.get().job) == (NEEDS_ANSWER.words, None)
    assert schedules.needing_attention().get() == schedule
    return asked


def test_a_question_that_a_person_answered_with_a_new_import(held, folder: Path, tmp_path, client, admin_user):
    client.force_login(admin_user)
    page = reverse("schedule", args=[held.schedule_id])
    before = client.get(page)
    assert "Dismiss the run" in before.text
    assert "1 to be answered</span>" in before.text
    # Other content answers nothing, nor does an import that fails.
    run(import_of(drop(tmp_path, "other.csv"), held.schedule.target))
    copy = uploads.register(drop(tmp_path, "copy.csv", ASKED))
    assert run(import_of(copy, held.schedule.target, known_format={"skip_footer": 0})).status == "failed"
    assert run_sequels([held.pk]) == {}
    answered = run(import_of(copy, held.schedule.target, known_format={"skip_footer": 1}))
    assert client.get(page, {"seen": before.context["seen"]}, headers={"HX-Request": "true"}).status_code == 200
    expect_everywhere(client, held, None, NEEDS_ANSWER.words, f"answered by import {answered.pk}")
    assert reverse("job", args=[answered.pk]) in client.get(page).text
    # Once the rows are out of the table again, so is the answer.
    answered.delete()
    assert run_sequels([held.pk]) == {}


def test_a_question_that_the_preset_of_the_schedule_answered(held, client, admin_user):
    schedule = held.schedule
    source = held.files.get().source
    assert source
    preset = save("answered", prepare(source, schedule.target, "t", ImportRequest(known_format={"skip_footer": 1})))
    schedules.update(schedule, request_of(schedule), preset)
    later = run_now(schedule)
    client.force_login(admin_user)
    expect_everywhere(client, held, None, NEEDS_ANSWER.words, f"answered by import {job_of(later).pk}")


def test_a_file_that_comes_late(make, folder: Path):
    schedule = make(no_file=Schedule.NoFile.FAIL)
    failed = run_now(schedule)
    assert failed.status == "failed"
    drop(folder, "a.csv", "1,one\n")
    later = run_now(schedule)
    assert run_sequels([failed.pk])[failed.pk].words == f"arrived by run {later.pk}"

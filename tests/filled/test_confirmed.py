"""What a button confirms is what its page has shown: found on every page, and refused for what came up later."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from html import unescape
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest
from django.conf import settings
from django.contrib.auth.models import Group, User
from django.http import HttpResponse
from django.test import Client
from django.urls import resolve, reverse
from django.utils import timezone

from dashboard.access.confirmed import CONFIRMED, FIELD
from importer import schedules
from importer.access import people
from importer.access.acting import acting_as
from importer.engine.load.outcome import Compared
from importer.engine.stored import to_json
from importer.jobs.actions import obstacles
from importer.models import (
    Channel,
    DiscoveredFile,
    ImportJob,
    Level,
    MappingPreset,
    Notification,
    RowFix,
    Schedule,
    ScheduleRun,
)
from importer.preparation import presets
from importer.sources import uploads
from tests.dashboard.job_data import REFUSED, Status, make_job
from tests.dashboard.test_rules import everything
from tests.filled.pages import LOOKED_AT, PAGES
from tests.filled.test_pages import text_of

FORM = re.compile(r"<form\b[^>]*>.*?</form>", re.DOTALL)
ASKS = ("data-confirm=", "job-confirm", 'name="overwrite"', 'name="accepted"')
# Fields by which a form is tied to what its page has shown in another way: a digest, or the things themselves.
OTHER_TIES = ("shown", "digest", "asked", "newest", "key", "basis")
# Addresses whose question is about the thing that it names, and about nothing that can come up later.
OF_ITSELF = {
    "job_cancel", "run_cancel", "lab_cancel", "lab_end_without", "account_filter_delete", "account_token_revoke",
    "grant_revoke", "person_active", "person_factors", "remove_source", "preset_delete", "schedule_delete",
    "connection_delete", "target_delete", "storage_file_delete",
}  # fmt: skip


def forms(html: str, here: str) -> list[tuple[str, str]]:
    """The forms that a page sends, each with the name of its address."""
    found = []
    for form in FORM.findall(html):
        head = form.split(">", 1)[0]
        if 'method="post"' in head:
            action = re.search(r'\saction="([^"]*)"', head)
            address = (unescape(action[1]) if action else here).split("?")[0]
            found.append((resolve(address).url_name or "", form))
    return found


def kept_field(form: str) -> str | None:
    found = re.search(rf'name="{FIELD}" value="([^"]*)"', form)
    return unescape(found[1]) if found else None


def job(status: Status, **fields: Any) -> ImportJob:
    return make_job(status, chunks=2, loaded=1, **fields)


def compared() -> ImportJob:
    counts = to_json(Compared(new=3, changed=2, unchanged=5, deleted=1))
    return job(Status.FAILED, seen_json={"bytes": 1}, compared_json=counts, staging="kept", problem=REFUSED)


def failed() -> ImportJob:
    return job(Status.FAILED, problem=REFUSED, rejected_rows=2)


def with_backup() -> ImportJob:
    return make_job(Status.SUCCEEDED, chunks=1, balanced=True, kept_table="osm.old", kept_rows=1, kept_bytes=1)


def with_old_rows() -> ImportJob:
    kept = {"kept_table": "osm.old", "kept_rows": 1, "kept_bytes": 1, "loaded_at": timezone.now()}
    return make_job(Status.SUCCEEDED, chunks=1, balanced=True, options_json={"mode": "upsert", "undo": "keep"}, **kept)


def loaded_by_another(job: ImportJob) -> None:
    fields = {"target": job.target, "schema_name": job.schema_name, "table_name": job.table_name}
    make_job(Status.SUCCEEDED, chunks=1, balanced=True, started_at=timezone.now(), committed_bytes=7, **fields)


def stuck() -> ImportJob:
    return next(each for each in ImportJob.objects.all() if obstacles.is_stuck(each) and each.unrestored)


def group() -> Group:
    return Group.objects.create(name="shop")


def ended_run(schedule: Schedule) -> ScheduleRun:
    now = timezone.now()
    return ScheduleRun.objects.create(
        schedule=schedule, cause="due", status="failed", due_at=now, moment=now, finished_at=now
    )


def half_loaded() -> DiscoveredFile:
    schedule = Schedule.objects.get(pk=1)
    failure = {"outcome": "failed", "problem": {}, "job": failed()}
    run = ended_run(schedule)
    return DiscoveredFile.objects.create(run=run, schedule=schedule, name="half.csv", size=1, **failure)


def drafted(place: int = 0) -> ImportJob:
    job = ImportJob.objects.get(pk=3)
    own = {"job": job, "key": job.key, "person": User.objects.get(username="admin"), "texts": ["7"] * len(job.mapping)}
    RowFix.objects.create(chunk=0, place=place, **own)
    return job


def preset() -> MappingPreset:
    return presets.save_from_job("mine", ImportJob.objects.get(pk=3))


def other_options(preset: MappingPreset) -> None:
    """Ann changes the preset after the page was shown."""
    given = presets.exported(preset)
    with acting_as(User.objects.get(username="ann")):
        presets.replace_exported(preset, replace(given, options=replace(given.options, max_rejects=99)), preset.target)


def one_more_message(channel: Channel) -> None:
    message = Notification.objects.filter(channel=channel, status=Notification.Status.WAITING)[0]
    message.pk, message.key, message.once = None, uuid4(), "another"
    message.save()


def of_preset(preset: MappingPreset) -> dict[str, str]:
    chosen = {"preset": str(preset.pk), "preset_shown": str(preset.pk), "preset_update": "yes"}
    return {"target": "1", "table": "orders", **chosen}


def html_of(answer: HttpResponse) -> str:
    return (b"".join(answer.streaming_content) if answer.streaming else answer.content).decode()


@dataclass(frozen=True)
class Case:
    """A button: the thing, the page of its owner, what happens between look and press, and what the form sends."""

    make: Callable[[], Any]
    page: str
    later: Callable[[Any], object]
    sent: Callable[[Any], dict[str, str]] = lambda _: {}
    owner: Callable[[Any], Any] = lambda thing: thing
    query: Callable[[Any], str] = lambda _: ""


def update(**values: Any) -> Callable[[ImportJob], object]:
    return lambda thing: ImportJob.objects.filter(pk=thing.pk).update(**values)


def more_dropped(job: ImportJob) -> None:
    dropped = job.arrangement_json
    assert dropped
    update(arrangement_json={**dropped, "keys": 2 * dropped["keys"]})(job)


def another_header(schedule: Schedule) -> None:
    """Another file comes, with as many fields as the first one."""
    first = schedules.drifted_file(schedule)
    assert first
    assert first.source
    path = Path(settings.IMPORT_FOLDERS[0]) / "products-2.csv"
    path.write_bytes(Path(first.source.path).read_bytes().replace(b"cost", b"rate"))
    run = ended_run(schedule)
    came = {"source": uploads.register(path), "size": path.stat().st_size, "problem": first.problem}
    DiscoveredFile.objects.create(run=run, schedule=schedule, name=path.name, outcome="failed", **came)


CASES = {
    "job_apply": Case(compared, "job", update(compared_json=to_json(Compared(new=3, changed=2, deleted=90)))),
    "job_retry": Case(failed, "job", update(rejected_rows=900)),
    "job_restore": Case(with_old_rows, "job", loaded_by_another),
    "job_drop_backup": Case(with_backup, "job", update(kept_table="osm.another")),
    "job_delete": Case(failed, "job_delete", update(rejected_rows=900)),
    "job_end_without": Case(stuck, "job", more_dropped),
    "schedule_forget": Case(
        half_loaded, "schedule", lambda each: update(loaded_rows=77)(each.job), lambda each: {"name": each.name},
        lambda each: each.schedule,
    ),
    "job_load_fixed": Case(drafted, "job_rejected", lambda _: drafted(place=1)),
    "save_preset": Case(
        preset, "new_source", other_options, of_preset, lambda _: SimpleNamespace(pk=LOOKED_AT),
        lambda preset: f"?preset={preset.pk}",
    ),
    "channel_delete": Case(lambda: Channel.objects.get(pk=2), "channel", one_more_message),
    "channel_discard": Case(lambda: Channel.objects.get(pk=2), "channel", one_more_message),
    "group_delete": Case(group, "group", lambda each: people.grant(each, "target", Level.LOAD)),
    "schedule_header": Case(
        lambda: Schedule.objects.get(pk=2), "schedule_header", another_header,
        lambda each: {f"column-{n}": f.column for n, f in enumerate(schedules.header_change(each).fields)},
    ),
}  # fmt: skip

# What a reader is told of a state that is too long to show.
SAID = {
    "save_preset": ("the preset mine, changed by ann at ",),
    "job_load_fixed": ("your corrected rows (now 2), changed by you at ",),
}


def test_each_question_of_each_page_is_tied_to_what_it_shows(admin: Client):
    made = [Case(each, "job", update()) for each in (compared, failed, with_backup)]
    person, somebody = User.objects.get(username="ann"), group()
    people.grant(somebody, "target", Level.LOAD)
    addresses = [reverse(each.name, args=each.args) + each.query for each in PAGES]
    addresses += [reverse("job", args=[each.make().pk]) for each in made]
    addresses += [reverse("group", args=[somebody.pk]), reverse("person", args=[person.pk]), reverse("account_own")]
    addresses += [reverse("job_delete", args=[4]), reverse("schedule_header", args=[2])]
    addresses += [reverse("job_rejected", args=[3])]
    half_loaded()
    untied, seen = set(), set()
    for address in addresses:
        html = html_of(admin.get(address))
        for name, form in forms(html, address.split("?")[0]):
            asks = name in CONFIRMED or (any(each in form for each in ASKS) and name not in OF_ITSELF)
            ties = (FIELD,) if name in CONFIRMED else OTHER_TIES
            if asks and not any(f'name="{each}"' in form for each in ties):
                untied.add((name, address))
            seen |= {name} & set(CONFIRMED)
    assert untied == set()
    assert seen == set(CONFIRMED)


def test_each_confirmation_has_a_case():
    assert set(CASES) == set(CONFIRMED)


@pytest.mark.parametrize("name", CASES)
def test_a_press_on_what_has_changed_is_refused_with_what_changed(admin: Client, name: str):
    case = CASES[name]
    thing = case.make()
    here, there = (reverse(each, args=[case.owner(thing).pk]) for each in (case.page, name))

    def shown() -> str:
        page = html_of(admin.get(here + case.query(thing)))
        return next(kept for each, form in forms(page, here) if each == name and (kept := kept_field(form)))

    before = shown()
    sent = {FIELD: before, **case.sent(thing)}
    case.later(thing)
    rows = everything()
    told = text_of(admin.post(there, sent, follow=True))
    assert "It has changed since the page showed it: " in told
    assert "Nothing was done." in told
    assert all(each in told for each in SAID.get(name, ()))
    assert not re.search(r"\b[0-9a-f]{6,}\b", told.partition("It has changed")[2].partition("Nothing was done")[0])
    assert everything() == rows
    # What the page shows now can be confirmed.
    now = shown()
    assert json.loads(now) != json.loads(before)
    answer = admin.post(there, {FIELD: now, **case.sent(thing)}, follow=True)
    assert "It has changed since" not in text_of(answer)


def test_a_draft_that_was_taken_back_has_no_time(admin: Client):
    """The drafts that are left were entered before the page was shown."""
    job = drafted()
    drafted(place=1)
    here = reverse("job_rejected", args=[job.pk])
    sent = {FIELD: next(kept_field(form) for name, form in forms(html_of(admin.get(here)), here) if name in SAID)}
    RowFix.objects.filter(job=job, place=1).delete()
    told = text_of(admin.post(reverse("job_load_fixed", args=[job.pk]), sent, follow=True))
    assert "your corrected rows (now 1), changed by you. Nothing was done." in told

"""A database of the version before the renames is migrated, loses nothing, and every page and reader understands it."""

import json
import re
from dataclasses import asdict
from html import unescape
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from dashboard import urls
from importer import jobs
from importer.engine.mysql.connection import Address, connect, fetch_all
from importer.engine.plan.stored_plan import plan_to_json
from importer.engine.source.dialect import Dialect
from importer.engine.stored import to_json
from importer.engine.tuning.budget import Budget
from importer.engine.tuning.sampling import Sample
from importer.history.chunks.timings import ChunkTimings
from importer.history.regressions import Changed
from importer.models import (
    Channel,
    DiscoveredFile,
    ImportJob,
    JobFact,
    JobRecord,
    Lab,
    Level,
    MappingPreset,
    Notification,
    Role,
    Schedule,
    ScheduleRun,
    SourceConnection,
    SourceFile,
    Target,
    Trial,
)
from tests.importer.migrations.old_database import DUMP, PASSWORD, VAR_DIR, OldDatabase, put_back_half_loaded
from tests.importer.migrations.pages import ACTIONS, HALF, JOBS, LEFT_OUT, OF_EACH, PAGES, Action, Page
from tests.importer.migrations.schema import schema_in_file
from tests.importer.steps import run
from tests.prepared import copy_of_tables

# Tables that are called otherwise now, by their old names.
RENAMED = {
    "importer_run": "importer_schedulerun",
    "importer_pickedfile": "importer_discoveredfile",
    "importer_hearing": "importer_subscription",
    "importer_notice": "importer_notification",
}
# Django writes rows of its own into these for each migration and each model.
GROWING = {"django_migrations", "django_content_type", "auth_permission"}
ADMIN_PASSWORD = "mill-race-9"


def as_kept(value: object) -> object:
    """As it comes out of a database again: tuples are lists."""
    return json.loads(json.dumps(value))


def text_of(answer: HttpResponse) -> str:
    """The page as HTML and as the words that a reader sees, both with single blanks."""
    content = b"".join(answer.streaming_content) if answer.streaming else answer.content
    html = unescape(content.decode())
    return " ".join(f"{html} {re.sub('<[^>]*>', ' ', html)}".split())


def assert_words(answer: HttpResponse, words: tuple[str, ...]) -> None:
    text = text_of(answer)
    assert [word for word in words if word not in text] == []


def rows_of(address: Address, table: str) -> int:
    with connect(address) as connection:
        return int(fetch_all(connection, f"SELECT COUNT(*) FROM {table}")[0][0])


class TestMigration:
    def test_no_table_loses_a_row(self, dumped: OldDatabase, migrated: OldDatabase):
        after = migrated.rows
        kept = {RENAMED.get(name, name): rows for name, rows in dumped.rows.items()}
        assert {name: after.get(name) for name in kept if name not in GROWING} == {
            name: rows for name, rows in kept.items() if name not in GROWING
        }
        assert all(after[name] >= kept[name] for name in GROWING)

    def test_its_tables_are_those_of_a_new_installation(self, migrated: OldDatabase, tmp_path: Path):
        new = tmp_path / "new.sqlite3"
        copy_of_tables(new)
        assert schema_in_file(migrated.file) == schema_in_file(new)

    def test_no_row_names_one_that_is_gone(self, migrated: OldDatabase):
        assert migrated.broken_references == []

    def test_the_dump_has_a_row_of_every_model(self, dumped: OldDatabase):
        assert [name for name, rows in dumped.rows.items() if name.startswith("importer_") and not rows] == []

    def test_the_dump_tells_nothing_of_the_machine_it_was_made_on(self):
        dump = DUMP.read_text()
        assert VAR_DIR in dump
        assert not re.search(r"/(?:work|tmp|home|root)/", dump)


class TestPages:
    def test_each_address_has_a_case(self):
        named = {each.name for each in urls.pages}
        known = {each.name for each in (*PAGES, *ACTIONS)} | set(LEFT_OUT)
        assert (named - known, known - named) == (set(), set())

    def test_all_imports_are_looked_at(self, old: OldDatabase):
        assert tuple(ImportJob.objects.order_by("pk").values_list("pk", flat=True)) == JOBS

    @pytest.mark.parametrize("page", PAGES, ids=str)
    def test_it_shows_what_the_old_version_stored(self, admin: Client, page: Page):
        answer = admin.get(reverse(page.name, args=page.args) + page.query)
        assert answer.status_code == page.status
        assert_words(answer, page.words)

    @pytest.mark.parametrize("name", OF_EACH)
    def test_the_page_of_each_object_is_there(self, admin: Client, name: str):
        for pk in OF_EACH[name]:
            # 286: it has ended, and the page need ask no more.
            assert admin.get(reverse(name, args=[pk])).status_code in (200, 286), pk

    @pytest.mark.parametrize("action", ACTIONS, ids=str)
    def test_its_buttons_work(self, admin: Client, action: Action):
        answer = admin.post(reverse(action.name, args=action.args), action.data, follow=True)
        assert answer.status_code == action.status
        assert_words(answer, action.words)

    def test_the_old_password_signs_in(self, old: OldDatabase):
        browser = Client()
        signed_in = browser.post(reverse("login"), {"login": "admin", "password": ADMIN_PASSWORD}, follow=True)
        assert_words(signed_in, ("Latest imports",))
        assert_words(browser.post(reverse("logout"), follow=True), ("Sign in",))

    def test_who_is_no_admin_sees_imports_and_no_channels(self, ann: Client):
        assert_words(ann.get(reverse("job", args=[15])), ("194 loaded",))
        assert not ann.get(reverse("channels")).context["rows"]
        assert ann.get(reverse("channel_new")).status_code == 403

    def test_who_is_no_admin_keeps_the_targets_of_own_imports(self, ann: Client):
        user = User.objects.get(pk=ann.session["_auth_user_id"])
        assert user.person.role == Role.OPERATOR
        own = set(ImportJob.objects.filter(created_by=user).values_list("target", flat=True))
        own |= set(Schedule.objects.filter(created_by=user).values_list("target", flat=True))
        assert own
        assert {grant.target_id for grant in user.grants.filter(kind="target", level=Level.LOAD)} == own

    def test_an_upload_goes_on_where_it_was(self, ann: Client):
        rest = b"7,more\n" + b"8,x\n" * 148 + b"\n"
        address, tus = reverse("upload", args=[HALF]), {"Tus-Resumable": "1.0.0"}
        assert ann.head(address, headers=tus)["Upload-Offset"] == "400"
        sent = {"content_type": "application/offset+octet-stream", "headers": {**tus, "Upload-Offset": "400"}}
        assert ann.patch(address, rest, **sent)["Upload-Offset"] == "1000"
        assert SourceFile.objects.get(key=HALF).status == SourceFile.Status.READY


# What a dialect of that version did without has these values.
DIALECT = as_kept(to_json(Dialect()))
# What plans have decided since then, with the value that keeps the old behaviour.
NEWER_DECISIONS = {
    "format": 1,
    "updates_per_row": 0,
    "no_markers": "",
    "added_columns": [],
    "server_file": None,
    "fed": None,
    "loaded_before": None,
}


@pytest.mark.usefixtures("old")
class TestStoredValues:
    @pytest.mark.parametrize("pk", JOBS)
    def test_a_plan_is_the_same_when_it_is_written_again(self, pk: int):
        job = ImportJob.objects.get(pk=pk)
        checks = job.plan_json["exactness"]
        dialect = checks and {**DIALECT, **checks["dialect"]}
        newer = {**NEWER_DECISIONS, "exactness": checks and {**checks, "utc": True, "dialect": dialect}}
        if readback := job.plan_json["readback"]:
            newer["readback"] = {**readback, "numbered_by": ""}
        if staged := job.plan_json["staged"]:
            newer["staged"] = {**staged, "definition": "", "columns": [], "keys": []}
        assert as_kept(plan_to_json(job.plan)) == {**job.plan_json, **newer}

    @pytest.mark.parametrize("model", [ImportJob, MappingPreset, Schedule, Lab])
    def test_a_recipe_is_the_same_when_it_is_written_again(self, model: type):
        for each in model.objects.all():
            assert each.options_json.items() <= as_kept(to_json(each.options)).items()
            assert each.options.time_zone == "+00:00"  # Until then all times were read as UTC.
            stated = each.options.max_rejects is not None or each.options.max_reject_percent is not None
            assert each.options.limits_rejects == stated  # Until then there was no default limit.
            assert as_kept(to_json(each.file_dialect)) == {**DIALECT, **each.dialect_json}
            assert as_kept([to_json(one) for one in each.mapping]) == each.mapping_json
            assert as_kept([to_json(one) for one in each.fillings]) == each.fillings_json

    def test_options_that_were_asked_for(self):
        careful, prepared, served = (ImportJob.objects.get(pk=pk).options for pk in (3, 10, 11))
        assert (careful.on_error, careful.max_rejects, careful.max_reject_percent) == ("reject", 50, 30.5)
        assert (careful.on_duplicate, careful.rounding, careful.chunk_bytes) == ("skip", "reject", 2048)
        assert (prepared.method, prepared.rows_per_statement, prepared.verify) == ("insert_prepared", 7, "full")
        assert (prepared.isolation, prepared.lock_table, prepared.foreign_key_checks) == (
            "REPEATABLE-READ",
            True,
            False,
        )
        assert prepared.session == {"innodb_lock_wait_timeout": "20", "net_read_timeout": "60"}
        assert served.server_variables == {"innodb_flush_log_at_trx_commit": "2", "innodb_io_capacity": "400"}

    def test_plans_of_each_mode(self):
        plans = {job.options.mode: job.plan for job in ImportJob.objects.filter(pk__in=(2, 7, 8, 9, 12))}
        assert set(plans) == {"append", "upsert", "replace", "create", "atomic"}
        assert [each.name for each in plans["append"].temporary_changes.keys] == ["by_customer", "by_time"]
        assert plans["upsert"].staged.numbered
        assert (plans["replace"].staged.old, plans["replace"].staged.engine) == (
            "millrace_old_aac900ddfc7b46e1b5bece1bd5924d56",
            "MyISAM",
        )
        assert plans["create"].final_table == "events"
        assert plans["atomic"].sorted_by
        assert ImportJob.objects.get(pk=10).plan.readback
        assert ImportJob.objects.get(pk=14).plan.exactness is None

    def test_how_fields_are_read(self):
        job = ImportJob.objects.get(pk=1)
        read = {each.column: each for each in job.mapping}
        assert (job.file_dialect.encoding, job.file_dialect.delimiter) == ("cp1252", ";")
        assert (read["name"].transforms, read["since"].datetime_format) == (("trim",), "%d.%m.%Y")
        assert {each.column: each.text or each.source for each in job.fillings} == {
            "file": "file", "line": "line", "number": "row", "loaded": "time", "origin": "import",
        }  # fmt: skip

    def test_what_is_changed_and_made_on_the_target(self):
        made, unrestored = (ImportJob.objects.get(pk=pk) for pk in (9, 59))
        assert (made.new_table.primary_key, made.new_table.partitions) == (("id",), 4)
        kept = as_kept(to_json(made.new_table))
        columns = zip(made.new_table_json["columns"], kept["columns"], strict=True)
        assert all(old.items() <= new.items() for old, new in columns)
        assert (made.new_table_json | {"columns": []}).items() <= (kept | {"columns": []}).items()
        assert as_kept(to_json(unrestored.temporary_changes)) == unrestored.arrangement_json
        assert [each.name for each in unrestored.unchecked] == ["two_customer"]
        assert unrestored.obstacle["kind"] == "TargetProblem"

    def test_problems_rejects_and_notices(self):
        assert ImportJob.objects.get(pk=4).problem["rows"][0]["line"] == 51
        assert ImportJob.objects.get(pk=4).chunks.get(number=2).problem["bad_rows"] == 1
        reasons = {each["code"]: each["rows"] for each in ImportJob.objects.get(pk=13).reject_reasons}
        assert reasons == {"1265": 3, "1366": 3}
        assert ImportJob.objects.get(pk=7).notices

    def test_records_of_the_history(self):
        slow, whole = (JobRecord.objects.get(pk=pk) for pk in (23, 2))
        assert [Changed.from_json(each).as_json() for each in slow.changed] == slow.changed
        timings = ChunkTimings.from_json(whole.chunk_timings)
        assert (timings.chunks, len(timings.points)) == (7, 7)
        assert JobFact.objects.filter(name="attempts", number=1).count() == 17
        assert as_kept(timings.as_json()) == whole.chunk_timings

    def test_labs(self):
        lab = Lab.objects.get(pk=1)
        assert lab.grid.values["chunk_bytes"] == (4096, 16384)
        assert as_kept(to_json(lab.grid)) == lab.grid_json
        assert lab.requested_sample == Sample(rows=60)
        assert lab.budget == Budget(**lab.budget_json)
        assert Lab.objects.get(pk=2).requested_sample == Sample(share=0.5)
        assert Lab.objects.get(pk=5).experiment == "naive"
        assert {asdict(lab.budget)["seconds"], len(lab.combinations)} == {600, 9}
        assert Trial.objects.filter(lab=1, status="done").first().timings["chunks"]["count"]

    def test_schedules_and_who_is_told(self):
        assert DiscoveredFile.objects.get(name="readings-22.csv").done_problem["kind"] == "SourceProblem"
        assert ScheduleRun.objects.get(pk=8).events[0]["event"] == "failed"
        assert [each.most_attempts for each in Schedule.objects.order_by("pk")] == [3, 5, 5]
        assert Schedule.objects.get(pk=1).subscriptions.get().events == ["late", "regression"]
        assert Notification.objects.get(pk=8).payload["details"]["imports"] == 7

    def test_secrets_are_read_with_the_old_key(self):
        assert Target.objects.get(name="warehouse").address.password == PASSWORD
        assert SourceConnection.objects.get(name="bucket").secrets == {"secret_key": "s3 secret of nobody"}
        assert Channel.objects.get(name="ops").secret == "sesame sesame sesame"


class TestImportsGoOn:
    @pytest.fixture(autouse=True)
    def half_loaded(self, old: OldDatabase, sales: Address) -> None:
        put_back_half_loaded(sales)

    def test_a_failed_one_is_retried_without_its_bad_rows(self, sales: Address):
        jobs.retry(4, leave_out=True)
        job = run(ImportJob.objects.get(pk=4))
        assert (job.status, job.balanced) == ("succeeded", True), job.problem
        assert (job.loaded_rows, job.rejected_rows, rows_of(sales, "orders")) == (137, 3, 137)
        assert JobRecord.objects.get(pk=4).facts.get(name="status").text == "succeeded"

    def test_a_paused_one_is_resumed(self, sales: Address):
        jobs.resume(15)
        job = run(ImportJob.objects.get(pk=15))
        assert (job.status, job.balanced, job.loaded_rows) == ("succeeded", True, 300), job.problem
        assert rows_of(sales, "orders_copy") == 300
        assert job.created_by == User.objects.get(username="ann")

"""What the audit log records: one event for each action, with who, from where, on what, and the outcome; no secret."""

import json
import re
from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import Group, User
from django.core.management import CommandError, call_command
from django.urls import reverse
from django.utils import timezone

from dashboard.access.rules import RULES
from dashboard.system.audit.words import WORDS
from importer.access import audit, people, tokens
from importer.access.acting import acting_as
from importer.access.counts import LONGEST_KEY
from importer.models import AuditEvent, Level, LimitCount, SourceFile
from importer.models.person import Unchangeable
from importer.retention import run as retention
from tests.dashboard.api.program import Program
from tests.dashboard.job_data import Status, make_job
from tests.dashboard.jobs.test_rejected_rows import with_rejects
from tests.dashboard.sign_in.test_sign_in import PASSWORD
from tests.people import admin, operator, stranger
from tests.targets import silent_target

pytestmark = pytest.mark.django_db

SECRET = "canary-9f2c77"
ROOT = Path(__file__).resolve().parents[4]


@pytest.fixture
def root(client):
    user = admin("root")
    client.force_login(user)
    return user


@pytest.fixture
def target():
    return silent_target(SECRET)


def only() -> AuditEvent:
    """The only event."""
    return AuditEvent.objects.get()


def form(**changes):
    values = {"name": "warehouse", "host": "127.0.0.1", "port": "1", "user": "loader", "database": "osm"}
    return values | {"password": "", "tls": "off", "tls_ca": "", "ceiling": "8"} | changes


def dump() -> str:
    """Everything in the log."""
    return json.dumps(list(AuditEvent.objects.values()), default=str)


class TestRequests:
    def test_says_who_did_what_to_which_thing_from_where(self, client, root):
        job = make_job(Status.LOADING)
        client.post(reverse("job_pause", args=[job.pk]), REMOTE_ADDR="203.0.113.9")
        event = only()
        assert (event.actor, event.actor_name, event.address) == (root, "root", "203.0.113.9")
        assert (event.action, event.object_id, event.object_name) == ("job_pause", str(job.pk), f"Import {job.pk}")
        assert (event.target, event.table, event.outcome) == (job.target.name, "osm.nodes", "done")
        assert abs(timezone.now() - event.at) < timedelta(minutes=1)

    def test_looking_leaves_no_event(self, client, root):
        job = make_job()
        for address in (reverse("jobs"), reverse("job", args=[job.pk]), reverse("targets"), reverse("audit")):
            assert client.get(address).status_code == 200
        assert not AuditEvent.objects.exists()

    def test_what_is_not_seen_is_recorded_as_refused(self, client, root):
        job = make_job()
        client.force_login(stranger("eve"))
        assert client.post(reverse("job_cancel", args=[job.pk])).status_code == 404
        assert (only().actor_name, only().outcome, only().object_name) == ("eve", "refused", f"Import {job.pk}")

    def test_what_is_forbidden_is_recorded_as_refused(self, client, target):
        client.force_login(operator("ann", Level.LOAD))
        assert client.post(reverse("target_delete", args=[target.pk])).status_code == 403
        assert (only().action, only().outcome, only().target) == ("target_delete", "refused", "warehouse")

    def test_an_error_that_the_page_shows_is_a_failure(self, client, root):
        job = make_job(Status.SUCCEEDED)
        client.post(reverse("job_pause", args=[job.pk]))
        assert only().outcome == "failed"
        assert "has succeeded" in only().details["reason"]

    def test_an_invalid_form_is_a_failure(self, client, root, target):
        assert client.post(reverse("target", args=[target.pk]), form(host="a b")).status_code == 422
        assert only().outcome == "failed"

    def test_a_verb_that_the_address_does_not_take_is_no_action(self, client, root):
        assert client.post(reverse("jobs")).status_code == 405
        assert not AuditEvent.objects.exists()

    def test_who_is_not_signed_in_leaves_no_event(self, client):
        job = make_job()
        client.post(reverse("job_pause", args=[job.pk]))
        assert not AuditEvent.objects.exists()

    def test_names_outlive_what_they_name(self, client, root, target):
        client.post(reverse("target_delete", args=[target.pk]))
        root.delete()
        assert (only().actor, only().actor_name, only().object_name) == (None, "root", "warehouse")

    def test_parts_of_an_upload_are_no_events_and_its_begin_is(self, client, root, settings, tmp_path):
        settings.UPLOAD_DIR = tmp_path
        headers = {"Tus-Resumable": "1.0.0", "Upload-Length": "4", "Upload-Metadata": "filename YS5jc3Y="}
        begun = client.post(reverse("uploads"), headers=headers)
        part = {"Tus-Resumable": "1.0.0", "Upload-Offset": "0"}
        client.patch(begun["Location"], b"a\n1\n", "application/offset+octet-stream", headers=part)
        assert SourceFile.objects.get().status == SourceFile.Status.READY
        assert (only().action, only().object_name, only().object_kind) == ("uploads", "a.csv", "source file")

    @pytest.mark.parametrize("which", ["reject", "reasons"])
    def test_a_download_of_rejects(self, client, root, settings, tmp_path, which):
        settings.REJECTS_DIR = tmp_path
        job = with_rejects()
        assert client.get(reverse(f"job_{which}_file", args=[job.pk])).status_code == 200
        assert (only().action, only().object_id, only().outcome) == (f"job_{which}_file", str(job.pk), "done")

    @pytest.mark.parametrize(
        ("name", "by_api", "more"),
        [("job_rejected", "rejects", "?cursor=MQ"), ("job_fix_row", "rejects/0/0", "")],
    )
    def test_looking_at_rejected_rows_once_a_minute(self, client, root, settings, tmp_path, name, by_api, more):
        """By a page or the API, for each import, from any page on: a program that reads all of them floods no log."""
        settings.REJECTS_DIR = tmp_path
        for job in (with_rejects(), with_rejects()):
            program = Program(root, name=f"of {job.pk}")
            for path in (f"imports/{job.pk}/{by_api}{more}", f"imports/{job.pk}/{by_api}"):
                assert program.read(path)
            assert (
                client.get(reverse(name, args=[job.pk, 0, 0][: 1 if name == "job_rejected" else 3])).status_code == 200
            )
            event = AuditEvent.objects.get(object_id=job.pk)
            assert (event.action, event.outcome, event.details) == (name, "done", {"by_token": f"of {job.pk}"})
        eve = Program(stranger("eve"))
        for _ in range(2):
            assert eve.send("GET", f"imports/{job.pk}/{by_api}").status_code == 404
        refused = AuditEvent.objects.get(actor_name="eve")
        assert (refused.action, refused.outcome) == (name, "refused")

    def test_looking_at_rows_of_an_import_with_a_number_beyond_all(self, client, root):
        """SQLite stores a key of any length; MySQL refuses a long one, and the page would fail."""
        assert client.get(f"/jobs/{10**60}/rejected/").status_code == 404
        assert only().outcome == "refused"
        assert max(len(each.key) for each in LimitCount.objects.all()) == LONGEST_KEY

    def test_the_words_are_those_of_addresses(self):
        others = {"sign_in", "sign_out", "wrong_token", "command", "import"}
        assert {name for name in WORDS if not name.startswith(("account_", "mfa_"))} - others <= set(RULES)


class TestTargets:
    def test_old_and_new_place_and_that_a_password_was_entered(self, client, root, target):
        moved = form(host="127.0.0.2", port="2", user="other", database="shop", tls="encrypt", password=f"{SECRET}-2")
        assert client.post(reverse("target", args=[target.pk]), moved).status_code == 302
        details = only().details
        assert details["host"] == {"old": "127.0.0.1", "new": "127.0.0.2"}
        assert details["port"] == {"old": 1, "new": 2}
        assert details["user"] == {"old": "loader", "new": "other"}
        assert details["database"] == {"old": "osm", "new": "shop"}
        assert details["tls"] == {"old": "off", "new": "encrypt"}
        assert details["entered"] == ["password"]
        # Nothing listens there: the check fails, and the target is changed all the same.
        assert only().outcome == "done"
        assert SECRET not in dump()

    def test_a_new_one(self, client, root):
        client.post(reverse("target_new"), form(password=SECRET))
        assert (only().action, only().object_name, only().target) == ("target_new", "warehouse", "warehouse")
        assert only().details["host"] == "127.0.0.1"
        assert SECRET not in dump()


class TestSecrets:
    """Secrets of every form stay out of the log."""

    def test_of_connections_and_channels(self, client, root):
        posted = {"name": "x", "host": "h", "password": SECRET, "secret": SECRET, "url": f"https://h.example/{SECRET}"}
        for name, kind in (("connection_new", "sftp"), ("channel_new", "webhook"), ("channel_new", "slack")):
            client.post(reverse(name), posted | {"kind": kind})
        assert AuditEvent.objects.count() == 3
        assert SECRET not in dump()

    def test_of_a_changed_password(self, client):
        user = User.objects.create_user("ann", password=PASSWORD)
        client.force_login(user)
        values = {"oldpassword": PASSWORD, "password1": SECRET, "password2": SECRET}
        client.post(reverse("account_change_password"), values)
        client.post(reverse("account_change_password"), values)
        done = AuditEvent.objects.filter(action="account_change_password").order_by("pk")
        assert [each.outcome for each in done] == ["done", "failed"]
        assert SECRET not in dump()
        assert PASSWORD not in dump()

    def test_of_a_changed_password_that_ended_tokens(self, client):
        user = User.objects.create_user("ann", password=PASSWORD)
        tokens.make(user, "nightly", 9)
        client.force_login(user)
        values = {"oldpassword": PASSWORD, "password1": SECRET, "password2": SECRET, "end_tokens": "on"}
        client.post(reverse("account_change_password"), values)
        assert only().details == {"tokens_ended": 1}

    def test_a_password_in_the_field_for_the_name(self, client):
        client.post(reverse("login"), {"login": SECRET, "password": "x"})
        assert (only().action, only().outcome, only().details) == ("sign_in", "failed", {"reason": "unknown name"})
        assert SECRET not in dump()

    def test_of_commands(self, monkeypatch):
        monkeypatch.setenv("TARGET_PASSWORD", SECRET)
        url = "mysql://loader@127.0.0.1:1/osm"
        call_command("target", "add", "warehouse", url, "--tls", "off", "--password-env", "TARGET_PASSWORD")
        call_command("target", "add", "other", f"mysql://loader:{SECRET}@127.0.0.1:1/osm", "--tls", "off")
        assert AuditEvent.objects.count() == 2
        assert SECRET not in dump()


class TestCommands:
    def test_with_its_name_and_the_systems_user(self):
        call_command("target", "add", "warehouse", "mysql://loader@127.0.0.1:1/osm", "--tls", "off")
        assert (only().action, only().details["command"], only().target) == ("command", "target add", "warehouse")
        assert only().actor_name == audit.system_user()
        assert only().details["host"] == "127.0.0.1"

    def test_on_behalf_of_a_person(self, target):
        with acting_as(admin("root")):
            call_command("target", "remove", "warehouse")
        assert (only().actor_name, only().object_name, only().target) == ("root", "target remove", "warehouse")

    def test_one_that_fails(self, target):
        with pytest.raises(CommandError):
            call_command("target", "add", "warehouse", "mysql://loader@127.0.0.1:1/osm")
        assert only().outcome == "failed"

    @pytest.mark.parametrize("words", [("target", "list"), ("lab", "list"), ("schedule", "list"), ("history",)])
    def test_one_that_only_shows_leaves_no_event(self, words):
        call_command(*words)
        assert not AuditEvent.objects.exists()

    def test_why_an_import_waits_leaves_no_event(self):
        call_command("job", "why", str(make_job(Status.SUCCEEDED).pk))
        assert not AuditEvent.objects.exists()


class TestWork:
    """What is recorded by the code that does the work, for pages, commands and schedules alike."""

    def test_an_import_that_nobody_requests_just_now_has_its_own_event(self):
        job = make_job()
        ann = operator("bob")
        with acting_as(ann):
            audit.import_created(job)
        assert (only().action, only().actor, only().object_name) == ("import", ann, f"Import {job.pk}")
        assert only().details == {"file": "nodes-2026-11-20.csv", "plan": audit.plan_digest(job)}

    def test_another_plan_has_another_digest(self):
        job = make_job()
        before = audit.plan_digest(job)
        assert re.fullmatch("[0-9a-f]{64}", before)
        job.options_json = {**job.options_json, "on_error": "reject"}
        assert audit.plan_digest(job) != before

    def test_grants(self, target):
        eve = stranger("eve")
        with acting_as(admin("root")), audit.opened(audit.Entry("person_grant")) as entry:
            given = people.grant(eve, "target", Level.LOAD, target, ["osm.*"])
            assert entry.thing.name == "eve"
            assert entry.details == {"granted": "eve may load target warehouse", "tables": ["osm.*"]}
            people.revoke(given)
        assert entry.details["taken_back"] == "eve may load target warehouse"


class TestPeople:
    def test_adding_somebody_and_the_link_leave_one_event_without_the_token(self, client, root):
        page = client.post(reverse("person_new"), {"name": "eve", "role": "operator"}).content.decode()
        link = re.search(r"/invitation/[^/]+/([^/<\"]+)/", page)
        assert (only().action, only().object_name, only().details) == ("person_new", "eve", {"role": "operator"})
        assert link[1] not in dump()

    def test_old_and_new_role_and_whether_the_person_may_sign_in(self, client, root):
        eve = operator("eve")
        client.post(reverse("person", args=[eve.pk]), {"role": "viewer", "email": ""})
        for active in ("no", "yes"):
            client.post(reverse("person_active", args=[eve.pk]), {"active": active})
        assert list(AuditEvent.objects.order_by("pk").values_list("object_name", "details")) == [
            ("eve", {"role": {"old": "operator", "new": "viewer"}}),
            ("eve", {"account": {"old": "active", "new": "deactivated"}}),
            ("eve", {"account": {"old": "deactivated", "new": "active"}}),
        ]

    def test_members_of_a_group(self, client, root):
        group = Group.objects.create(name="shop")
        client.post(reverse("group_members", args=[group.pk]), {"members": [root.pk]})
        assert (only().object_name, only().details) == ("shop", {"members": ["root"]})


class TestAppendOnly:
    @pytest.fixture
    def event(self):
        audit.record("command", command="x")
        return only()

    def test_an_event_is_not_changed(self, event):
        event.outcome = "failed"
        with pytest.raises(Unchangeable):
            event.save()
        for change in (
            lambda: AuditEvent.objects.update(outcome="failed"),
            lambda: AuditEvent.objects.filter(pk=event.pk).bulk_update([event], ["outcome"]),
            lambda: AuditEvent.objects.update_or_create(pk=event.pk, defaults={"outcome": "failed"}),
        ):
            with pytest.raises(Unchangeable):
                change()
        assert only().outcome == "done"

    def test_an_event_is_not_deleted(self, event):
        for delete in (event.delete, AuditEvent.objects.all().delete, AuditEvent.objects.filter(pk=1).delete):
            with pytest.raises(Unchangeable):
                delete()
        assert only() == event

    def test_no_other_code_writes_to_the_log(self):
        """Only audit.py makes events, and only the page and the API read them."""
        naming = {
            str(path.relative_to(ROOT))
            for folder in ("importer", "dashboard")
            for path in (ROOT / folder).rglob("*.py")
            if "AuditEvent" in path.read_text() and "migrations" not in path.parts
        }
        assert naming == {
            "importer/access/audit.py", "importer/models/person.py", "importer/models/__init__.py",
            "dashboard/system/audit/filters.py", "dashboard/system/audit/views.py", "dashboard/system/audit/words.py",
            "dashboard/api/resources/audit.py",
            "dashboard/jobs/list/bulk.py",  # names an outcome for audit.record()
        }  # fmt: skip
        written = re.compile(r"AuditEvent(\.objects)?[^\n]*\.(update|delete|create|bulk_\w+|save|_raw_delete)\(")
        found = [name for name in sorted(naming) for _ in written.finditer((ROOT / name).read_text())]
        assert found == ["importer/access/audit.py"]

    def test_old_events_are_removed_after_the_days_of_the_policy(self, settings):
        AuditEvent(action="old", at=timezone.now() - timedelta(days=731)).save()
        AuditEvent(action="new", at=timezone.now() - timedelta(days=729)).save()
        settings.AUDIT_DAYS = None
        retention.run(timezone.now())
        assert AuditEvent.objects.count() == 2
        settings.AUDIT_DAYS = 730
        retention.run(timezone.now())
        assert only().action == "new"

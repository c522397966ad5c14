"""What admins do by the API: groups, invitations, storage, connections, notices and the audit log; and own accounts."""

import re

import pytest
from django.contrib.auth.models import Group, User
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from importer.access import people
from importer.models import AuditEvent, ImportJob, Role, SavedFilter, SourceConnection
from tests.dashboard.api.program import Program, problem
from tests.dashboard.people.test_invitation_mail import inbox as inbox  # noqa: PLC0414 -- a fixture
from tests.dashboard.test_rules import things as things  # noqa: PLC0414 -- a fixture
from tests.people import admin, operator, viewer


class TestGroups:
    def test_one_is_added_changed_granted_to_and_deleted(self, root, target):
        ann = operator("ann")
        made = root.send("POST", "groups", {"name": "shop", "members": ["ann"]})
        assert (made.status_code, made.json()["members"]) == (201, ["ann"])
        path = f"groups/{made.json()['id']}"
        granted = {"kind": "target", "thing": "warehouse", "level": "load", "tables": ["shop.*"]}
        assert root.send("POST", f"{path}/grants", granted).status_code == 201
        assert root.read(path)["grants"][0]["tables"] == ["shop.*"]
        changed = root.send("PATCH", path, {"name": "store", "members": []}).json()
        assert (changed["name"], changed["members"], ann.groups.count()) == ("store", [], 0)
        told = problem(root.send("PATCH", path, {"members": ["nobody"]}), 422)
        assert (told["what"], told["advice"]) == ("There is no user nobody.", "Users: ann, root.")
        assert root.send("DELETE", path).status_code == 204
        assert not Group.objects.exists()

    def test_a_group_that_is_refused_is_not_added_by_half(self, root):
        problem(root.send("POST", "groups", {"name": "shop", "members": ["nobody"]}), 422)
        assert not Group.objects.exists()
        told = problem(Program(operator("ann")).send("GET", "groups"), 403)
        assert told["what"] == "Only admins may see and change people."


class TestInvitations:
    def test_go_by_mail_and_are_never_shown(self, root, inbox):
        added = root.send("POST", "people", {"name": "eve", "role": "viewer", "email": "eve@example.org"}).json()
        sent = root.send("POST", f"people/{added['id']}/invitation")
        assert sent.status_code == 200, sent.content
        (mail,) = inbox.came
        link = re.search(r"https://millrace.example.org(/invitation/\S+)", mail.get_payload())[1]
        assert link.split("/")[-2] not in sent.content.decode()
        assert Client().get(link, follow=True).context["validlink"]

    def test_not_to_an_account_that_somebody_uses(self, root, inbox):
        """A stolen token must not get hold of it by another mail address."""
        ann = User.objects.create_user("ann", "ann@example.org", "a password of hers")
        root.send("PATCH", f"people/{ann.pk}", {"email": "thief@example.org"})
        told = problem(root.send("POST", f"people/{ann.pk}/invitation"), 422)
        assert told["what"] == "ann has a password already."
        User.objects.update(password="!", last_login=timezone.now())  # She signs in by another provider.
        told = problem(root.send("POST", f"people/{ann.pk}/invitation"), 422)
        assert told["what"] == "ann has signed in already."
        assert inbox.came == []

    @pytest.mark.parametrize("use", [{"password": "usable"}, {"password": "!", "last_login": timezone.now()}])
    def test_no_program_changes_the_address_of_an_account_that_somebody_uses(self, root, use):
        """A later link for a new password, and an identity provider, give the account to who has the address."""
        ann, new = User.objects.create_user("ann", "ann@example.org"), operator("new")
        User.objects.filter(pk=ann.pk).update(**use)
        told = problem(root.send("PATCH", f"people/{ann.pk}", {"email": "thief@example.org"}), 422)
        assert "already" in told["what"]
        for person, email in ((ann, "Ann@example.org"), (ann, ""), (new, "new@example.org")):
            assert root.send("PATCH", f"people/{person.pk}", {"email": email}).json()["email"] == email

    def test_a_new_address_is_recorded_with_the_old_one(self, root):
        eve = people.add("eve", Role.VIEWER, "eve@example.org")
        root.send("PATCH", f"people/{eve.pk}", {"email": "eve@example.com"})
        call_command("user", "email", "eve", "")
        events = AuditEvent.objects.filter(details__has_key="email").order_by("pk")
        changes = [("eve@example.org", "eve@example.com"), ("eve@example.com", "")]
        assert list(events.values_list("object_name", "details__email")) == [
            ("eve", {"old": old, "new": new}) for old, new in changes
        ]

    def test_without_mail_say_what_to_do(self, root, settings):
        settings.EMAIL_BACKEND = ""
        eve = root.send("POST", "people", {"name": "eve", "role": "viewer"}).json()["id"]
        assert "no mail address" in problem(root.send("POST", f"people/{eve}/invitation"), 422)["what"]
        root.send("PATCH", f"people/{eve}", {"email": "eve@example.org"})
        assert "EMAIL_URL" in problem(root.send("POST", f"people/{eve}/invitation"), 422)["advice"]


class TestAccount:
    def test_time_zone_and_own_tokens(self, program):
        assert program.send("PATCH", "account", {"time_zone": "Europe/Vienna"}).json()["time_zone"] == "Europe/Vienna"
        assert "Perhaps" in problem(program.send("PATCH", "account", {"time_zone": "Europe/Wien"}), 422)["advice"]
        recorded = AuditEvent.objects.filter(action="account_own").order_by("pk")
        assert list(recorded.values_list("outcome", flat=True)) == ["done", "failed"]
        own = program.read("account/tokens")["items"]
        others = Program(operator("bob"))
        problem(others.send("DELETE", f"account/tokens/{own[0]['id']}"), 404)
        assert program.send("DELETE", f"account/tokens/{own[0]['id']}").status_code == 204
        problem(program.send("GET", "account"), 401)

    def test_saved_filters_are_ones_own_also_those_of_a_viewer(self, db):
        vic, other = Program(viewer("vic")), Program(operator("bob"))
        made = vic.send("POST", "filters", {"name": "bad", "filters": {"status": "failed", "owner": "me"}})
        assert made.json()["filters"] == {"status": "failed", "owner": "me"}
        assert "Nothing is filtered" in problem(vic.send("POST", "filters", {"name": "x", "filters": {}}), 422)["what"]
        assert other.read("filters")["items"] == []
        long = problem(vic.send("POST", "filters", {"name": "x", "filters": {"q": "ü" * 180}}), 422)
        assert "1,024" in long["what"]
        wrong = vic.send("POST", "filters", {"name": "x", "filters": {"status": "failed", "ownr": "me"}})
        assert problem(wrong, 422)["where"] == "body.filters.ownr"
        path = f"filters/{made.json()['id']}"
        problem(other.send("DELETE", path), 404)
        assert vic.send("DELETE", path).status_code == 204
        assert not SavedFilter.objects.exists()


class TestStorage:
    def test_policies_are_shown_changed_and_set_back(self, root):
        usual = {each["name"]: each["days"] for each in root.read("storage/policies")}
        path = "storage/policies/rejects"
        assert root.send("PATCH", path, {"days": 7}).json()["days"] == 7
        assert root.send("PATCH", path, {"days": "keep"}).json()["days"] is None
        assert root.send("PATCH", path, {"days": "default"}).json()["days"] == usual["rejects"]
        problem(root.send("PATCH", path, {"days": -1}), 422)
        assert "Policies:" in problem(root.send("PATCH", "storage/policies/nothing", {"days": 1}), 422)["advice"]

    def test_room_is_for_admins_and_one_s_own_for_all(self, root):
        ann = Program(operator("ann"))
        file = ann.upload(b"a,b\n1,2\n")
        mine = ann.read("storage")
        assert (mine["own"]["files"], mine["own"]["bytes"], mine["server"]) == (1, 8, None)
        whole = root.read("storage")["server"]
        assert {"Files", "Database"} <= {each["name"] for each in whole["taken"]}
        assert whole["disks"][0]["free"] > 0
        problem(ann.send("PATCH", "storage/policies/rejects", {"days": 1}), 403)
        assert ann.send("DELETE", f"storage/files/{file}").status_code == 204
        assert ann.read("storage")["own"]["files"] == 0

    def test_kept_tables_are_listed(self, things):
        root = Program(admin("second"))
        assert root.read("storage/kept-tables")["items"] == []
        ImportJob.objects.update(kept_table="millrace_old_1")
        (kept,) = root.read("storage/kept-tables")["items"]
        assert (kept["job"], kept["kept_table"]) == (things[ImportJob].pk, "millrace_old_1")


class TestConnections:
    def test_one_is_made_changed_and_deleted_and_its_secret_never_shown(self, root, settings):
        new = {"name": "www", "place": "https://192.0.2.1/daily/", "settings": {"auth": "bearer"}}
        made = root.send("POST", "connections", {**new, "secrets": {"password": "sesame"}})
        assert made.status_code == 201, made.content
        shown = made.json()
        assert (shown["kind"], shown["stored"], shown["settings"]["auth"]) == ("http", ["password"], "bearer")
        assert "sesame" not in made.content.decode()
        path = f"connections/{shown['id']}"
        assert root.send("PATCH", path, {"name": "web"}).json()["name"] == "web"
        assert SourceConnection.objects.get().secrets == {"password": "sesame"}
        told = problem(root.send("PATCH", path, {"place": "https://192.0.2.2/"}), 422)
        assert [each["where"] for each in told["errors"]] == ["body.password"]
        told = problem(root.send("PATCH", path, {"settings": {"colour": "red"}}), 422)
        assert "has no setting colour" in told["what"]
        forgotten = root.send("PATCH", path, {"settings": {"auth": "none"}, "secrets": {"password": None}})
        assert forgotten.json()["stored"] == []
        assert root.send("DELETE", path).status_code == 204

    def test_one_that_is_used_stays_and_says_by_what(self, things):
        told = problem(Program(admin("second")).send("DELETE", f"connections/{things[SourceConnection].pk}"), 422)
        assert told["advice"] == "Delete them first, or give them another one."

    def test_only_the_key_that_the_check_was_shown_is_trusted(self, root, db):
        made = SourceConnection.objects.create(name="shop", kind="sftp", base="sftp://192.0.2.1:22/x", settings={})
        key = f"SHA256:{'x' * 43}"
        told = problem(root.send("POST", f"connections/{made.pk}/confirm", {"key": key}), 422)
        assert "not the key that the last check was shown" in told["what"]


def test_a_notice_that_was_given_up_is_sent_again(things):
    root = Program(admin("second"))
    notice = next(each for kind, each in things.items() if kind.__name__ == "Notification")
    told = problem(root.send("POST", f"notices/{notice.pk}/again"), 422)
    assert told["what"] == "The notice was not given up."
    type(notice).objects.update(status="given up", problem="refused")
    assert root.read(f"channels/{notice.channel_id}/notices")["items"][0]["problem"] == "refused"
    assert root.send("POST", f"notices/{notice.pk}/again").json()["status"] == "waiting"
    assert root.send("POST", f"channels/{notice.channel_id}/send-now").status_code == 204
    assert root.send("POST", f"channels/{notice.channel_id}/discard").status_code == 204
    assert root.read(f"channels/{notice.channel_id}/notices")["items"][0]["status"] == "given up"


def test_the_audit_log_is_filtered_and_exported_by_admins(root):
    root.send("PATCH", "storage/policies/rejects", {"days": 7})
    (event,) = root.read("audit?action=storage_policy")["items"]
    assert (event["person"], event["words"], event["details"]["days"]["new"]) == ("root", "change what is kept", "7")
    assert event["details"]["by_token"] == "nightly"
    lines = b"".join(root.send("GET", "audit.csv?action=storage_policy").streaming_content).decode().splitlines()
    assert len(lines) == 2
    assert AuditEvent.objects.filter(action="audit_csv").exists()
    assert root.read("audit?last=2020-01-01")["items"] == []
    problem(root.send("GET", "audit?first=soon"), 422)
    problem(Program(operator("ann")).send("GET", "audit"), 403)

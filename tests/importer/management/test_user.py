"""`millrace user` and `millrace group`: what the pages of people do, on the command line."""

import re
from io import StringIO

import pytest
from allauth.mfa.models import Authenticator
from django.contrib.auth.models import Group, User
from django.core.management import CommandError, call_command
from django.test import Client

from importer.models import AuditEvent, Channel, Grant, Level, Role, SourceConnection, Target
from tests.documents import read
from tests.people import admin, grant_all, operator, stranger

pytestmark = pytest.mark.django_db


def run(*line):
    """What the command printed."""
    out = StringIO()
    call_command(*line, stdout=out)
    return out.getvalue()


def user(*line):
    return run("user", *line)


def refused(*line):
    """Why the command was refused."""
    with pytest.raises(CommandError) as caught:
        call_command(*line)
    return str(caught.value)


@pytest.fixture
def bob():
    return stranger("bob")


@pytest.fixture
def target():
    return Target.objects.create(name="warehouse", host="127.0.0.1", port=1, user="u", database="d")


class TestAdd:
    def test_prints_a_link_that_sets_the_password(self, settings):
        settings.EMAIL_BACKEND = ""
        out = user("add", "bob", "--role", "operator", "--email", "bob@example.org")
        bob = User.objects.get()
        assert (bob.username, bob.email, bob.person.role) == ("bob", "bob@example.org", Role.OPERATOR)
        path = re.search(rf"{settings.SITE_URL}(/\S+)", out)[1]
        assert Client().get(path, follow=True).context["validlink"]

    def test_answers_as_json(self):
        assert read(user("add", "bob", "--role", "viewer", "--json"))["link"].startswith("http")

    @pytest.mark.parametrize(
        ("line", "why"),
        [(("BOB",), "takes both for one name"), (("a b",), "valid username"), (("ann", "--email", "x"), "valid email")],
    )
    def test_what_is_wrong_adds_nobody(self, bob, line, why):
        assert why in refused("user", "add", *line, "--role", "viewer")
        assert User.objects.get() == bob


class TestChanges:
    def test_role(self, bob):
        user("role", "bob", "admin")
        assert User.objects.get().is_staff
        assert "bob is the last admin" in refused("user", "role", "bob", "viewer")
        assert User.objects.get().is_staff

    def test_deactivate_ends_the_sessions_and_activate_brings_back(self, bob, client):
        client.force_login(bob)
        user("deactivate", "bob")
        assert client.get("/").status_code == 302
        assert "deactivated" in user("list")
        assert "Activate the person first" in refused("user", "reset", "bob")
        user("activate", "bob")
        assert User.objects.get().is_active

    def test_reset_prints_a_link_and_keeps_the_password(self, bob):
        bob.set_password("mill-race-9")
        bob.save()
        assert "/invitation/" in user("reset", "bob")
        assert read(user("reset", "bob", "--json"))["name"] == "bob"
        assert Client().login(username="bob", password="mill-race-9")

    def test_email(self, bob):
        user("email", "bob", "bob@example.org")
        assert User.objects.get().email == "bob@example.org"
        assert "no mail address" in refused("user", "email", "bob", "bob@")
        long = f"{'b' * 40}@{'.'.join(['e' * 60] * 4)}.org"
        assert "more than 254 characters" in refused("user", "email", "bob", long)
        user("email", "bob", "")
        assert User.objects.get().email == ""

    def test_forget_factors(self, bob):
        Authenticator.objects.create(user=bob, type="totp", data={})
        user("forget-factors", "bob")
        assert not Authenticator.objects.exists()

    def test_an_unknown_name_is_answered_with_the_known_ones(self, bob):
        assert refused("user", "role", "rob", "viewer") == "There is no user rob. Users: bob."

    def test_are_in_the_audit_log_with_the_person(self, bob):
        user("role", "bob", "viewer")
        event = AuditEvent.objects.get()
        assert (event.action, event.object_name, event.outcome) == ("command", "bob", "done")
        assert event.details == {"command": "user role", "role": {"old": "operator", "new": "viewer"}}
        assert event.actor_name.startswith("system user")

    def test_a_link_is_not_in_the_audit_log(self, bob):
        token = user("reset", "bob").strip().rstrip("/").rpartition("/")[2]
        assert token not in str(list(AuditEvent.objects.values()))

    def test_with_as_only_for_admins(self, bob):
        admin("ann")
        user("role", "bob", "viewer", "--as", "ann")
        assert AuditEvent.objects.get().actor_name == "ann"
        assert "Only admins may" in refused("user", "role", "bob", "admin", "--as", "bob")


class TestGrants:
    def test_on_tables_of_a_target_and_taken_back(self, bob, target):
        out = user("grant", "bob", "--target", "warehouse", "--level", "load", "--table", "shop.a", "--table", "x.*")
        assert out == "bob may load target warehouse, only shop.a, x.*.\n"
        made = Grant.objects.get()
        assert (made.user, made.target, made.level, made.tables) == (bob, target, Level.LOAD, ["shop.a", "x.*"])
        assert "may load target warehouse, only shop.a, x.*" in user("show", "bob")
        assert user("revoke", "bob", "--target", "warehouse") == "Revoked: bob may load target warehouse.\n"
        assert not Grant.objects.exists()

    def test_on_connections_channels_and_every_one_of_them(self, bob, tmp_path):
        SourceConnection.objects.create(name="incoming", kind="folder", base=str(tmp_path))
        Channel.objects.create(name="ops", kind="mail", addresses="ops@example.org")
        user("grant", "bob", "--connection", "incoming", "--level", "load")
        user("grant", "bob", "--channel", "ops", "--level", "administer")
        user("grant", "bob", "--every", "target", "--level", "look")
        granted = {each.object_name: each.level for each in Grant.objects.all()}
        assert granted == {"connection incoming": Level.LOAD, "channel ops": Level.ADMINISTER,
                           "every target": Level.LOOK}  # fmt: skip

    def test_of_a_group_are_shown_with_its_members(self, bob, target):
        run("group", "add", "shop")
        user("groups", "bob", "shop")
        user("grant", "shop", "--group", "--target", "warehouse", "--level", "load")
        assert Grant.objects.get().group.name == "shop"
        assert "may load target warehouse (by the group shop)" in user("show", "bob")
        shown = read(user("show", "bob", "--json"))
        assert (shown["groups"], shown["grants"][0]["group"]) == (["shop"], "shop")
        assert "There is no group bob. Groups: shop." in refused(
            "user", "revoke", "bob", "--group", "--every", "target"
        )

    @pytest.mark.parametrize(
        ("line", "why"),
        [
            (("--target", "x", "--level", "load"), "There is no target x. Known: warehouse."),
            (("--target", "warehouse", "--level", "load", "--table", "orders"), "'orders' is no limit"),
            (("--target", "warehouse", "--level", "administer", "--table", "a.b"), "cannot be limited to tables"),
            (("--every", "channel", "--level", "load", "--table", "a.b"), "A channel has no tables"),
        ],
    )
    def test_what_is_wrong_grants_nothing(self, bob, target, line, why):
        assert why in refused("user", "grant", "bob", *line)
        assert not Grant.objects.exists()

    def test_one_that_is_not_there_is_answered_with_those_that_are(self, bob, target):
        user("grant", "bob", "--every", "channel", "--level", "look")
        why = refused("user", "revoke", "bob", "--target", "warehouse")
        assert why == "bob has no grant on warehouse. Grants: bob may look every channel."


class TestTokens:
    def test_is_printed_once_and_works(self, bob):
        text = user("token", "bob", "nightly", "--days", "7").splitlines()[0]
        program = Client(headers={"Authorization": f"Bearer {text}"})
        assert program.get("/").status_code == 200
        shown = user("show", "bob")
        assert "token nightly (read, import): until " in shown
        assert text not in shown
        assert user("revoke-token", "bob", "nightly") == "The token nightly of bob is revoked.\n"
        assert program.get("/").status_code == 401
        commands = [each.details["command"] for each in AuditEvent.objects.exclude(object_kind="").order_by("pk")]
        assert commands == ["user token", "user revoke-token"]

    def test_answers_as_json(self, bob):
        assert read(user("token", "bob", "nightly", "--json"))["token"].startswith("millrace_")
        assert read(user("show", "bob", "--json"))["tokens"][0]["last_used"] is None

    @pytest.mark.parametrize(
        ("line", "why"),
        [
            (("nightly", "--days", "0"), "lasts 1 to 366 days"),
            ((" ",), "needs a name"),
            (("old",), "a token old already"),
        ],
    )
    def test_what_is_wrong_makes_none(self, bob, line, why):
        user("token", "bob", "old")
        assert why in refused("user", "token", "bob", *line)
        assert bob.access_tokens.count() == 1

    def test_an_admin_makes_none_of_others_and_may_end_them(self, bob):
        admin("ann")
        assert "Only bob may create tokens of bob" in refused("user", "token", "bob", "x", "--as", "ann")
        user("token", "bob", "x")
        user("revoke-token", "bob", "x", "--as", "ann")
        assert "bob has no token x. Tokens: none." in refused("user", "revoke-token", "bob", "x")


class TestLists:
    def test_show_role_state_and_last_sign_in(self, client):
        client.force_login(operator("bob"))
        out = user("list")
        assert re.fullmatch(r"bob: operator, signed in \d{4}-\d\d-\d\dT\d\d:\d\d UTC\n", out)
        assert [each["role"] for each in read(user("list", "--json"))["users"]] == ["operator"]


class TestGroups:
    def test_are_added_renamed_listed_and_removed(self, bob):
        run("group", "add", "shop")
        user("groups", "bob", "shop")
        grant_all(Group.objects.get(), Level.LOOK)
        run("group", "rename", "shop", "shops")
        out = run("group", "list")
        assert out.splitlines()[0] == "shops: bob"
        assert "shops may look every target" in out
        assert read(run("group", "list", "--json"))["groups"][0]["members"] == ["bob"]
        assert "Its members stay" in run("group", "remove", "shops")
        assert not Group.objects.exists()
        assert User.objects.get() == bob

    def test_none_takes_the_person_out_of_all(self, bob):
        run("group", "add", "shop")
        user("groups", "bob", "shop")
        assert user("groups", "bob") == "Groups of bob: none.\n"
        assert not bob.groups.exists()

    def test_a_taken_name_is_refused(self, bob):
        run("group", "add", "shop")
        assert "There is a group SHOP already" in refused("group", "add", "SHOP")

    def test_removed_ones_are_in_the_audit_log(self, bob):
        run("group", "add", "shop")
        run("group", "remove", "shop")
        events = AuditEvent.objects.order_by("pk").values_list("details__command", "object_name")
        assert list(events) == [("group add", "shop"), ("group remove", "shop")]

"""Grants of people and groups in the browser of an admin, and the groups themselves."""

import pytest
from django.contrib.auth.models import Group
from django.urls import reverse

from importer.access import people, policy
from importer.models import Channel, Grant, Level, SourceConnection, Target
from tests.people import admin, stranger

pytestmark = pytest.mark.django_db


@pytest.fixture
def browser(client):
    client.force_login(admin("ann"))
    return client


@pytest.fixture
def target():
    return Target.objects.create(name="warehouse", host="127.0.0.1", port=1, user="u", database="d")


@pytest.fixture(params=["person", "group"])
def subject(request):
    return stranger("bob") if request.param == "person" else Group.objects.create(name="shop")


def page_of(subject):
    return reverse("group" if isinstance(subject, Group) else "person", args=[subject.pk])


def grant(browser, subject, thing, level=Level.LOAD, tables=""):
    address = reverse("group_grant" if isinstance(subject, Group) else "person_grant", args=[subject.pk])
    return browser.post(address, {"thing": thing, "level": int(level), "tables": tables})


class TestGrants:
    def test_on_one_target_in_some_tables_and_taken_back(self, browser, subject, target):
        answer = grant(browser, subject, f"target-{target.pk}", tables="shop.orders\n\n  shop.tmp_*  \n")
        assert answer["Location"] == page_of(subject)
        made = subject.grants.get()
        assert (made.kind, made.target, made.level) == ("target", target, Level.LOAD)
        assert made.tables == ["shop.orders", "shop.tmp_*"]
        page = browser.get(page_of(subject)).content.decode()
        assert "target warehouse" in page
        assert "only in shop.orders, shop.tmp_*" in page
        answer = browser.post(reverse("grant_revoke", args=[made.pk]))
        assert answer["Location"] == page_of(subject)
        assert not Grant.objects.exists()

    @pytest.mark.parametrize("kind", Grant.Kind.values)
    def test_on_every_thing_of_a_kind(self, browser, subject, kind):
        grant(browser, subject, kind, Level.ADMINISTER)
        made = subject.grants.get()
        assert (made.kind, made.level, made.object_name) == (kind, Level.ADMINISTER, f"every {kind}")

    def test_on_a_connection_and_a_channel(self, browser, subject, tmp_path):
        incoming = SourceConnection.objects.create(name="incoming", kind="folder", base=str(tmp_path))
        ops = Channel.objects.create(name="ops", kind="mail", addresses="ops@example.org")
        grant(browser, subject, f"connection-{incoming.pk}")
        grant(browser, subject, f"channel-{ops.pk}", Level.LOOK)
        assert {each.object_name for each in subject.grants.all()} == {"connection incoming", "channel ops"}

    def test_a_second_one_on_the_same_replaces_the_first(self, browser, subject, target):
        grant(browser, subject, f"target-{target.pk}", Level.ADMINISTER)
        grant(browser, subject, f"target-{target.pk}", Level.LOOK)
        assert subject.grants.get().level == Level.LOOK

    @pytest.mark.parametrize(
        ("changes", "field", "reason"),
        [
            ({"thing": ""}, "thing", "Choose what"),
            ({"thing": "target-999"}, "thing", "not one of the available choices"),
            ({"thing": "user-1"}, "thing", "not one of the available choices"),
            ({"level": 4}, "level", "not one of the available choices"),
            ({"level": 0}, "level", "not one of the available choices"),
            ({"tables": "shop.orders\norders"}, "tables", "'orders' is no limit"),
            ({"thing": "channel", "tables": "shop.orders"}, "tables", "A channel has no tables."),
            ({"level": Level.ADMINISTER, "tables": "shop.*"}, "tables", "Administering cannot be limited"),
        ],
    )
    def test_what_is_wrong_is_said_beside_its_field_and_nothing_is_granted(
        self, browser, subject, changes, field, reason
    ):
        answer = grant(browser, subject, **{"thing": "target", **changes})
        assert answer.status_code == 422
        assert reason in " ".join(answer.context["grant_form"].errors[field])
        assert not Grant.objects.exists()

    def test_those_of_a_persons_groups_are_shown_with_their_group(self, browser, target):
        bob, shop = stranger("bob"), Group.objects.create(name="shop")
        bob.groups.add(shop)
        people.grant(shop, "target", Level.LOAD, target)
        page = browser.get(page_of(bob)).content.decode()
        assert "target warehouse" in page
        assert "as a member of" in page
        assert "Revoke" not in page


class TestGroups:
    def test_added_renamed_and_deleted_with_its_grants(self, browser, target):
        answer = browser.post(reverse("groups"), {"name": " shop "})
        shop = Group.objects.get()
        assert (shop.name, answer["Location"]) == ("shop", page_of(shop))
        browser.post(page_of(shop), {"name": "shops"})
        shop.refresh_from_db()
        assert shop.name == "shops"
        bob = stranger("bob")
        bob.groups.add(shop)
        people.grant(shop, "target", Level.LOAD, target)
        answer = browser.post(reverse("group_delete", args=[shop.pk]), follow=True)
        assert "The group shops is deleted" in answer.content.decode()
        assert not Grant.objects.exists()
        bob.refresh_from_db()
        assert bob.is_active

    @pytest.mark.parametrize(("name", "reason"), [("", "required"), ("BANK", "is a group BANK already")])
    def test_a_name_that_is_missing_or_taken_is_refused(self, browser, name, reason):
        Group.objects.create(name="bank")
        shop = Group.objects.create(name="shop")
        for address in (reverse("groups"), page_of(shop)):
            answer = browser.post(address, {"name": name})
            assert answer.status_code == 422
            assert reason in " ".join(answer.context["form"].errors["name"])
        assert {each.name for each in Group.objects.all()} == {"bank", "shop"}

    def test_a_refused_name_leaves_the_title_as_it_is(self, browser):
        shop = Group.objects.create(name="shop")
        assert "<title>shop" in browser.post(page_of(shop), {"name": ""}).content.decode()

    def test_members_get_what_is_granted_and_lose_it(self, browser, target):
        bob, shop = stranger("bob"), Group.objects.create(name="shop")
        people.grant(shop, "target", Level.LOAD, target)
        members = reverse("group_members", args=[shop.pk])
        browser.post(members, {"members": [bob.pk]})
        assert policy.may(type(bob).objects.get(pk=bob.pk), Level.LOAD, target)
        page = browser.get(reverse("groups")).content.decode()
        assert "1 member<" in page
        assert "1 grant<" in page
        browser.post(members, {})
        assert not policy.may(type(bob).objects.get(pk=bob.pk), Level.LOOK, target)

    def test_the_empty_list_says_what_a_group_is_for(self, browser):
        assert "each of its members may do" in browser.get(reverse("groups")).content.decode()

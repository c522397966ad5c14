"""Crawls every URL with every verb as people without a grant: nothing is shown, and nothing changes."""

from collections.abc import Iterable
from datetime import timedelta
from itertools import product
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from django.apps import apps
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from dashboard.access.api_rules import API, READING, asked
from dashboard.access.rules import ACCOUNT, RULES, Rule, rule_of
from dashboard.urls import urlpatterns
from importer.access import people, policy
from importer.access.acting import acting_as
from importer.models import (
    AccessToken,
    AuditEvent,
    Channel,
    Grant,
    ImportJob,
    Lab,
    Level,
    LimitCount,
    MappingPreset,
    Notification,
    Role,
    SavedFilter,
    Schedule,
    ScheduleRun,
    Scope,
    SourceConnection,
    SourceFile,
    Target,
)
from tests.dashboard.api.program import Program, problem
from tests.dashboard.job_data import make_job
from tests.people import admin, operator, stranger, viewer

VERBS = ("get", "head", "post", "put", "patch", "delete", "options")
NAMES = {pattern.name: pattern for pattern in urlpatterns if rule_of(pattern.name) is not ACCOUNT}
AT_ONCE = 50  # names in one test: to make the things and to compare all tables takes longer than to ask for a page
SECRET = "quittungen"  # In the name of every thing that a stranger must not see.


@pytest.fixture
def things(db, tmp_path) -> dict[type, Any]:
    """One thing of each kind, all with SECRET in their names, made by an admin; and a person, a group and a grant."""
    owner = admin("root")
    job = make_job(chunks=2)
    Target.objects.filter(pk=job.target_id).update(name=SECRET, host=f"{SECRET}.example.org")
    SourceFile.objects.filter(pk=job.source_id).update(name=f"{SECRET}.csv", uploaded_by=owner)
    ImportJob.objects.update(created_by=owner, schema_name=SECRET, table_name=SECRET)
    recipe = {name: getattr(job, name) for name in ("dialect_json", "mapping_json", "fillings_json", "options_json")}
    recipe |= {"target": job.target, "schema_name": SECRET, "table_name": SECRET}
    stored = recipe | {"header": ["a"], "columns_json": [], "created_by": owner, "name": SECRET}
    connection = SourceConnection.objects.create(name=SECRET, kind="folder", base=str(tmp_path))
    schedule = Schedule.objects.create(
        **stored, connection=connection, pattern="*.csv", trigger="cron", cron="0 0 * * *"
    )
    channel = Channel.objects.create(name=SECRET, kind="mail", addresses=f"{SECRET}@example.org")
    group = Group.objects.create(name=SECRET)
    somebody = people.add(f"{SECRET}-reader", Role.VIEWER)
    somebody.groups.add(group)
    Authenticator.objects.create(user=somebody, type="totp", data={})
    made = [
        somebody,
        group,
        people.grant(group, "target", Level.LOAD, job.target, [f"{SECRET}.*"]),
        AccessToken.objects.create(
            user=somebody, name=SECRET, digest="0", scopes=["read"], expires_at=timezone.now() + timedelta(days=1)
        ),
        SavedFilter.objects.create(user=somebody, name=SECRET, query="status=failed"),
        job.target,
        job.source,
        ImportJob.objects.get(),
        connection,
        schedule,
        ScheduleRun.objects.create(schedule=schedule, cause="due", due_at=job.created_at, moment=job.created_at),
        channel,
        Notification.objects.create(
            channel=channel, job=job, event="failed", once="1", payload={"subject": SECRET}, next_at=job.created_at
        ),
        MappingPreset.objects.create(**stored),
        Lab.objects.create(
            **recipe,
            created_by=owner,
            source_name=SECRET,
            grid_json={"name": "quick", "values": {}, "about": ""},
            sample_json={"rows": 1},
            budget_json={"seconds": 600},
            combinations_json=[{}],
            repeats=1,
            seed=1,
            scratch_schema=SECRET,
        ),
    ]
    return {type(each): each for each in made}


def ruled(name: str, verb: str) -> Rule:
    """The rule of a request."""
    wanted = asked(name, verb.upper())
    assert wanted, f"{name} has no rule"
    return wanted.rule


def address(name: str, things: dict[type, Any]) -> str:
    """The address of a URL, with the thing of its rule."""
    kind = ruled(name, "get").thing
    thing = things.get(kind) if kind else None
    values: dict[str, Any] = {"first": 0, "last": 1, "chunk": 0, "place": 0, "name": "rejects"}
    if thing:
        key = getattr(thing, "key", None)
        values |= {"pk": thing.pk, "id": thing.pk, "job": thing.pk, "key": key, "file": key}
    return reverse(name, kwargs={key: values[key] for key in NAMES[name].pattern.converters})


def everything() -> dict[str, list[dict[str, Any]]]:
    """All rows of all tables of Millrace, of people and groups; not the audit log, which has what was refused.

    Signing in is no change, and neither is what counts against a limit.
    """
    changed = {*apps.get_app_config("importer").get_models(), User, Group, User.groups.through, Authenticator}
    models = changed - {AuditEvent, LimitCount, AccessToken}
    rows = {model.__name__: list(model._default_manager.order_by("pk").values()) for model in models}
    for user in rows["User"]:
        del user["last_login"]
    return rows


def test_each_url_has_a_rule():
    assert set(NAMES) == set(RULES) | set(API)


def test_an_address_without_a_rule_is_refused(client, things, monkeypatch):
    client.force_login(operator("ann"))
    monkeypatch.delitem(RULES, "targets")
    answer = client.get(reverse("targets"))
    assert answer.status_code == 403
    assert "no rule" in answer.content.decode()


class SignedIn:
    """A person in a browser, for pages, and with a token that is for everything, for the API."""

    def __init__(self, person: User) -> None:
        self._person, self._browser, self._program = person, Client(), Program(person)
        self._browser.force_login(person)

    def ask(self, name: str, verb: str, things: dict[type, Any]) -> Any:
        """The answer of this address to the verb."""
        client = self._program if name in API else self._browser
        return getattr(client, verb)(address(name, things))

    def still(self) -> bool:
        """Whether no request has ended the session or the token."""
        return "_auth_user_id" in self._browser.session and self._person.access_tokens.exists()


def some_at_once(names: Iterable[str]) -> pytest.MarkDecorator:
    """Gives a test `names`, AT_ONCE at a time."""
    every = sorted(names)
    some = [every[at : at + AT_ONCE] for at in range(0, len(every), AT_ONCE)]
    return pytest.mark.parametrize("names", some, ids=[f"{each[0]} to {each[-1]}" for each in some])


@some_at_once(name for name in NAMES if not ruled(name, "get").public)
def test_without_a_grant_nothing_is_shown_and_nothing_changes(names: list[str], things):
    """A stranger is an operator without grants; a viewer has none either, and is not asked for each verb."""
    eve, vic = SignedIn(stranger("eve")), SignedIn(people.add("vic", Role.VIEWER))
    before = everything()
    for name in names:
        for person, verb in (*product([eve], VERBS), *product([vic], ("get", "post"))):
            answer, rule = person.ask(name, verb, things), ruled(name, verb)
            allowed = {200, 204, 302, 400, 403, 404, 405, 412, 415, 422}
            assert answer.status_code in allowed, (name, verb, answer.status_code)
            if rule.thing and not rule.admin:
                assert answer.status_code == 404, (name, verb)
            if rule.admin:
                assert answer.status_code == 403, (name, verb)
            shown = b"".join(answer.streaming_content) if answer.streaming else answer.content
            assert SECRET.encode() not in shown, (name, verb)
        assert eve.still(), name
        assert vic.still(), name
    assert everything() == before


@some_at_once(name for name in NAMES if ruled(name, "get").thing)
def test_a_viewer_with_a_grant_looks_and_changes_nothing(names: list[str], things):
    vic = SignedIn(viewer("vic"))
    before = everything()
    for name in names:
        for verb in ("post", "put", "delete"):
            assert vic.ask(name, verb, things).status_code in {403, 404}, (name, verb)
        assert vic.still(), name
    assert everything() == before


@some_at_once(API)
def test_the_api_wants_a_token_that_is_for_it(names: list[str], client, things):
    """A session does not do, and neither does a token of an admin without the scope."""
    root = admin("second")
    client.force_login(root)
    without = {each: Program(root, *(set(Scope) - {each}), name=f"without {each}") for each in Scope}
    before = everything()
    for name in names:
        for verb in API[name]:
            path = address(name, things)
            told = problem(client.generic(verb, path), 401) if verb != "HEAD" else None
            assert told is None or "has no token" in told["what"], name
            needed = ruled(name, verb).scope_for(verb in READING)
            assert without[needed].generic(verb, path).status_code == 403, (name, verb)
    assert everything() == before


def test_what_is_forbidden_says_why(client, things):
    client.force_login(viewer("vic"))
    answer = client.post(address("job_retry", things))
    assert answer.status_code == 403
    assert policy.VIEWER_REASON in answer.content.decode()


class TestTables:
    """A grant limited to tables."""

    @pytest.mark.parametrize(
        ("limit", "sees"),
        [(f"{SECRET}.{SECRET}", True), (f"{SECRET}.*", True), (f"{SECRET}.quit*", True), (f"{SECRET}.other", False),
         ("other.*", False), (f"{SECRET}.{SECRET}s", False)],
    )  # fmt: skip
    def test_limits_what_is_seen_and_loaded(self, things, limit: str, sees: bool):
        eve, job = stranger("eve"), things[ImportJob]
        people.grant(eve, "target", Level.LOAD, job.target, [limit])
        for model in (ImportJob, Schedule, MappingPreset, Lab):
            assert policy.visible(eve, model.objects.all()).exists() == sees
            assert policy.may(eve, Level.LOAD, things[model]) == sees
        assert policy.visible(eve, ScheduleRun.objects.all()).exists() == sees
        assert policy.may(eve, Level.LOAD, job.target, SECRET, SECRET) == sees
        # The target itself is seen, because there is a table in it to load into.
        assert policy.visible(eve, Target.objects.all()).exists()

    @pytest.mark.parametrize("limit", ["orders", "a.b.c", "*.orders", "shop.or*rs", "", "shop orders.x"])
    def test_other_limits_are_refused(self, things, limit: str):
        with pytest.raises(Exception, match="limit"):
            people.grant(stranger("eve"), "target", Level.LOAD, things[Target], [limit])


class TestPolicy:
    def test_a_group_hands_on_its_grants(self, things):
        eve, group = stranger("eve"), Group.objects.create(name="shop")
        people.grant(group, "target", Level.LOAD, things[Target])
        assert not policy.may(eve, Level.LOOK, things[Target])
        eve.groups.add(group)
        eve = type(eve).objects.get(pk=eve.pk)
        assert policy.may(eve, Level.LOAD, things[Target])
        assert not policy.may(eve, Level.ADMINISTER, things[Target])

    def test_what_somebody_made_stays_visible_and_can_be_cancelled(self, client, things):
        eve = stranger("eve")
        ImportJob.objects.update(created_by=eve)
        client.force_login(eve)
        assert client.get(address("job", things)).status_code == 200
        assert client.post(address("job_cancel", things)).status_code in {200, 302}
        assert client.post(address("job_retry", things)).status_code == 403

    def test_the_highest_of_several_grants_counts(self, things):
        eve = stranger("eve")
        people.grant(eve, "target", Level.LOOK)
        people.grant(eve, "target", Level.ADMINISTER, things[Target])
        assert policy.level(eve, things[Target]) == Level.ADMINISTER

    def test_nobody_acts_for_workers_who_may_do_all(self, things):
        assert policy.seen(Target.objects.all()).exists()
        policy.require(Level.ADMINISTER, things[Target])
        with acting_as(stranger("eve")):
            assert not policy.seen(Target.objects.all()).exists()
            with pytest.raises(policy.Forbidden, match="may not administer"):
                policy.require(Level.ADMINISTER, things[Target])

    def test_who_is_deactivated_may_do_nothing(self, things):
        root = admin("second")
        people.deactivate(root)
        assert policy.level(root, things[Target]) == 0
        assert not policy.visible(root, Target.objects.all()).exists()

    def test_a_new_grant_replaces_the_earlier_one(self, things):
        eve = stranger("eve")
        people.grant(eve, "target", Level.ADMINISTER, things[Target])
        people.grant(eve, "target", Level.LOOK, things[Target])
        assert [each.level for each in Grant.objects.filter(user=eve)] == [Level.LOOK]

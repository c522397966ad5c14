"""Tokens: a program acts on behalf of a person, with the person's rights at most, and never as a browser would."""

import re
from datetime import timedelta

import pytest
from allauth.account.internal.flows.login import AUTHENTICATION_METHODS_SESSION_KEY
from django.contrib.sessions.models import Session
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from dashboard import urls
from dashboard.access.rules import CHANGES, RULES, rule_of
from importer.access import people, tokens
from importer.access.acting import acting_as
from importer.access.policy import Forbidden
from importer.engine.errors import Problem
from importer.models import AccessToken, AuditEvent, Level, SourceFile
from tests.dashboard.job_data import make_job
from tests.people import admin, operator, stranger, viewer

pytestmark = pytest.mark.django_db
# Pages; the API has addresses of its own for some of them (tests/dashboard/test_rules.py).
KEPT_FROM_TOKENS = [each for each in urls.pages if (rule := rule_of(each.name)) and rule.no_token]
TUS = {"HTTP_TUS_RESUMABLE": "1.0.0"}


class Program(Client):
    """Sends a token with each request, and enforces CSRF as a web server does."""

    def __init__(self, text, **options):
        super().__init__(enforce_csrf_checks=True, headers={"Authorization": f"Bearer {text}"}, **options)


def program_of(user, **options):
    return Program(tokens.make(user, "nightly", 90)[1], **options)


def signed_in(user):
    """The browser of somebody who has just entered the password."""
    browser = Client()
    browser.force_login(user)
    session = browser.session
    session[AUTHENTICATION_METHODS_SESSION_KEY] = [{"method": "password", "at": timezone.now().timestamp()}]
    session.save()
    return browser


def make(browser, name="nightly", days=30, scopes=("read", "import")):
    return browser.post(reverse("account_token_new"), {"name": name, "days": days, "scopes": scopes})


def token_on(answer):
    return re.search(r'id="token">([^<]+)<', answer.content.decode())[1]


class TestOwnPage:
    def test_a_token_is_shown_once_and_only_a_digest_is_stored(self):
        browser = signed_in(operator("ann"))
        answer = make(browser)
        text = token_on(answer)
        assert "no-store" in answer["Cache-Control"]
        assert text not in str(AccessToken.objects.values()) + str(AuditEvent.objects.values())
        page = browser.get(reverse("account_own")).content.decode()
        assert "nightly" in page
        assert "never used" in page
        assert text not in page
        assert Program(text).get(reverse("history_csv")).status_code == 200
        used = browser.get(reverse("account_own")).context["tokens"].get()
        assert used.last_used_at is not None
        assert used.last_used_from == "127.0.0.1"

    def test_needs_the_password_again_after_a_while(self):
        ann = operator("ann")
        ann.set_password("mill-race-9")
        ann.save()
        browser = Client()
        browser.force_login(ann)
        assert make(browser)["Location"].startswith(reverse("account_reauthenticate"))
        assert not AccessToken.objects.exists()

    @pytest.mark.parametrize(
        ("changes", "field", "reason"),
        [
            ({"name": ""}, "name", "required"),
            ({"name": "x" * 81}, "name", "at most 80"),
            ({"name": "taken"}, "name", "has a token taken already"),
            ({"days": 0}, "days", "greater than or equal to 1"),
            ({"days": 367}, "days", "less than or equal to 366"),
            ({"days": "x"}, "days", "whole number"),
            ({"scopes": ()}, "scopes", "Choose what the token is for"),
            ({"scopes": ("all",)}, "scopes", "all is not one of"),
        ],
    )
    def test_what_is_wrong_is_said_at_its_field(self, changes, field, reason):
        ann = operator("ann")
        tokens.make(ann, "taken", 1)
        answer = make(signed_in(ann), **changes)
        assert answer.status_code == 422
        assert reason in " ".join(answer.context["form"].errors[field])
        assert AccessToken.objects.count() == 1

    def test_revoked_it_opens_nothing_and_nobody_revokes_anothers(self):
        ann, bob = operator("ann"), signed_in(operator("bob"))
        program = program_of(ann)
        address = reverse("account_token_revoke", args=[AccessToken.objects.get().pk])
        assert bob.post(address).status_code == 404
        assert program.get(reverse("history_csv")).status_code == 200
        assert signed_in(ann).post(address)["Location"] == reverse("account_own")
        assert program.get(reverse("history_csv")).status_code == 401
        event = AuditEvent.objects.get(action="account_token_revoke", outcome="done")
        assert (event.actor_name, event.object_name) == ("ann", "nightly")

    def test_there_are_at_most_fifty(self):
        ann = operator("ann")
        for number in range(tokens.MOST):
            tokens.make(ann, str(number), 1)
        with pytest.raises(Problem, match="has 50 tokens"):
            tokens.make(ann, "one more", 1)

    def test_an_admin_makes_none_of_others(self):
        ann = operator("ann")
        with acting_as(admin("root")), pytest.raises(Forbidden, match="Only ann may create tokens of ann"):
            tokens.make(ann, "mine", 1)


class TestRights:
    def test_are_those_of_the_person_at_that_moment(self):
        ann, job = stranger("ann"), make_job(chunks=1)
        program, address = program_of(ann), reverse("job", args=[job.pk])
        assert program.get(address).status_code == 404
        granted = people.grant(ann, "target", Level.LOOK)
        assert program.get(address).status_code == 200
        assert program.post(reverse("job_retry", args=[job.pk])).status_code == 403
        people.revoke(granted)
        assert program.get(address).status_code == 404

    def test_a_viewers_token_uploads_nothing(self):
        program = program_of(viewer("vic"))
        answer = program.post(reverse("uploads"), HTTP_UPLOAD_LENGTH="4", **TUS)
        assert answer.status_code == 403
        assert not SourceFile.objects.exists()

    def test_files_are_uploaded_and_removed_without_a_csrf_token(self):
        ann = operator("ann")
        program = program_of(ann)
        begun = program.post(reverse("uploads"), HTTP_UPLOAD_LENGTH="8", **TUS)
        assert begun.status_code == 201
        part = {"HTTP_UPLOAD_OFFSET": "0", "content_type": "application/offset+octet-stream"}
        assert program.patch(begun["Location"], b"a,b\n1,2\n", **part, **TUS).status_code == 204
        source = SourceFile.objects.get()
        assert (source.uploaded_by, source.status) == (ann, "ready")
        assert program.delete(begun["Location"], **TUS).status_code == 204
        events = AuditEvent.objects.filter(action__in=("uploads", "upload")).order_by("pk")
        assert [(each.actor_name, each.details["by_token"]) for each in events] == [("ann", "nightly")] * 2

    def test_neither_accounts_nor_people_are_changed_or_shown(self):
        root = admin("root")
        root.set_password("mill-race-9")
        root.save()
        program = program_of(root)
        values = {"pk": root.pk, "uidb64": "MQ", "token": "x"}
        before = (root.password, AccessToken.objects.count())
        for pattern in KEPT_FROM_TOKENS:
            address = reverse(pattern.name, kwargs={key: values[key] for key in pattern.pattern.converters})
            for verb in ("get", "post"):
                answer = getattr(program, verb)(address, {"login": "root", "password": "mill-race-9"})
                assert answer.status_code == 403, (address, verb)
        root.refresh_from_db()
        assert (root.password, AccessToken.objects.count()) == before

    def test_account_and_people_are_what_tokens_do_not_open(self):
        kept = {name for name, rule in RULES.items() if rule.no_token}
        assert {"people", "person_link", "person_factors", "grant_revoke", "login", "logout", "invitation"} <= kept
        assert all(rule_of(each).no_token for each in ("account_token_new", "account_change_password", "mfa_index"))


class TestNoSession:
    def test_is_opened(self):
        program = program_of(admin("root"))
        for address in (reverse("jobs"), reverse("new"), reverse("history")):
            answer = program.get(address)
            assert answer.status_code == 200
            assert "sessionid" not in answer.cookies
        assert not Session.objects.exists()

    def test_is_used_if_a_browser_sends_one_as_well(self):
        browser = Client(enforce_csrf_checks=True)
        browser.force_login(admin("root"))
        text = tokens.make(stranger("eve"), "x", 1)[1]
        header = {"Authorization": f"Bearer {text}"}
        assert browser.get(reverse("audit"), headers=header).status_code == 403
        assert browser.get(reverse("audit"), headers={"Authorization": "Bearer millrace_wrong"}).status_code == 401
        assert browser.get(reverse("audit")).status_code == 200

    def test_another_header_leaves_the_session_alone(self):
        browser = Client()
        browser.force_login(admin("root"))
        for header in ("Bearer eyJhbGciOi.of.a-proxy", "Basic YTpi", "millrace_x", ""):
            assert browser.get(reverse("audit"), headers={"Authorization": header}).status_code == 200


class TestEnds:
    def test_when_it_expires(self):
        program = program_of(operator("ann"))
        AccessToken.objects.update(expires_at=timezone.now() + timedelta(minutes=1))
        assert program.get(reverse("jobs")).status_code == 200
        AccessToken.objects.update(expires_at=timezone.now())
        answer = program.get(reverse("jobs"))
        assert (answer.status_code, answer["WWW-Authenticate"]) == (401, 'Bearer error="invalid_token"')

    def test_with_its_person_who_does_not_bring_it_back(self):
        ann = operator("ann")
        program = program_of(ann)
        people.deactivate(ann)
        assert program.get(reverse("jobs")).status_code == 401
        people.activate(ann)
        assert program.get(reverse("jobs")).status_code == 401

    def test_not_for_a_missing_second_factor(self, settings):
        settings.REQUIRE_SECOND_FACTOR = True
        ann = operator("ann")
        program = program_of(ann)
        assert program.get(reverse("jobs")).status_code == 200
        # But a person without one cannot create a token in a browser.
        assert signed_in(ann).get(reverse("account_token_new"))["Location"] == reverse("mfa_index")


class TestGuesses:
    def test_are_limited_by_address_and_right_ones_go_on(self, settings):
        settings.SIGN_IN_TRIES_ADDRESS = 3
        guesser, program = Program("millrace_guess"), program_of(operator("ann"))
        codes = [guesser.get(reverse("jobs")).status_code for _ in range(5)]
        assert codes == [401, 401, 401, 429, 429]
        assert AuditEvent.objects.filter(action="wrong_token", outcome="refused").count() == 3
        assert program.get(reverse("jobs")).status_code == 200
        assert Program("millrace_guess", REMOTE_ADDR="192.0.2.9").get(reverse("jobs")).status_code == 401

    def test_the_digest_is_no_token(self):
        tokens.make(operator("ann"), "x", 1)
        digest = AccessToken.objects.get().digest
        assert Program(tokens.PREFIX + digest).get(reverse("jobs")).status_code == 401


def test_each_download_and_change_by_a_token_is_recorded_with_its_name():
    assert "POST" in CHANGES
    ann = admin("ann")
    program_of(ann).get(reverse("audit_csv"))
    event = AuditEvent.objects.get(action="audit_csv")
    assert (event.actor_name, event.details["by_token"]) == ("ann", "nightly")


def test_a_token_reads_times_in_its_persons_zone():
    ann = admin("ann")
    people.Person.objects.filter(user=ann).update(time_zone="Asia/Tokyo")
    assert 'data-time-zone="Asia/Tokyo"' in program_of(ann).get(reverse("jobs")).content.decode()

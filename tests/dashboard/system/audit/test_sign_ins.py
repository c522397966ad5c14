"""What the audit log records of signing in: who, from where, and the outcome."""

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from importer.models import AuditEvent
from tests import totp
from tests.dashboard.sign_in.test_second_factor import add_app
from tests.dashboard.sign_in.test_sign_in import PASSWORD, sign_in
from tests.dashboard.system.audit.test_recording import SECRET, dump, only

pytestmark = pytest.mark.django_db


class TestSigningIn:
    @pytest.fixture
    def ann(self):
        return User.objects.create_user("ann", password=PASSWORD)

    def test_in_and_out(self, client, ann):
        sign_in(client)
        client.post(reverse("logout"))
        events = AuditEvent.objects.order_by("pk")
        assert [(each.action, each.outcome, each.actor) for each in events] == [
            ("sign_in", "done", ann), ("sign_out", "done", ann),
        ]  # fmt: skip
        assert {each.address for each in events} == {"127.0.0.1"}

    def test_a_wrong_password(self, client, ann):
        client.post(reverse("login"), {"login": "ann", "password": SECRET})
        assert (only().outcome, only().actor, only().details) == ("failed", ann, {"reason": "wrong password"})

    def test_a_wrong_second_factor(self, client, ann):
        client.force_login(ann)
        right = totp.code(add_app(client))
        wrong = f"{(int(right) + 1) % 10**6:06}"
        other = Client()
        sign_in(other)
        before = AuditEvent.objects.count()
        other.post(reverse("mfa_authenticate"), {"code": wrong})
        assert AuditEvent.objects.count() == before + 1
        last = AuditEvent.objects.latest("pk")
        assert (last.action, last.outcome, last.details) == ("sign_in", "failed", {"reason": "wrong second factor"})

    def test_what_had_to_be_confirmed_is_refused_first_and_then_recorded_as_what_it_is(self, client, ann):
        client.force_login(ann)
        made = reverse("account_token_new")
        asked = client.post(made, {"name": "nightly", "days": 30, "scopes": ["read"]})
        for password in ("wrong", PASSWORD):
            client.post(asked["Location"], {"password": password, "next": made})
        events = AuditEvent.objects.order_by("pk")
        assert [(each.action, each.outcome, each.object_name) for each in events] == [
            ("account_token_new", "refused", ""), ("sign_in", "failed", "ann"),
            ("account_reauthenticate", "failed", ""), ("account_reauthenticate", "done", ""),
            ("account_token_new", "done", "nightly"),
        ]  # fmt: skip
        assert events[0].details == {"reason": "not confirmed"}

    def test_wrong_passkeys_as_often_as_an_address_may_try(self, client, settings):
        settings.SIGN_IN_TRIES_ADDRESS = 2
        for credential in (SECRET, '{"id": 1}', "{}", ""):
            client.post(reverse("mfa_login_webauthn"), {"credential": credential})
        events = AuditEvent.objects.values_list("action", "outcome", "actor_name", "details")
        assert list(events) == [("sign_in", "failed", "", {"reason": "wrong passkey"})] * 2
        assert SECRET not in dump()

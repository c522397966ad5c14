"""Every page of the application, with whose sessions they are looked at; objects are those of the filled database."""

from collections.abc import Sequence
from typing import Any

from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret
from django.contrib.auth.models import Group, User
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from fido2.utils import websafe_encode
from fido2.webauthn import (
    Aaguid,
    AttestationObject,
    AttestedCredentialData,
    AuthenticatorData,
    CollectedClientData,
)

from importer.access import people, tokens
from importer.models import Level, Role, Target
from tests.dashboard.lab.reports import reported
from tests.filled.pages import LOOKED_AT, PAGES, REJECTS, Page

PASSWORD = "mill-race-9"
# Pages of its objects that have no other elements than others: they would only take time.
ALIKE = {
    *(f"job {pk}" for pk in (5, 7, 9, 10, 11, 12, 13, 17)),
    *("jobs ?sort=method", "history ?chart=time", "lab 3", "schedule 3"),
    *("schedule_new ?job=1", "schedule_edit 3", "history_compare ?jobs=17&jobs=23"),
    *(f"new_source {REJECTS} ?again=13", f"new_source {LOOKED_AT} ?again=3"),
}
# What an admin sees of what the filled database does not have, and an address that leads nowhere.
LATER = (
    Page("job_rejected", (3,)),
    Page("people"),
    Page("person_new"),
    Page("person", (1,)),
    Page("groups"),
    Page("group", (1,)),
    Page("audit"),
    Page("account_own"),
    Page("account_token_new"),
    Page("api_docs"),
    Page("account_change_password"),
    Page("account_reauthenticate"),
    Page("usersessions_list"),
    Page("mfa_index"),
    Page("mfa_activate_totp"),
    Page("mfa_add_webauthn"),
    Page("connection_new", (), "?kind=s3"),
    Page("new_places"),
    Page("new_from", (1,)),
    Page("new_from_lines", (1,), "?name=customers.csv"),
    Page("new_source", (LOOKED_AT,), f"?also={REJECTS}"),
    Page("job", (404,), status=404),
    Page("new_source", (LOOKED_AT,), "?mode=create&table=fresh"),
    Page("new_source", (LOOKED_AT,), "?table=nowhere"),
)
# Of somebody who has an app, a passkey and recovery codes.
WITH_FACTORS = (
    Page("jobs"),
    Page("mfa_index"),
    Page("mfa_deactivate_totp"),
    Page("mfa_remove_webauthn", (9,)),
    Page("mfa_view_recovery_codes"),
    Page("mfa_generate_recovery_codes"),
    Page("mfa_reauthenticate"),
    Page("mfa_reauthenticate_webauthn"),
    Page("people", status=403),
)
AFTER_THE_PASSWORD = (Page("mfa_authenticate"),)
SIGNED_OUT = (Page("login"), Page("account_inactive"), Page("openid_connect_callback", status=401))
# Names that no page above has, although a browser may open them.
NO_PAGE = {
    "healthz": "an answer for programs",
    "readyz": "an answer for programs",
    "metrics": "an answer for programs",
    "upload": "an answer for programs",
    "uploads": "an answer for programs",
    "direct_upload": "an answer for programs",
    "api_schema": "an answer for programs",
    "audit_csv": "a file",
    "new_findings": "a part of new_source",
    "job_why": "a part of job",
    "job_edit": "leads to new or new_source",
    "job_fix_row": "a part of job_rejected",
    "job_fixed_rows": "a part of job_rejected",
    "account_login": "the same as login",
    "openid_connect_login": "leads to the identity provider",
    "mfa_login_webauthn": "an answer for the script that signs in with a passkey",
    "account_set_password": "leads to mfa_index",
    "signed_in": "an answer for the script that sends forms",
}


def address(page: Page) -> str:
    return reverse(page.name, args=page.args) + page.query


def is_page(answer: HttpResponse) -> bool:
    """Whether it is a whole page, and no part of one, no file and no figures."""
    return not answer.streaming and answer.content.lstrip().startswith(b"<!doctype html>")


# Of pages that the admin looks at. The filled database is always the same, so each is made once in a process.
_made: dict[Page, str] = {}


def html_of(admin: Client, page: Page) -> str:
    """The page as the admin gets it without a browser; "" for what is no page."""
    if page not in _made:
        answer = admin.get(address(page))
        _made[page] = answer.text if is_page(answer) else ""
    return _made[page]


def visits() -> list[tuple[Client, Sequence[Page]]]:
    """Who looks at which pages. Makes what the filled database does not have."""
    admin, bob = User.objects.get(username="admin"), people.add("bob", Role.VIEWER)
    group = Group.objects.create(pk=1, name="shop")
    group.user_set.add(bob)
    people.grant(group, "target", Level.LOAD, tables=["sales.*"])
    for person in (admin, bob):
        people.grant(person, "target", Level.LOOK)
        person.set_password(PASSWORD)
        person.save()
    tokens.make(admin, "backup", 30)
    TOTP.activate(bob, generate_totp_secret())
    RecoveryCodes.activate(bob)
    Authenticator.objects.create(pk=9, user=bob, type="webauthn", data={"name": "key", "credential": passkey()})
    half = Client()
    half.post(reverse("login"), {"login": "bob", "password": PASSWORD})
    invited, (number, token) = Client(), people.invitation(people.add("carol", Role.OPERATOR))
    invited.get(reverse("invitation", args=[number, token]))
    report = reported(Target.objects.get(pk=1), eight=1_500.0)
    signed_in = confirmed(admin)
    old = [each for each in PAGES if str(each) not in ALIKE and html_of(signed_in, each)]
    return [
        (signed_in, [*old, *LATER, Page("lab_report", (report.pk,))]),
        (confirmed(bob), WITH_FACTORS),
        (half, AFTER_THE_PASSWORD),
        (Client(), SIGNED_OUT),
        (invited, [Page("invitation", (number, "set-password"))]),
    ]


def passkey() -> dict[str, Any]:
    """What a browser sends for a new passkey."""
    key = {1: 2, 3: -7, -1: 1, -2: bytes(32), -3: bytes(32)}
    held = AttestedCredentialData.create(Aaguid.NONE, b"key", key)
    data = AuthenticatorData.create(bytes(32), AuthenticatorData.FLAG.UP | AuthenticatorData.FLAG.AT, 0, held)
    client = CollectedClientData.create("webauthn.create", b"challenge", "http://localhost")
    attested = AttestationObject.create("none", data, {})
    parts = {"clientDataJSON": websafe_encode(client), "attestationObject": websafe_encode(attested)}
    return {"id": websafe_encode(b"key"), "rawId": websafe_encode(b"key"), "type": "public-key", "response": parts}


def confirmed(person: User) -> Client:
    """Signed in, and the password was given again just now."""
    browser = Client()
    browser.force_login(person)
    browser.post(reverse("account_reauthenticate"), {"password": PASSWORD})
    return browser

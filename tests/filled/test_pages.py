"""Every page shows what a database with everything in it has, and every button works on it."""

import re
from html import unescape

import pytest
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from dashboard import urls
from importer.models import ImportJob, Level, Role, Schedule, SourceFile
from tests.filled.filled_database import FilledDatabase
from tests.filled.pages import ACTIONS, HALF, JOBS, LEFT_OUT, OF_EACH, PAGES, Action, Page

ADMIN_PASSWORD = "mill-race-9"


def text_of(answer: HttpResponse) -> str:
    """The page as HTML and as the words that a reader sees, both with single blanks."""
    content = b"".join(answer.streaming_content) if answer.streaming else answer.content
    html = unescape(content.decode())
    return " ".join(f"{html} {re.sub('<[^>]*>', ' ', html)}".split())


def assert_words(answer: HttpResponse, words: tuple[str, ...]) -> None:
    text = text_of(answer)
    assert [word for word in words if word not in text] == []


class TestPages:
    def test_each_address_has_a_case(self):
        named = {each.name for each in urls.pages}
        known = {each.name for each in (*PAGES, *ACTIONS)} | set(LEFT_OUT)
        assert (named - known, known - named) == (set(), set())

    def test_all_imports_are_looked_at(self, filled: FilledDatabase):
        assert tuple(ImportJob.objects.order_by("pk").values_list("pk", flat=True)) == JOBS

    @pytest.mark.parametrize("page", PAGES, ids=str)
    def test_it_shows_what_is_stored(self, admin: Client, page: Page):
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

    def test_the_password_signs_in(self, filled: FilledDatabase):
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

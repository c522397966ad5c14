"""Slow and stalled requests at a real web server with few threads: nobody else waits for them."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
import requests

from dashboard import urls
from importer.engine.mysql.connection import Address
from tests.config.serving.tus import Uploader, answer_of, begin_request, is_unanswered
from tests.web_site import PATIENCE, WebSite, own_database, running_site

STALLED = 40
# No stalled request may end by itself before the test does.
PATIENT = {"BODY_GRACE_SECONDS": "600", "WEB_PROCESSES": "1", "WEB_THREADS": "2"}
CSV = b"id,name\n" + b"".join(b"%d,name %d\n" % (number, number) for number in range(2000))
BOB = {"bob": "bobs-password-7"}
# They show nothing, sign out, or wait for other servers.
NO_PAGES = {"uploads", "logout", "account_logout", "healthz", "readyz", "metrics"}


def pages() -> list[str]:
    found = [str(each.pattern) for each in urls.pages if each.name not in NO_PAGES and "<" not in str(each.pattern)]
    assert len(found) > 20
    return found


@pytest.fixture(params=["sqlite", "mariadb"])
def site(request: pytest.FixtureRequest, mariadb: Address, tmp_path: Path) -> Iterator[WebSite]:
    settings = {**PATIENT, "UPLOAD_PARTS_AT_ONCE": str(STALLED)}
    if request.param == "mariadb":
        settings["DATABASE_URL"] = own_database(mariadb)
    with running_site(tmp_path, operators=BOB, **settings) as running:
        yield running


@pytest.mark.one_of("site")
def test_40_stalled_uploads_of_one_person_hold_up_nobody_else(site: WebSite):
    slow, other = Uploader(site, site.signed_in()), site.signed_in("bob", BOB["bob"])
    with ExitStack() as open_ones:
        stalled = [
            open_ones.enter_context(slow.begin_part(slow.begin(1_000_000), 0, 1_000_000, b"a,b\n"))
            for _ in range(STALLED)
        ]
        for path in pages():
            answer = other.get(f"{site.url}/{path}", timeout=PATIENCE)
            assert answer.status_code < 500, (path, answer.status_code)
        bobs = Uploader(site, other)
        upload = bobs.begin(len(CSV), "bob.csv")
        assert bobs.send(upload, 0, CSV).status_code == 204
        assert all(is_unanswered(each) for each in stalled)


@pytest.fixture(scope="module")
def patient(tmp_path_factory) -> Iterator[WebSite]:
    with running_site(tmp_path_factory.mktemp("site"), **PATIENT) as running:
        yield running


class TestPatientSite:
    def test_a_stranger_is_refused_before_a_byte_of_the_part_is_sent(self, patient: WebSite):
        anybody = requests.Session()
        anybody.get(f"{patient.url}/login/", timeout=PATIENCE)
        path = Uploader(patient, patient.signed_in()).begin(1_000_000)
        with Uploader(patient, anybody).announce_part(path, 0, 1_000_000) as part:
            assert answer_of(part).startswith("HTTP/1.1 401")

    def test_a_long_form_is_refused_before_a_byte_of_it_is_sent(self, patient: WebSite):
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        with begin_request(patient, "POST", "/login/", 3_000_000, b"", form) as request:
            assert answer_of(request).startswith("HTTP/1.1 413")

    def test_a_long_form_that_is_sent_all_the_same_gets_the_answer(self, patient: WebSite):
        answer = requests.post(f"{patient.url}/login/", {"login": "a" * 3_000_000}, timeout=PATIENCE)
        assert (answer.status_code, answer.text) == (413, "The request has more than 2,621,440 bytes.")

    def test_40_stalled_forms_of_strangers_hold_up_nobody(self, patient: WebSite):
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        with ExitStack() as open_ones:
            stalled = [
                open_ones.enter_context(begin_request(patient, "POST", "/login/", 500, b"login=a", form))
                for _ in range(STALLED)
            ]
            assert patient.signed_in().get(patient.url, timeout=PATIENCE).status_code == 200
            assert all(is_unanswered(each) for each in stalled)

    def test_40_clients_that_do_not_read_their_style_sheet_hold_up_nobody(self, patient: WebSite):
        page = requests.get(f"{patient.url}/login/", timeout=PATIENCE).text
        style = next(part for part in page.split('"') if "tabler.min" in part and part.endswith(".css"))
        with ExitStack() as open_ones:
            for _ in range(STALLED):
                connection = open_ones.enter_context(begin_request(patient, "GET", style, 0, b"", {}))
                assert answer_of(connection).startswith("HTTP/1.1 200")
            assert patient.signed_in().get(patient.url, timeout=PATIENCE).status_code == 200

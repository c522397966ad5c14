"""Limits under requests that come at the same time, at several real web server processes, on both own databases."""

import base64
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import requests

from importer.engine.mysql.connection import Address
from tests.web_site import PATIENCE, WebSite, own_database, running_site

AT_ONCE = 18
OPERATORS = {name: f"password of {name}" for name in ("ann", "ben")}
MB = 2**20
QUOTA = {"UPLOAD_QUOTA_BYTES": str(65 * MB), "UPLOAD_QUOTA_FILES": "9"}
TUS = {"Tus-Resumable": "1.0.0"}


@pytest.fixture(params=["sqlite", "mariadb"])
def site(request: pytest.FixtureRequest, mariadb: Address, tmp_path: Path) -> Iterator[WebSite]:
    """Three web server processes, and operators who may begin 20 uploads in a minute."""
    own = {"DATABASE_URL": own_database(mariadb)} if request.param == "mariadb" else {}
    limits = {"WEB_PROCESSES": "3", "UPLOADS_PER_MINUTE": "20", **QUOTA}
    with running_site(tmp_path, operators=OPERATORS, **limits, **own) as site:
        yield site


def announce(site: WebSite, browser: requests.Session, size: int) -> requests.Response:
    metadata = "filename " + base64.b64encode(b"flights.csv").decode()
    headers = {**TUS, "Upload-Length": str(size), "Upload-Metadata": metadata, **token(browser)}
    return browser.post(f"{site.url}/uploads/", headers=headers, timeout=PATIENCE)


def token(browser: requests.Session) -> dict[str, str]:
    return {"X-CSRFToken": str(browser.cookies["csrftoken"])}


def upload_and_look(site: WebSite, browser: requests.Session) -> set[int]:
    """Upload a small file and open a page; the statuses of the answers."""
    begun = announce(site, browser, 8)
    headers = {**TUS, **token(browser), "Upload-Offset": "0", "Content-Type": "application/offset+octet-stream"}
    part = browser.patch(f"{site.url}{begun.headers['Location']}", b"a,b\n1,2\n", headers=headers, timeout=PATIENCE)
    page = browser.get(f"{site.url}/new/", timeout=PATIENCE)
    return {begun.status_code, part.status_code, page.status_code}


def test_nobody_gets_more_than_the_limits_and_another_person_goes_on(site: WebSite):
    ann, ben = (site.signed_in(*each) for each in OPERATORS.items())
    admin = site.signed_in()
    with ThreadPoolExecutor(AT_ONCE + 1) as pool:
        large = [pool.submit(announce, site, ann, 10 * MB) for _ in range(36)]
        assert pool.submit(upload_and_look, site, ben).result() == {201, 204, 200}
        # 6 of 10 MiB are within 65 MiB; 20 are looked at.
        assert Counter(each.result().status_code for each in large) == {201: 6, 413: 14, 429: 16}
        small = [pool.submit(announce, site, admin, 1) for _ in range(36)]
        assert pool.submit(upload_and_look, site, ben).result() == {201, 204, 200}
        assert Counter(each.result().status_code for each in small) == {201: 9, 413: 11, 429: 16}
    assert 0 < int(announce(site, ann, 1).headers["Retry-After"]) <= 60

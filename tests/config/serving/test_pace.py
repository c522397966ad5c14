"""A real web server that waits a second for 1,000 bytes: what arrives more slowly ends with words."""

from collections.abc import Iterator

import pytest

from tests.config.serving.tus import Uploader, answer_of, begin_request, checksum, stored
from tests.web_site import WebSite, running_site

CSV = b"id,name\n" + b"".join(b"%d,name %d\n" % (number, number) for number in range(2000))


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Iterator[WebSite]:
    with running_site(tmp_path_factory.mktemp("site"), BODY_GRACE_SECONDS="1") as running:
        yield running


@pytest.fixture(scope="module")
def ann(site: WebSite) -> Uploader:
    return Uploader(site, site.signed_in())


def test_a_part_without_checksum_keeps_what_has_arrived(site: WebSite, ann: Uploader):
    path = ann.begin(len(CSV))
    with ann.begin_part(path, 0, len(CSV), CSV[:500]) as part:
        answer = answer_of(part)
    assert answer.startswith("HTTP/1.1 408")
    assert "upload-offset: 500\r\n" in answer
    assert ann.send(path, 500, CSV[500:]).status_code == 204
    assert stored(site, path) == CSV


def test_a_part_with_checksum_keeps_nothing_of_itself(site: WebSite, ann: Uploader):
    path = ann.begin(len(CSV))
    assert ann.send(path, 0, CSV[:500], **checksum(CSV[:500])).status_code == 204
    rest = CSV[500:]
    with ann.begin_part(path, 500, len(rest), rest[:400], **checksum(rest)) as part:
        answer = answer_of(part)
    assert answer.startswith("HTTP/1.1 408")
    assert "upload-offset: 500\r\n" in answer
    assert ann.send(path, 500, rest, **checksum(rest)).status_code == 204
    assert stored(site, path) == CSV


def test_a_form_ends_too(site: WebSite):
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    with begin_request(site, "POST", "/login/", 500, b"login=a", form) as request:
        assert answer_of(request).startswith("HTTP/1.1 408")


@pytest.mark.parametrize("begun", [b"", b"GET /login/ HTTP/1.1\r\nHost: 127.0.0.1\r\n"])
def test_a_connection_without_whole_headers_is_closed(site: WebSite, begun: bytes):
    with site.connect() as connection:
        connection.sendall(begun)
        assert connection.recv(1000) == b""

"""Parts of uploads at a real web server: cut off, corrupted, too many at once, and with the server killed."""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.config.serving.tus import Uploader, answer_of, checksum, stored
from tests.stack import wait_until
from tests.web_site import WebSite, running_site

PLACES = 3
CSV = b"id,name\n" + b"".join(b"%d,name %d\n" % (number, number) for number in range(100_000))
MIDDLE = len(CSV) // 2


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Iterator[WebSite]:
    """Nothing ends as too slow in it."""
    settings = {"BODY_GRACE_SECONDS": "600", "UPLOAD_PARTS_AT_ONCE": str(PLACES)}
    with running_site(tmp_path_factory.mktemp("site"), **settings) as running:
        yield running


@pytest.fixture(scope="module")
def ann(site: WebSite) -> Uploader:
    return Uploader(site, site.signed_in())


class TestPatientSite:
    @pytest.mark.parametrize("algorithm", ["sha1", "sha256"])
    def test_a_corrupted_part_is_refused_and_can_be_sent_again(self, site: WebSite, ann: Uploader, algorithm: str):
        path = ann.begin(len(CSV))
        assert ann.send(path, 0, CSV[:MIDDLE], **checksum(CSV[:MIDDLE], algorithm)).status_code == 204
        rest = CSV[MIDDLE:]
        answer = ann.send(path, MIDDLE, rest[:-1] + b"?", **checksum(rest, algorithm))
        assert answer.status_code == 460
        assert f"arrived with another {algorithm}" in answer.text
        assert ann.arrived(path) == MIDDLE
        assert ann.send(path, MIDDLE, rest, **checksum(rest, algorithm)).status_code == 204
        assert stored(site, path) == CSV

    def test_a_part_without_checksum_that_breaks_off_keeps_what_has_arrived(self, ann: Uploader, site: WebSite):
        path = ann.begin(len(CSV))
        with ann.begin_part(path, 0, len(CSV), CSV[:MIDDLE]):
            wait_until(lambda: len(stored(site, path)) > 0, what="bytes of the part on disk")
            assert ann.arrived(path) == 0
        wait_until(lambda: ann.arrived(path) > 0, what="the bytes that came")
        kept = ann.arrived(path)
        assert ann.send(path, kept, CSV[kept:]).status_code == 204
        assert stored(site, path) == CSV

    def test_a_part_with_checksum_that_breaks_off_keeps_nothing(self, ann: Uploader, site: WebSite):
        path = ann.begin(len(CSV))
        with ann.begin_part(path, 0, len(CSV), CSV[:MIDDLE], **checksum(CSV)):
            pass
        # Its lock is gone when the next part is let in.
        wait_until(lambda: ann.send(path, 0, CSV, **checksum(CSV)).status_code == 204, what="the next part")
        assert stored(site, path) == CSV

    def test_further_parts_of_one_person_wait_until_one_ends(self, ann: Uploader):
        paths = [ann.begin(1000) for _ in range(PLACES + 1)]
        with ExitStack() as open_ones:
            parts = [open_ones.enter_context(ann.begin_part(path, 0, 1000, b"x")) for path in paths[:PLACES]]
            refused = ann.send(paths[PLACES], 0, b"x" * 1000)
            assert (refused.status_code, refused.headers["Retry-After"]) == (429, "5")
            assert f"{PLACES} parts of uploads that arrive at once already" in refused.text
            parts[0].sendall(b"x" * 999)
            assert answer_of(parts[0]).startswith("HTTP/1.1 204")
            assert ann.send(paths[PLACES], 0, b"x" * 1000).status_code == 204

    def test_a_second_part_for_the_same_upload_is_refused(self, ann: Uploader):
        path = ann.begin(1000)
        with ann.begin_part(path, 0, 1000, b"x") as first:
            # Until the parts of the test before have ended, there is no place for it.
            wait_until(lambda: ann.send(path, 0, b"y" * 999).status_code == 423, what="refused as busy")
            first.sendall(b"x" * 999)
            assert answer_of(first).startswith("HTTP/1.1 204")


class TestServerThatEnds:
    def test_killed_in_the_middle_of_a_part_it_loses_only_that(self, site: WebSite, ann: Uploader):
        path, others = ann.begin(len(CSV)), [ann.begin(1000) for _ in range(PLACES - 1)]
        first = CSV[:1000]
        assert ann.send(path, 0, first, **checksum(first)).status_code == 204
        with ExitStack() as open_ones:
            for other in others:
                open_ones.enter_context(ann.begin_part(other, 0, 1000, b"x"))
            open_ones.enter_context(ann.begin_part(path, 1000, len(CSV) - 1000, CSV[1000:MIDDLE]))
            wait_until(lambda: len(stored(site, path)) > 1000, what="bytes of the part on disk")
            site.kill()
        site.start()
        # Neither the lock on the file nor one of the person's places is left over.
        assert ann.arrived(path) == 1000
        assert ann.send(path, 1000, CSV[1000:], **checksum(CSV[1000:])).status_code == 204
        assert stored(site, path) == CSV

    def test_stopped_in_the_middle_of_a_part_it_ends_in_order(self, site: WebSite, ann: Uploader):
        path = ann.begin(len(CSV))
        with ann.begin_part(path, 0, len(CSV), CSV[:MIDDLE]):
            wait_until(lambda: len(stored(site, path)) > 0, what="bytes of the part on disk")
            assert site.stop() == 0
        site.start()
        kept = ann.arrived(path)
        assert ann.send(path, kept, CSV[kept:]).status_code == 204
        assert stored(site, path) == CSV

"""What the server is fed: the same bytes however it asks, in steps or as they lie, and the digest of the source."""

import ctypes
import os

import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st

from importer.engine.errors import SourceChanged
from importer.engine.feed import feed
from importer.engine.feed.feed import SourceBytes, TransformedBytes, open_feed
from importer.engine.feed.rewriter import in_pieces, passes_in_pieces, rewritten
from importer.engine.mysql.infile.buffer import READ, InfileBuffer, read_function, read_infile_buffer
from importer.engine.native import loader
from importer.engine.source.dialect import Dialect
from tests.engine.reference import in_file
from tests.examples import examples

LINE_ENDS = ("", "\n", "\r", "\r\n")
READERS = [READ(read_infile_buffer), *([read_function()] if loader.library() else [])]


def drained(source, size: int = 7) -> bytes:
    """What the client library gets; the same from all functions that it may be given."""
    feeds = [list(source)] * len(READERS)
    found = {drained_by(read, feed, size) for read, feed in zip(READERS, feeds, strict=True)}
    assert len(found) == 1
    return found.pop()


def drained_by(read, feed, size: int) -> bytes:
    infile, buffer, found = InfileBuffer(feed), ctypes.create_string_buffer(size), b""
    while count := read(infile.state, ctypes.addressof(buffer), size):
        if count < 0:
            raise infile.error
        found += buffer.raw[:count]
    return found


def as_they_are(pieces):
    for piece in pieces:
        yield b""
        yield piece


def upper(pieces):
    for piece in pieces:
        yield piece.upper()


class TestSteps:
    @examples(100)
    @given(
        fields=st.lists(
            st.sampled_from(["a", '"b\r\n"', '"\n\r"', '"c,""d"', "", "NULL", "NUL"]), min_size=1, max_size=5
        ),
        around=st.sampled_from(
            [("", ""), ("", "\n"), ("", "\r"), ("", "\r\n"), ("\n", "\n"), ("", "\n\n"), ("", "\r\r")]
        ),
        size=st.integers(1, 9),
    )
    def test_one_record_passes_in_pieces_as_it_is_rewritten_whole(self, fields, around, size):
        dialect, data = Dialect(line_end="any"), ",".join(fields).join(around).encode()
        cut = [data[at : at + size] for at in range(0, len(data), size)]
        passes = passes_in_pieces(cut, dialect)
        assert passes == (
            data.strip(b"\r\n") != b"" and b"NULL" not in data and around[0] == "" and around[1] in LINE_ENDS
        )
        if passes:
            assert b"".join(in_pieces(cut)) == b"".join(rewritten(dialect)(cut))

    @examples(100)
    @given(data=st.binary(max_size=60), size=st.integers(1, 20), low=st.integers(0, 20), block=st.integers(1, 70))
    def test_a_step_that_changes_nothing_sends_what_no_step_sends(self, data, size, low, block):
        whole, feed.BLOCK = feed.BLOCK, block
        try:
            with in_file(data) as fd:
                offset, length = min(low, len(data)), max(0, len(data) - low)
                plain, stepped = open_feed(fd, offset, length), open_feed(fd, offset, length, steps=[as_they_are])
                assert isinstance(plain, SourceBytes)
                assert isinstance(stepped, TransformedBytes)
                assert drained(plain, size) == drained(stepped, size) == data[offset:]
                assert plain.digest == stepped.digest == xxhash.xxh3_64(data[offset:]).hexdigest()
                assert plain.sent == stepped.sent == length
        finally:
            feed.BLOCK = whole

    def test_they_come_in_their_order_and_the_digest_stays_the_sources(self):
        def doubled(pieces):
            for piece in pieces:
                yield piece + b"x"

        with in_file(b"abc") as fd:
            stepped = open_feed(fd, 0, 3, steps=[doubled, upper])
            assert drained(stepped) == b"ABCX"
            assert stepped.digest == xxhash.xxh3_64(b"abc").hexdigest()

    def test_a_step_that_drops_the_end_still_reads_it(self):
        def nothing(pieces):
            for _ in pieces:
                yield b""

        with in_file(b"a" * 1000) as fd:
            stepped = open_feed(fd, 0, 1000, steps=[nothing])
            assert drained(stepped) == b""
            assert stepped.digest == xxhash.xxh3_64(b"a" * 1000).hexdigest()

    def test_progress_is_told_in_bytes_of_the_source(self):
        told = []
        size = feed.BLOCK + 10
        with in_file(b"a" * size) as fd:
            drained(open_feed(fd, 0, size, steps=[upper], on_sent=told.append), 4096)
        assert told == [feed.BLOCK, size]


class TestSourceThatChanges:
    @pytest.mark.parametrize("steps", [[], [upper]])
    def test_a_file_that_has_become_shorter_is_no_end_of_data(self, steps):
        with in_file(b"a" * 100) as fd:
            fed = open_feed(fd, 0, 100, steps=steps)
            os.ftruncate(fd, 40)
            with pytest.raises(SourceChanged, match="ends at byte 40"):
                drained(fed)

"""Encodings: how each codec is read is proved by its bytes, and nothing is lost on the way there and back."""

import codecs
import encodings as python_encodings
import pkgutil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from importer.engine.errors import SourceProblem
from importer.engine.source import encodings
from importer.engine.source.dialect import Dialect
from importer.engine.source.encodings import EncodingKind


def known() -> list[str]:
    """Every text encoding that Python has and a file could be in."""
    found = []
    for module in pkgutil.iter_modules(python_encodings.__path__):
        try:
            found.append(encodings.canonical_name(module.name))
        except SourceProblem:
            continue
    return sorted(set(found))


KNOWN = known()
OTHER = [each for each in KNOWN if encodings.kind(each) is EncodingKind.OTHER]


def pieces(data: bytes, size: int) -> list[bytes]:
    return [data[at : at + size] for at in range(0, len(data), size)]


class TestNames:
    @pytest.mark.parametrize(
        ("name", "means"),
        [
            ("UTF8", "utf-8"),
            ("utf-8-sig", "utf-8"),
            ("latin1", "iso8859-1"),
            ("Windows-1252", "cp1252"),
            ("utf-16", "utf-16-le"),
            (" cp1252 ", "cp1252"),
        ],
    )
    def test_every_spelling_of_an_encoding_has_one_name(self, name, means):
        assert encodings.canonical_name(name) == means
        assert Dialect(encoding=name).encoding == means

    @pytest.mark.parametrize("name", ["", "nonsense", "base64", "rot13", "zip", "a\0b", "../x", "x" * 5000, "é"])
    def test_a_name_of_no_text_encoding_is_refused(self, name):
        with pytest.raises(SourceProblem, match="is not the name of a text encoding"):
            Dialect(encoding=name)

    @pytest.mark.parametrize("name", ["idna", "punycode", "unicode_escape", "raw_unicode_escape", "undefined"])
    def test_an_encoding_that_no_file_has_is_refused(self, name):
        with pytest.raises(SourceProblem, match="is no encoding of files"):
            encodings.canonical_name(name)


class TestKinds:
    @pytest.mark.parametrize(
        ("name", "kind"),
        [
            *(
                (name, EncodingKind.SINGLE)
                for name in ("cp1252", "latin1", "iso8859-15", "koi8-r", "cp850", "gb2312", "ascii")
            ),
            *(
                (name, EncodingKind.OTHER)
                for name in ("utf-16-be", "shift_jis", "gbk", "big5", "gb18030", "iso2022_jp", "hz")
            ),
            # ~ is 8F A2 B7 there; EBCDIC; + begins an escape.
            *((name, EncodingKind.OTHER) for name in ("euc_jp", "cp037", "utf-7")),
            ("utf-8", EncodingKind.UTF8),
        ],
    )
    def test_the_kind_depends_on_what_ascii_bytes_mean(self, name, kind):
        assert encodings.kind(encodings.canonical_name(name)) is kind

    @given(
        st.sampled_from([each for each in KNOWN if encodings.kind(each) is EncodingKind.SINGLE]), st.binary(max_size=40)
    )
    def test_ascii_bytes_stay_where_they_are(self, encoding, data):
        """So records can be found in the bytes themselves: as many of each mark, in the same order."""
        try:
            text = encodings.to_utf8(data, encoding)
        except UnicodeDecodeError:
            return
        assert bytes(byte for byte in text if byte < 0x80) == bytes(byte for byte in data if byte < 0x80)


class TestTranscoding:
    @given(st.sampled_from(["cp1252", "iso8859-15", "koi8-r", "gb2312"]), st.text(max_size=60), st.integers(1, 9))
    def test_pieces_may_end_anywhere(self, encoding, text, size):
        data = text.encode(encoding, "ignore")
        assert b"".join(encodings.transcoded(pieces(data, size), encoding)) == data.decode(encoding).encode()

    def test_a_character_before_a_line_end_does_not_take_it_along(self):
        assert b"".join(encodings.transcoded([b"caf\xe9\n", b"\xe9\r\n"], "iso8859-1")) == "café\né\r\n".encode()

    @pytest.mark.parametrize("data", [b"\x81", b"ab\x8d\n", b"\xe9\xe9\x9d"])
    def test_undefined_bytes_are_found(self, data):
        undefined = [at for at, byte in enumerate(data) if byte in b"\x81\x8d\x9d"]
        assert encodings.invalid_at(data, "cp1252") == undefined[0]
        assert encodings.invalid_at(data, "iso8859-1") == -1
        with pytest.raises(UnicodeDecodeError):
            list(encodings.transcoded([data], "cp1252"))

    def test_the_next_invalid_byte_is_found_from_any_place(self):
        data = b"a\xffb\n\xc3\xa9\xfe"
        assert [encodings.invalid_at(data, "utf-8", start) for start in (0, 2, 6, 7)] == [1, 6, 6, -1]
        assert encodings.invalid_at(b"a\xc3", "utf-8") == 1
        assert encodings.invalid_at(b"a\xc3", "utf-8", final=False) == -1


# What shifts an encoding from one set of characters to another cannot be written as a character of its own.
SHIFTS = "\x0e\x0f\x1b"


class TestCopies:
    @given(st.sampled_from(OTHER), st.text(st.characters(exclude_characters=SHIFTS), max_size=60), st.integers(1, 9))
    def test_a_copy_says_the_same_and_turns_back(self, encoding, text, size):
        data = text.removeprefix("\ufeff").encode(encoding, "ignore")
        copy = b"".join(encodings.utf8_copy(pieces(data, size), encoding))
        assert copy.decode() == data.decode(encoding)
        back = b"".join(encodings.to_source_encoding(pieces(copy, size), encoding))
        assert back.startswith(encodings.byte_order_mark(encoding))
        assert back.removeprefix(encodings.byte_order_mark(encoding)).decode(encoding) == data.decode(encoding)

    @pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
    def test_a_mark_is_left_out_and_put_back(self, encoding):
        data = encodings.byte_order_mark(encoding) + "a,é\n".encode(encoding)
        assert b"".join(encodings.utf8_copy([data], encoding)) == "a,é\n".encode()
        assert b"".join(encodings.to_source_encoding(["a,é\n".encode()], encoding)) == data

    def test_a_backslash_that_is_half_a_character(self):
        data = "ソ表能\n".encode("shift_jis")
        assert data.count(b"\\") == 3
        assert b"".join(encodings.utf8_copy(pieces(data, 1), "shift_jis")) == "ソ表能\n".encode()

    @pytest.mark.parametrize(
        ("encoding", "data"),
        [
            ("utf-16-le", b"a\0\x00\xd8b\0\n\0"),
            ("utf-16-be", b"\0a\xdc\x00\0b\0\n"),
            ("big5", b"a\xc3\x85b\n"),  # these two bytes would be valid UTF-8
            ("shift_jis", b"a\xfdb\n"),
            ("gb18030", b"\xff\n"),
        ],
    )
    def test_an_invalid_character_stays_invalid_and_turns_back(self, encoding, data):
        copy = b"".join(encodings.utf8_copy([data], encoding))
        assert encodings.invalid_at(copy, "utf-8") >= 0
        back = b"".join(encodings.to_source_encoding([copy], encoding))
        assert back.removeprefix(encodings.byte_order_mark(encoding)) == data

    def test_what_cannot_be_read_at_all_is_named(self):
        with pytest.raises(SourceProblem, match="at offset 10 are not utf-16-le") as caught:
            list(encodings.utf8_copy(["é\n".encode("utf-16-le"), "é\na".encode("utf-16-le") + b"x"], "utf-16-le"))
        assert caught.value.where == "line 3"

    def test_other_encodings_are_left_as_they_are(self):
        assert list(encodings.to_source_encoding([b"caf\xe9"], "cp1252")) == [b"caf\xe9"]
        assert list(encodings.to_source_encoding([b"\xff", b"a"], "utf-8")) == [b"\xff", b"a"]


class TestMarks:
    def test_utf32_is_not_taken_for_utf16(self):
        assert encodings.detect_byte_order_mark(codecs.BOM_UTF32_LE + b"a\0\0\0") == ("utf-32-le", 4)
        assert encodings.detect_byte_order_mark(codecs.BOM_UTF16_LE + b"a\0") == ("utf-16-le", 2)
        assert encodings.detect_byte_order_mark(b"a") == ("", 0)

    @pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
    def test_zeros_tell_what_has_no_mark(self, encoding):
        assert encodings.detect_wide("id;name\n1;Zoë\n".encode(encoding)) == encoding
        assert encodings.detect_wide(b"id;name\n1;Zo\0\n") == ""
        assert encodings.detect_wide(b"") == ""

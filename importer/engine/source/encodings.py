"""Encodings of files: their names, their detection, and their conversion to UTF-8 and back.

UTF-8 is sent unchanged. In encodings in which ASCII bytes always mean ASCII characters (latin1, cp125x, koi8-r),
records are found in the file's own bytes, and the feed transcodes them. Files in all other encodings (UTF-16, Shift
JIS) are read from a plain copy in UTF-8 (decoding.py).
"""

import codecs
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from functools import lru_cache, partial
from itertools import chain

from importer.engine.errors import SourceProblem

UTF8 = "utf-8"
UTF8_MARK = b"\xef\xbb\xbf"
# Most files that are not UTF-8 are in this encoding of western Windows. It leaves five bytes undefined; a file with one
# of them is guessed to be in LAST_GUESS.
GUESS = "cp1252"
LAST_GUESS = "iso8859-1"
COMMON = {
    UTF8: "UTF-8",
    GUESS: "Windows, western",
    LAST_GUESS: "Latin 1",
    "iso8859-15": "Latin 9, with €",
    "cp1250": "Windows, central Europe",
    "cp1251": "Windows, Cyrillic",
    "cp850": "DOS, western",
    "mac-roman": "old Macs",
    "utf-16-le": "UTF-16 LE",
    "utf-16-be": "UTF-16 BE",
    "shift_jis": "Japanese",
    "gb18030": "Chinese, simplified",
    "big5": "Chinese, traditional",
    "euc_kr": "Korean",
}

# UTF-32 first: its byte order mark begins with that of UTF-16.
_BOMS = {
    "utf-32-le": codecs.BOM_UTF32_LE,
    "utf-32-be": codecs.BOM_UTF32_BE,
    UTF8: codecs.BOM_UTF8,
    "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE,
}
# Names that leave the byte order to a mark at the start. Without a mark, the order that most files have.
_SAME = {"utf-8-sig": UTF8, "utf-16": "utf-16-le", "utf-32": "utf-32-le"}
_NO_FILE_HAS_IT = ("idna", "punycode", "undefined", "unicode-escape", "raw-unicode-escape", "charmap")
_LONGEST_SEQUENCE = 3  # bytes; an encoding with longer sequences is not proved to be SINGLE, and files get a copy


_LATIN1_OF_MYSQL = "millrace.latin1_of_mysql"


class EncodingKind(StrEnum):
    """How a file in an encoding is read: unchanged, transcoded by the feed, or from a plain copy."""

    UTF8 = "as it is"
    SINGLE = "transcoded"
    OTHER = "copied"


@lru_cache
def canonical_name(name: str) -> str:
    """The codec's own name for any spelling: `UTF8` is utf-8, `latin1` is iso8859-1.

    Raises SourceProblem for a name that is not a text encoding, or that no file can have.
    """
    try:
        codec = codecs.lookup(name.strip()).name
        if codec not in _NO_FILE_HAS_IT:
            "a".encode(codec)  # raises LookupError for a codec from bytes to bytes, such as base64
    except (LookupError, ValueError) as error:
        raise SourceProblem(
            f"{name!r} is not the name of a text encoding.", advice="Some that are: utf-8, cp1252, latin1, utf-16."
        ) from error
    if codec in _NO_FILE_HAS_IT:
        raise SourceProblem(f"{name!r} is no encoding of files.", advice="Some that are: utf-8, cp1252, latin1.")
    return _SAME.get(codec, codec)


def writable(text: str, encoding: str) -> bool:
    """Whether the encoding has all characters of the text."""
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


@lru_cache
def kind(encoding: str) -> EncodingKind:
    """How a file in the encoding is read, determined by trying the codec. Raises SourceProblem as canonical_name()
    does.

    SINGLE if each byte below 0x80 in a valid text is always that ASCII character, and no other character uses one.
    """
    if canonical_name(encoding) == UTF8:
        return EncodingKind.UTF8
    return EncodingKind.SINGLE if _ascii_is_ascii(encoding) else EncodingKind.OTHER


def _ascii_is_ascii(encoding: str) -> bool:
    """Whether each byte below 0x80 in a valid text is that ASCII character, and no other character contains one.

    Tries every sequence of bytes from 0x80 on for as long as the decoder needs more, and an ASCII byte after each of
    them. Also checks whether the encoding writes any other character with an ASCII byte, as in escape sequences.
    """
    others = "".join(map(chr, [*range(0x80, 0xD800), *range(0xE000, 0x10000)]))
    if min(others.encode(encoding, errors="ignore"), default=0x80) < 0x80:
        return False
    ascii_bytes = bytes(range(0x80))
    if _decoded(encoding, ascii_bytes) != (ascii_bytes.decode("ascii"), False):
        return False
    cut = [b""]
    for _ in range(_LONGEST_SEQUENCE):
        sequences = [begun + bytes([byte]) for begun in cut for byte in range(0x80, 0x100)]
        cut = []
        for sequence in sequences:
            read = _decoded(encoding, sequence)
            if read is None:
                continue
            text, unfinished = read
            if not text.isascii():
                continue
            if text or not unfinished:  # a high byte that is ASCII, or one that switches to another reading
                return False
            if any(_decoded(encoding, sequence + bytes([byte])) is not None for byte in ascii_bytes):
                return False
            cut.append(sequence)
    return not cut


def _decoded(encoding: str, data: bytes) -> tuple[str, bool] | None:
    """The text, and whether the decoder waits for more; None if the bytes are invalid."""
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        return decoder.decode(data), bool(decoder.getstate()[0])
    except UnicodeDecodeError:
        return None


def detect_byte_order_mark(head: bytes) -> tuple[str, int]:
    """The encoding of the byte order mark in a file's first bytes, and the mark's length in bytes; ("", 0) if none."""
    for encoding, mark in _BOMS.items():
        if head.startswith(mark):
            return encoding, len(mark)
    return "", 0


def detect_wide(sample: bytes) -> str:
    """The UTF-16 or UTF-32 encoding of a sample without a byte order mark; "" for all others.

    Western text in these encodings has NUL in every second byte, or in three of four.
    """
    sample = sample[: min(len(sample), 4096) // 4 * 4]
    if not sample:
        return ""
    share = [sample[at::4].count(0) * 4 / len(sample) for at in range(4)]
    for encoding, full in (("utf-32-le", {0}), ("utf-32-be", {3}), ("utf-16-le", {0, 2}), ("utf-16-be", {1, 3})):
        if all(share[at] < 0.05 if at in full else share[at] > 0.4 for at in range(4)):
            return encoding
    return ""


def byte_order_mark(encoding: str) -> bytes:
    """The byte order mark for a file that is written in the encoding: for UTF-16 and UTF-32, else b"".

    With the mark, nobody who opens the file has to choose the encoding.
    """
    return _BOMS.get(encoding, b"") if encoding != UTF8 else b""


def invalid_at(data: bytes, encoding: str, start: int = 0, end: int | None = None, *, final: bool = True) -> int:
    """The position of the first byte of data[start:end] that is invalid in the encoding; -1 if all are valid.

    `final`: a character that is cut by the end is also invalid.
    """
    if data.isascii():
        return -1
    view = memoryview(data)[start:end]
    try:
        if encoding == UTF8:
            codecs.utf_8_decode(view, "strict", final)
        elif final:
            codecs.getdecoder(encoding)(view, "strict")
        else:
            codecs.getincrementaldecoder(encoding)().decode(view)
    except UnicodeDecodeError as error:
        return start + error.start
    return -1


def is_cut(data: bytes, at: int) -> bool:
    """Whether the bytes from `at` on, which are invalid as UTF-8, are a character that the end of the data cuts."""
    return invalid_at(data[at:], UTF8, final=False) < 0


def feed_steps(encoding: str) -> list[Callable[[Iterable[bytes]], Iterator[bytes]]]:
    """The steps of a feed that convert bytes of the encoding to UTF-8, which the server reads."""
    return [partial(transcoded, encoding=encoding)] if kind(encoding) is EncodingKind.SINGLE else []


def to_utf8(raw: bytes, encoding: str) -> bytes:
    """Convert whole characters from the encoding to UTF-8. Raises UnicodeDecodeError if they are invalid."""
    return raw if encoding == UTF8 or raw.isascii() else raw.decode(encoding).encode()


def transcoded(pieces: Iterable[bytes], encoding: str, errors: str = "strict") -> Iterator[bytes]:
    """Convert pieces of a text from a SINGLE encoding to UTF-8; a piece may end within a character.

    `errors`: how the codec treats invalid bytes, for which it raises UnicodeDecodeError by default.
    """
    decoder = codecs.getincrementaldecoder(encoding)(errors)
    unfinished = False
    for piece in pieces:
        if piece.isascii() and not unfinished:
            yield piece
            continue
        yield decoder.decode(piece).encode()
        unfinished = bool(decoder.getstate()[0])
    yield decoder.decode(b"", final=True).encode()


def _as_control(error: UnicodeError) -> tuple[str | bytes, int]:
    """The control character for a byte that cp1252 leaves undefined, and the byte for such a character."""
    if isinstance(error, UnicodeDecodeError):
        return chr(error.object[error.start]), error.start + 1
    if isinstance(error, UnicodeEncodeError) and 0x80 <= ord(error.object[error.start]) < 0xA0:
        return bytes([ord(error.object[error.start])]), error.start + 1
    raise error


codecs.register_error(_LATIN1_OF_MYSQL, _as_control)


def errors_of_mysql(encoding: str) -> str:
    """How a text that MySQL wrote is converted where bytes are invalid in Python's codec.

    The latin1 of MySQL is cp1252, and the five bytes that this leaves undefined are the control characters of these
    numbers (manual, "West European Character Sets").
    """
    return _LATIN1_OF_MYSQL if encoding == GUESS else "strict"


def source_bytes(text: bytes, encoding: str) -> bytes | None:
    """The bytes in the file of a text that MySQL wrote and that was converted to UTF-8.

    None if they are not known: in an encoding with several bytes for a character not every byte is part of one.
    """
    if text.isascii() or encoding == UTF8:
        return text
    return text.decode().encode(encoding, errors_of_mysql(encoding)) if _has_one_byte_each(encoding) else None


@lru_cache
def _has_one_byte_each(encoding: str) -> bool:
    """Whether each byte is a character of its own, or invalid, and no two bytes are the same character."""
    if kind(encoding) is not EncodingKind.SINGLE:
        return False
    read = [(bytes([byte]), _decoded(encoding, bytes([byte]))) for byte in range(0x100)]
    return all(each is None or (not each[1] and each[0].encode(encoding) == byte) for byte, each in read)


def readable_text(raw: bytes, encoding: str) -> str:
    """The bytes as text for people; invalid bytes are shown as \\xE9."""
    return raw.decode(encoding, errors="backslashreplace")


def excerpt(raw: bytes, encoding: str) -> str:
    """readable_text() of bytes that were cut out of a text, without the cut characters at its begin and end."""
    if encoding == UTF8:
        raw = raw.lstrip(bytes(range(0x80, 0xC0)))
    return codecs.getincrementaldecoder(encoding)("backslashreplace").decode(raw)


def utf8_copy(pieces: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    """Convert a text from an OTHER encoding to UTF-8, without its byte order mark; one more piece than `pieces` has.

    Characters that are invalid in the encoding become surrogates, which are also invalid in UTF-8, and which
    to_source_encoding() converts back. Raises SourceProblem with line and byte for bytes that cannot be represented
    even so.
    """
    decoder = codecs.getincrementaldecoder(encoding)(_keep(encoding))
    taken, line, first = 0, 1, True
    for piece in chain(pieces, [b""]):
        try:
            text = decoder.decode(piece, not piece)
        except UnicodeDecodeError as error:
            # The error's bytes begin with those that the decoder kept from the piece before.
            raise _not_decodable(error, taken - (len(error.object) - len(piece)), line, encoding) from None
        taken += len(piece)
        if first and text:
            text, first = text.removeprefix("\ufeff"), False
        copy = text.encode(errors="surrogatepass")
        line += copy.count(b"\n")
        yield copy


def _not_decodable(error: UnicodeDecodeError, offset: int, line: int, encoding: str) -> SourceProblem:
    """The problem for a decoding error; the error's bytes begin at `offset` in the file, on `line`."""
    before = error.object[: error.start].decode(encoding, errors="replace")
    wrong = error.object[error.start : error.end].hex(" ")
    return SourceProblem(
        f"The bytes {wrong} at offset {offset + error.start:,} are not {encoding}.",
        where=f"line {line + before.count(chr(10))}",
        advice="Choose another encoding; if it is the right one, the file is damaged there.",
        option="encoding",
    )


def to_source_encoding(pieces: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    """Convert a whole plain file back to the source's own encoding, with its byte order mark: reverses utf8_copy()."""
    if kind(encoding) is not EncodingKind.OTHER:
        yield from pieces
        return
    decode = codecs.getincrementaldecoder(UTF8)("surrogatepass").decode
    encode = codecs.getincrementalencoder(encoding)(_keep(encoding)).encode
    yield byte_order_mark(encoding)
    for piece in pieces:
        yield encode(decode(piece))
    yield encode("", True)


def _keep(encoding: str) -> str:
    return "surrogatepass" if encoding.startswith(("utf-16", "utf-32")) else "surrogateescape"

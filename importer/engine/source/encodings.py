"""Which encodings files come in, and what each means for reading them.

UTF-8 goes as it is. Where ASCII bytes stand for themselves in every position (latin1, cp125x, koi8-r), records are
found in the bytes as they lie, and the feed transcodes them on their way. All others (UTF-16, Shift JIS) are read from
a plain copy in UTF-8 (plain.py).
"""

import codecs
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from functools import lru_cache, partial
from itertools import chain

from importer.engine.errors import SourceProblem

UTF8 = "utf-8"
# What most files that are not UTF-8 are in: western Windows. Without its five undefined bytes, that is.
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

# UTF-32 first: its mark begins with that of UTF-16.
_BOMS = {
    "utf-32-le": codecs.BOM_UTF32_LE,
    "utf-32-be": codecs.BOM_UTF32_BE,
    UTF8: codecs.BOM_UTF8,
    "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE,
}
# Names that leave open what a mark at the start would tell; without one, what most files have.
_SAME = {"utf-8-sig": UTF8, "utf-16": "utf-16-le", "utf-32": "utf-32-le"}
_NO_FILE_HAS_IT = ("idna", "punycode", "undefined", "unicode-escape", "raw-unicode-escape", "charmap")
_LONGEST_SEQUENCE = 3  # bytes; an encoding with longer ones is not proved, and gets a copy


class EncodingKind(StrEnum):
    """How a file in an encoding is read: as it is, transcoded by the feed, or from a plain copy."""

    UTF8 = "as it is"
    SINGLE = "transcoded"
    OTHER = "copied"


@lru_cache
def named(name: str) -> str:
    """The codec's own name, however it is spelled: `UTF8` is utf-8, `latin1` iso8859-1.

    Raises SourceProblem for what is no text encoding that a file could have.
    """
    try:
        found = codecs.lookup(name.strip()).name
        if found not in _NO_FILE_HAS_IT:
            "a".encode(found)  # a codec from bytes to bytes, as base64, is refused here
    except (LookupError, ValueError) as error:
        raise SourceProblem(
            f"{name!r} is not the name of a text encoding.", advice="Some that are: utf-8, cp1252, latin1, utf-16."
        ) from error
    if found in _NO_FILE_HAS_IT:
        raise SourceProblem(f"{name!r} is no encoding of files.", advice="Some that are: utf-8, cp1252, latin1.")
    return _SAME.get(found, found)


def writable(text: str, encoding: str) -> bool:
    """Whether the encoding has these characters."""
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


@lru_cache
def kind(encoding: str) -> EncodingKind:
    """How a file in it is read, found out by trying the codec. Raises SourceProblem as named() does."""
    if named(encoding) == UTF8:
        return EncodingKind.UTF8
    return EncodingKind.SINGLE if _ascii_is_ascii(encoding) else EncodingKind.OTHER


def _ascii_is_ascii(encoding: str) -> bool:
    """Whether each byte below 0x80, wherever it stands in a valid text, is that ASCII character, and nothing else is.

    Tries every sequence of bytes from 0x80 on, as far as the decoder asks for more, and an ASCII byte after each; and
    whether any other character is written with an ASCII byte, as escape sequences are.
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


def marked(head: bytes) -> tuple[str, int]:
    """The encoding that the byte order mark of a file's first bytes names, and the mark's length; ("", 0) if none."""
    for encoding, mark in _BOMS.items():
        if head.startswith(mark):
            return encoding, len(mark)
    return "", 0


def unmarked_wide(sample: bytes) -> str:
    """UTF-16 or UTF-32 without a mark, else "": western text has NUL at every second byte, or at three of four."""
    sample = sample[: min(len(sample), 4096) // 4 * 4]
    if not sample:
        return ""
    share = [sample[at::4].count(0) * 4 / len(sample) for at in range(4)]
    for encoding, full in (("utf-32-le", {0}), ("utf-32-be", {3}), ("utf-16-le", {0, 2}), ("utf-16-be", {1, 3})):
        if all(share[at] < 0.05 if at in full else share[at] > 0.4 for at in range(4)):
            return encoding
    return ""


def mark(encoding: str) -> bytes:
    """What a file in the encoding begins with, so that nobody has to choose it: the mark of UTF-16 and 32, else b""."""
    return _BOMS.get(encoding, b"") if encoding != UTF8 else b""


def invalid_at(data: bytes, encoding: str, start: int = 0, end: int | None = None, *, final: bool = True) -> int:
    """Where the first byte of data[start:end] lies that is invalid in the encoding, -1 if none is.

    `final`: a character that the end of `data` cuts is invalid, too.
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


def steps(encoding: str) -> list[Callable[[Iterable[bytes]], Iterator[bytes]]]:
    """What a feed does with the bytes of a file in the encoding before they go to the server, which reads UTF-8."""
    return [partial(transcoded, encoding=encoding)] if kind(encoding) is EncodingKind.SINGLE else []


def to_utf8(raw: bytes, encoding: str) -> bytes:
    """Whole characters in another encoding, as UTF-8. Raises UnicodeDecodeError if they are invalid."""
    return raw if encoding == UTF8 or raw.isascii() else raw.decode(encoding).encode()


def transcoded(pieces: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    """Pieces of a text in a SINGLE encoding, as UTF-8; a piece may end within a character.

    Raises UnicodeDecodeError for invalid bytes.
    """
    decoder = codecs.getincrementaldecoder(encoding)()
    unfinished = False
    for piece in pieces:
        if piece.isascii() and not unfinished:
            yield piece
            continue
        yield decoder.decode(piece).encode()
        unfinished = bool(decoder.getstate()[0])
    yield decoder.decode(b"", final=True).encode()


def text(raw: bytes, encoding: str) -> str:
    """For people to read: invalid bytes are shown as \\xE9."""
    return raw.decode(encoding, errors="backslashreplace")


def excerpt(raw: bytes, encoding: str) -> str:
    """The same for bytes that were cut out of a text, without the part of a character at either end."""
    if encoding == UTF8:
        raw = raw.lstrip(bytes(range(0x80, 0xC0)))
    return codecs.getincrementaldecoder(encoding)("backslashreplace").decode(raw)


def copied(pieces: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    """A text in an OTHER encoding as UTF-8, without its byte order mark, a piece for each piece and one more.

    Characters that are invalid in the encoding stay recognisable: they become surrogates, which are invalid in UTF-8,
    too, and which as_in_source() turns back. Raises SourceProblem with line and byte where even that cannot be done.
    """
    decoder = codecs.getincrementaldecoder(encoding)(_keep(encoding))
    taken, line, first = 0, 1, True
    for piece in chain(pieces, [b""]):
        try:
            said = decoder.decode(piece, not piece)
        except UnicodeDecodeError as error:
            # What the decoder kept from the piece before stands at the front.
            raise _not_decodable(error, taken - (len(error.object) - len(piece)), line, encoding) from None
        taken += len(piece)
        if first and said:
            said, first = said.removeprefix("\ufeff"), False
        copy = said.encode(errors="surrogatepass")
        line += copy.count(b"\n")
        yield copy


def _not_decodable(error: UnicodeDecodeError, offset: int, line: int, encoding: str) -> SourceProblem:
    """For an error found in bytes that lie at `offset` in the file and begin on `line`."""
    before = error.object[: error.start].decode(encoding, errors="replace")
    wrong = error.object[error.start : error.end].hex(" ")
    return SourceProblem(
        f"The bytes {wrong} at offset {offset + error.start:,} are not {encoding}.",
        where=f"line {line + before.count(chr(10))}",
        advice="Choose another encoding; if it is the right one, the file is damaged there.",
    )


def in_source(pieces: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    """A whole file as it was read, in the source's own encoding and with its mark: what copied() has done is undone."""
    if kind(encoding) is not EncodingKind.OTHER:
        yield from pieces
        return
    decode = codecs.getincrementaldecoder(UTF8)("surrogatepass").decode
    encode = codecs.getincrementalencoder(encoding)(_keep(encoding)).encode
    yield mark(encoding)
    for piece in pieces:
        yield encode(decode(piece))
    yield encode("", True)


def as_in_source(raw: bytes, encoding: str) -> bytes:
    """Whole records as they were read, in the source's own encoding, without its mark."""
    return b"".join(in_source([raw], encoding)).removeprefix(mark(encoding))


def _keep(encoding: str) -> str:
    return "surrogatepass" if encoding.startswith(("utf-16", "utf-32")) else "surrogateescape"

"""Detects the encoding of a file from its first bytes, and how sure that is."""

import codecs
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from importer.engine.errors import SourceProblem
from importer.engine.source import encodings
from importer.engine.source.decisions import Answer, Decision, Standing, answer, asked
from importer.engine.source.decoding import SourceHead
from importer.engine.source.encodings import UTF8, EncodingKind

# Control characters that are rare in a text of any encoding: all except tab, line ends, the old end-of-file mark, and
# the characters that switch between character sets.
CONTROLS = bytes({*range(0x20), 0x7F} - set(b"\t\n\v\f\r\x1a\x1b\x0e\x0f"))
MOST_CONTROLS = 0.05  # share of all bytes; in random bytes it is 0.09
# Bytes of lines with other characters than ASCII from which a legacy encoding is proposed.
PROPOSAL_BYTES = 8 * 1024
FEW = 2  # signs such as © among ASCII, which East Asian encodings read as other signs
MOST_PROPOSALS, WORDS_SHOWN, LINES_NAMED = 6, 3, 3
_WORD = re.compile(rb"[^\s,;|\t\"']*[\x80-\xff][^\s,;|\t\"']*")
# Letters of western languages next to plain ones, and signs that need no neighbour. Eth, thorn and y with an accent are
# left out: Turkish and Czech have other letters there, and only Icelandic has these.
_WESTERN = re.compile(
    "(?<=[A-Za-z])[\u00df-\u00ef\u00f1-\u00f6\u00f8-\u00fc\u00ff\u0153\u0161\u017e]"
    "|[\u00c0-\u00cf\u00d1-\u00d6\u00d8-\u00dc\u00df-\u00ef\u00f1-\u00f6\u00f8-\u00fc\u00ff\u0152\u0160\u017d](?=[a-z])"
    "|[\u20ac\u00b0\u00a7\u00ab\u00bb\u2013\u2014\u2019\u201c\u201d\u201e\u2026\u00a3\u00b5\u00b2\u00b3\u00bd\u00ae\u00a9\u2122]"
)
# Extended sets of East Asian characters, and the sets that they extend.
_BASIC = {"cp949": "euc_kr", "gb18030": "gb2312", "gbk": "gb2312", "big5hkscs": "big5", "johab": "euc_kr"}
# Of two encodings of one script, that of Windows wrote most files.
_WINDOWS = {"iso8859-2": "cp1250", "iso8859-5": "cp1251", "iso8859-7": "cp1253", "iso8859-9": "cp1254"}
_PLAIN = b"Az09,;\t\r\n\"' "


@dataclass(frozen=True)
class DetectedEncoding:
    """The detected encoding of a file, and the decision with its evidence. `odd`: not all bytes are valid in it."""

    encoding: str
    decision: Decision
    odd: bool = False


def detect_encoding(
    head: SourceHead, requested: str = "", *, named: bool = False, of_bytes: bool = False
) -> DetectedEncoding:
    """Detect the encoding: by a byte order mark, else as requested, else UTF-8 if the head is valid, else a guess.

    `named`: in UTF-8 the first record has the names of the table's columns, so that zero bytes are data.
    `of_bytes`: the table has columns of bytes, which may be those that are not valid.
    """
    data = head.data
    marked, length = encodings.detect_byte_order_mark(data)
    if marked:
        return _marked(data, marked, length, requested)
    invalid = encodings.invalid_at(data, UTF8, final=head.whole)
    if requested:
        evidence = _notes_on_requested(data, requested, _odd_byte(data, invalid) if invalid >= 0 else "")
        found = _detected(requested, Standing.STATED, evidence)
        return replace(found, odd=requested == UTF8 and invalid >= 0)
    if not named and (wide := _wide(data)):
        return wide
    if invalid < 0:
        return _detected(UTF8, Standing.RULE if data.isascii() else Standing.PROVED, "")
    if lines := _odd_lines_of_utf8(data, head.whole):
        return replace(_detected(UTF8, Standing.RULE, _on_odd_lines(lines)), odd=True)
    odd = _odd_byte(data, invalid)
    if of_bytes:
        evidence = f"{odd}; if a column of bytes has it, the texts may be UTF-8."
    elif head.whole and encodings.is_cut(data, invalid):
        # A single byte beyond ASCII may be a letter elsewhere.
        if invalid < len(data) - 1 or not data[:invalid].isascii():
            return _detected(UTF8, Standing.RULE, "The file ends within a letter of UTF-8: it was cut.")
        evidence = f"{odd}, unless the file was cut within a letter, which is a guess."
    else:
        return _legacy(data, odd)
    return replace(_guessed(data, evidence, [UTF8, *_proposals(data)]), odd=True)


def _detected(encoding: str, standing: Standing, evidence: str) -> DetectedEncoding:
    return DetectedEncoding(encoding, Decision("encoding", encoding, standing, evidence))


def _guessed(data: bytes, evidence: str, proposals: Sequence[str]) -> DetectedEncoding:
    return DetectedEncoding(proposals[0], asked("encoding", evidence, *answers_for(data, proposals)))


def _marked(data: bytes, marked: str, length: int, requested: str) -> DetectedEncoding:
    twice = " It is there twice." if data[length:].startswith(data[:length]) else ""
    instead = f" So it is not read as {requested}." if requested not in ("", marked) else ""
    evidence = f"The file begins with the byte order mark of {marked}; it is left out.{twice}{instead}"
    return _detected(marked, Standing.PROVED, evidence)


def _wide(data: bytes) -> DetectedEncoding | None:
    """UTF-16 or UTF-32 without a mark: proved by zero bytes at their places, guessed by line ends of two bytes."""
    by_zeros = encodings.detect_wide(data)
    if by_zeros and _is_text(data, by_zeros):
        evidence = f"The file is {by_zeros} without a byte order mark: its zero bytes are where that has them."
        return _detected(by_zeros, Standing.PROVED, evidence)
    if by_zeros:
        return _guessed(data, "The file is full of zero bytes.", [by_zeros])
    for encoding, line_end in (("utf-16-le", b"\n\0"), ("utf-16-be", b"\0\n")):
        found = sum(match.start() % 2 == 0 for match in re.finditer(line_end, data[:PROPOSAL_BYTES]))
        if found and _is_text(data, encoding):
            evidence = f"{found:,} line ends of two bytes stand where {encoding} has them."
            return _guessed(data, evidence, [encoding, encodings.GUESS])
    return None


def _is_text(data: bytes, encoding: str) -> bool:
    """Whether the first bytes are text in the encoding, of characters that exist."""
    text = codecs.getincrementaldecoder(encoding)("replace").decode(data[: PROPOSAL_BYTES // 4 * 4])
    odd = (unicodedata.category(each) in ("Cn", "Co", "Cs", "Cc") for each in text if each not in "\t\n\r\x1a")
    return bool(text) and not any(odd) and "\ufffd" not in text


def shows_utf8(data: bytes, *, whole: bool) -> bool:
    """Whether the first bytes of a file have characters beyond ASCII that are UTF-8, in most lines that have any.

    `whole`: they are all of it.
    """
    if data.isascii():
        return False
    return encodings.invalid_at(data, UTF8, final=whole) < 0 or bool(_odd_lines_of_utf8(data, whole))


def _odd_lines_of_utf8(data: bytes, whole: bool) -> list[int]:
    """The numbers of the lines that are not UTF-8, in a file in which more lines are UTF-8 beyond ASCII; else none."""
    lines = data.split(b"\n")
    if not whole:
        lines.pop()
    odd, valid = [], 0
    for number, line in enumerate(lines, start=1):
        if line.isascii():
            continue
        if encodings.invalid_at(line, UTF8) >= 0:
            odd.append(number)
        else:
            valid += 1
    return odd if valid > len(odd) else []


def _on_odd_lines(lines: Sequence[int]) -> str:
    named = ", ".join(f"{number:,}" for number in lines[:LINES_NAMED])
    more = f" and {len(lines) - LINES_NAMED:,} more" if len(lines) > LINES_NAMED else ""
    s = "s" if len(lines) > 1 else ""
    return (
        f"The file is UTF-8, but line{s} {named}{more} of its first part {'are' if s else 'is'} not: these rows cannot"
        " be read. --on-error reject keeps them in the reject file."
    )


def _legacy(data: bytes, odd: str) -> DetectedEncoding:
    controls = len(data) - len(data.translate(None, delete=CONTROLS))
    if controls > len(data) * MOST_CONTROLS:
        raise SourceProblem(
            f"This does not look like a text file: {controls:,} of the first {len(data):,} bytes are control"
            " characters.",
            advice="Choose the CSV file itself. If this is it, name its encoding, such as --encoding utf-16-le.",
        )
    proposals = _proposals(data)
    return _guessed(data, f"{odd}; {proposals[0]} is a guess.", proposals)


def _proposals(data: bytes) -> list[str]:
    """Encodings in which the bytes are valid and other texts, the likeliest first; with that of western Windows."""
    from charset_normalizer import from_bytes  # Here, because few files need it.

    text = b"\n".join(_lines_beyond_ascii(data))
    found = [encodings.canonical_name(each.encoding) for each in from_bytes(text)]
    found = [each for each in found if each != UTF8 and _has_ascii(each) and encodings.invalid_at(data, each) < 0]
    # The rare characters of an extended set are seldom meant: a set without them comes first.
    rare = [each for each in found if each in _BASIC and encodings.invalid_at(text, _BASIC[each]) >= 0]
    found = [each for each in found if each not in rare]
    western = encodings.GUESS if encodings.invalid_at(data, encodings.GUESS) < 0 else encodings.LAST_GUESS
    # Short western texts look like any of their neighbours: the commonest comes first, unless it is none of them.
    first = [western] if not found or (western == encodings.GUESS and _is_western(found[0], text)) else []
    first += [_WINDOWS[each] for each in found[:1] if _WINDOWS.get(each) in found]
    usual = [name for name in encodings.COMMON if name != UTF8 and encodings.invalid_at(text, name) < 0]
    different: dict[str, str] = {}
    for each in (*first, *found, western, *rare, *usual):
        different.setdefault(encodings.readable_text(text, each), each)
    return list(different.values())[:MOST_PROPOSALS]


def _has_ascii(encoding: str) -> bool:
    """Whether ASCII bytes are ASCII characters: not in UTF-16 nor on mainframes, whose files have hardly any."""
    return _PLAIN.decode(encoding, "replace") == _PLAIN.decode()


def _is_western(encoding: str, text: bytes) -> bool:
    """Whether most letters beyond ASCII are western ones if the text is read as western Windows writes it."""
    read = text.decode(encodings.GUESS, "replace")
    other = [each for each in read if not each.isascii()]
    if encodings.kind(encoding) is not EncodingKind.SINGLE and len(other) > FEW:
        return False
    return len(_WESTERN.findall(read)) > 0.7 * len(other)


def _lines_beyond_ascii(data: bytes) -> Iterator[bytes]:
    size = 0
    for line in data.split(b"\n"):
        if not line.isascii():
            yield line
            size += len(line)
            if size > PROPOSAL_BYTES:
                return


def answers_for(data: bytes, proposals: Sequence[str]) -> list[Answer]:
    """An answer for each encoding, with the first words beyond ASCII as it reads them."""
    words = list(dict.fromkeys(_WORD.findall(data[: 64 * PROPOSAL_BYTES])))[:WORDS_SHOWN]
    return [
        answer(
            f"{name} ({encodings.COMMON[name]})" if name in encodings.COMMON else name,
            [encodings.readable_text(word, name) for word in words],
            encoding=name,
        )
        for name in proposals
    ]


def _odd_byte(data: bytes, at: int) -> str:
    line = data.count(b"\n", 0, at) + 1
    return f"The byte 0x{data[at]:02X} on line {line} is not UTF-8"


def _notes_on_requested(data: bytes, requested: str, odd: str) -> str:
    if requested == UTF8:
        return f"{odd}: its row cannot be read." if odd else ""
    if encodings.kind(requested) is not EncodingKind.SINGLE:
        return ""
    if odd:
        return f"{odd}; it is read as {requested}: check the words below."
    return "" if data.isascii() else f"The text would be valid UTF-8, too, but is read as {requested}: please check."

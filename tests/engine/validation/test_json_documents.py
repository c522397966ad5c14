"""The verdict about JSON read in pieces by native/src/json/ equals that of Python's parser, and agrees with MySQL."""

import csv
import io
import json

import MySQLdb
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from importer.engine.mysql.connection import Address, connect, execute
from importer.engine.mysql.server_info import read_server
from importer.engine.native import loader
from importer.engine.source.dialect import Dialect
from importer.engine.source.records.blocks import blocks
from importer.engine.validation import FieldCheck, ValidationRules
from importer.engine.validation.types.json_documents import (
    DEEPEST,
    DUPLICATE_KEY,
    INVALID,
    LONG_NAME,
    LONGEST_NAME,
    LOST_DIGITS,
    TOO_DEEP,
    Json,
    NeedsFullParse,
    judge_whole,
)
from importer.engine.validation.verdict import Level, Verdict
from tests.engine.reference import in_file
from tests.examples import examples

pytestmark = pytest.mark.both_servers

needs_library = pytest.mark.skipif(not loader.library(), reason="the library is not compiled here")

JSON = Json("json")
# The most characters of a number in json.c.
LONGEST_NUMBER = 63
LONG_NUMBER = "1." + "0" * 200
KEPT = [
    "{}", "[]", " [ ] ", '""', "0", "-0", "-1.5", "true", "false", "null", "\t{ \"a\" :\r\n1 , \"b\": [ {} , [] ] } ",
    '"é😀"', r'"\"\\\/\b\f\n\r\t\u00e9\u0000"', r'"\ud83d\ude00"', r'"\uD83D\uDE00x"', r'"\\ud83d"', '{"": 1}',
    '"\x7f"', '{"a": 1, "A": 2, "a ": 3}', '{"a": {"a": {"a": []}}}', '[{"a": 1}, {"a": 1}]', "1E5", "1e+5", "0e308",
    "0.00e310", "0e-400", "1e22", "-122.41941550000001", "18446744073709551615", "-9223372036854775808", "0.1",
    "123456789012345", "9999999999999999999", "0.30000000000000004", "5e-324", "2.2250738585072014e-308",
    "5.960464477539063e-08", "5.960464477539062e-08",
    "[" * DEEPEST + "1" + "]" * DEEPEST, '{"a":' * DEEPEST + "1" + "}" * DEEPEST, LONG_NUMBER,
    '"[[[["' , "[" + ",".join(["[]"] * 300) + "]", "{" + ",".join(f'"{n}":{n}' for n in range(300)) + "}",
    f'{{"{"é" * (LONGEST_NAME // 2)}": 1}}', f'"{"a" * (LONGEST_NAME + 1)}"',
]  # fmt: skip
# Documents of KEPT that fast_path.c does not recognize, because of their numbers.
NOT_RECOGNIZED = {
    "0e308", "0.00e310", "0e-400", "18446744073709551615", "-9223372036854775808", "5.960464477539063e-08", LONG_NUMBER,
}  # fmt: skip
NOT_KEPT: list[tuple[Verdict, list[str]]] = [
    (INVALID, [
        "", " ", "{", "[", '"', "tru", "truex", "True", "nul", "NaN", "Infinity", "-Infinity", "-", "+1", ".5",
        "1.", "1e", "1e+", "01", "-01", "00", "1 2", "1,", "[1,]", "[,1]", "[1 2]", "[1", "1]", "]", "[}", "{]",
        '{"a"}', '{"a":}', '{"a":1,}', '{,"a":1}', '{a:1}', "{'a':1}", '{"a" 1}', '{"a":1 "b":2}', '{"a":1', "'a'",
        '"a\nb"', '"\t"', '"\x01"', r'"\x"', r'"\u12"', r'"\u12g4"', r'"\ud83d"', r'"\ude00"', r'"\ud83d\ud83d\ude00"',
        r'"\ud83da"', r'"\ud83d\ud83d"', r'"\ud83d\u0041"', r'"\ud83d\n"', "\f1",
        "\xa01", "\ufeff1", "1\0", "/**/1", "1.5.5", "1-", "--1", "1e5e5", "1e400", "-1e400", "0e309", "0.0e310",
        "1" * 400, "1.7976931348623159e308", "é", "[1é]",
    ]),
    (TOO_DEEP, ["[" * (DEEPEST + 1) + "]" * (DEEPEST + 1), '{"a":' * (DEEPEST + 1) + "1" + "}" * (DEEPEST + 1)]),
    (LONG_NAME, [f'{{"{"a" * (LONGEST_NAME + 1)}": 1}}', f'{{"{"é" * (LONGEST_NAME // 2 + 1)}": 1}}']),
    (DUPLICATE_KEY, [
        '{"a": 1, "a": 1}', r'{"a": 1, "\u0061": 2}', '[{"x": {"a": 1, "b": [], "a": 2}}]',
        "{" + ",".join(f'"{n}":{n}' for n in [*range(300), 0]) + "}",
    ]),
    (LOST_DIGITS, [
        "0.12345678901234567", "9.007199254740901", "[9007199254740993.0]", "-9999999999999999999",
        "0.99999999999999999", "9.9999999999999999", "-9223372036854775809", "1e-400",
        '{"a": [1, 0.' + "1" * 400 + "]}",
    ]),
]  # fmt: skip
BAD = [(value, verdict) for verdict, values in NOT_KEPT for value in values]


def in_pieces(text: str, size: int) -> Verdict | None:
    return JSON.judge_pieces(text[at : at + size] for at in range(0, len(text), size))


@pytest.mark.parametrize("text", KEPT, ids=lambda text: text[:20])
def test_valid_json_has_no_verdict(text: str):
    assert JSON.judge(text) is judge_whole(text) is None


@pytest.mark.parametrize(("text", "verdict"), BAD, ids=lambda value: str(value)[:20])
def test_invalid_or_lossy_json_has_its_verdict(text: str, verdict: Verdict):
    assert JSON.judge(text) == judge_whole(text) == verdict


def test_mysql_refuses_the_json_that_is_refused_here_and_no_other(database: Address):
    """MySQL also accepts JSON that loses something, and stops reading at a zero byte."""
    with connect(database) as connection:
        if read_server(connection, database).mariadb:
            pytest.skip("MariaDB's JSON is a text")
        execute(connection, "CREATE TABLE t (j JSON) CHARACTER SET utf8mb4")
        for text, verdict in [*((text, None) for text in KEPT), *BAD]:
            if "\0" in text:
                continue
            try:
                execute(connection, "INSERT INTO t VALUES (%s)", (text,))
                code = ""
            except MySQLdb.Error as error:
                code = str(error.args[0])
            refused = verdict and verdict.level is Level.REFUSED and verdict != DUPLICATE_KEY
            assert code == (verdict.code if refused else ""), text[:50]


@needs_library
@pytest.mark.parametrize("text", [*KEPT, *(text for text, _ in BAD)], ids=lambda text: text[:20])
def test_json_in_pieces_of_any_size_has_the_verdict_of_the_whole(text: str):
    for size in (1, 2, 3, 7, 64) if len(text) < 10_000 else (1000,):
        try:
            assert in_pieces(text, size) == judge_whole(text)
        except NeedsFullParse:
            assert judge_whole(text) != INVALID or len(text) > LONGEST_NUMBER


@needs_library
@pytest.mark.parametrize("text", [text for text in KEPT if text != LONG_NUMBER], ids=lambda text: text[:20])
def test_plain_json_needs_no_full_parse(text: str):
    assert in_pieces(text, 5) is None


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.decimals(allow_nan=False, allow_infinity=False).map(float)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text('ab"\\é', max_size=3), inner),
    max_leaves=20,
)
MARKS = ['"', "\\", "{", "}", "[", "]", ",", ":", "0", "-", ".", "e", "u", "\\ud83d", '"a":', "\n", "\0", "é", "t", ""]


@needs_library
@examples(500)
@given(
    value=VALUES,
    ascii_only=st.booleans(),
    change=st.none() | st.tuples(st.integers(0, 200), st.integers(0, 2), st.sampled_from(MARKS)),
    size=st.integers(1, 20),
)
@example([0.1 + 0.2], True, None, 1)
def test_json_has_the_verdict_of_pythons_parser(value, ascii_only, change, size):
    text = json.dumps(value, ensure_ascii=ascii_only)
    if change:
        at, removed, mark = change
        text = text[:at] + mark + text[at + removed :]
    try:
        verdict = in_pieces(text, size)
    except NeedsFullParse:
        return
    assert verdict == judge_whole(text)


NUMBERS = st.one_of(
    st.from_regex(r"-?(0|[1-9]\d{0,19})(\.\d{1,19})?(e[+-]?\d{1,3})?", fullmatch=True, alphabet="0123456789.e+-"),
    st.builds("{:.{}f}".format, st.floats(-1e9, 1e9), st.integers(1, 17)),
    st.builds("{:.{}e}".format, st.floats(allow_nan=False, allow_infinity=False), st.integers(0, 17)),
)


@needs_library
@examples(900)
@given(NUMBERS)
def test_json_number_in_pieces_loses_the_digits_of_the_whole(number: str):
    assert in_pieces(number, 64) == judge_whole(number)


def is_usual(data: bytes, encoding: str = "utf-8", quote: str = '"') -> bool:
    """Whether all records are usual; the first of their two fields is JSON."""
    validation = ValidationRules(
        Dialect(quote=quote, encoding=encoding), (FieldCheck("a", "json"), FieldCheck("")), mariadb=False
    )
    with in_file(data) as fd:
        (block,) = blocks(fd, validation.dialect, 0, 1, len(data))
    fast_path = validation.validator.fast_path
    assert fast_path
    return fast_path.are_all_usual(block)


def record(text: str, quote: str = '"') -> bytes:
    out = io.StringIO(newline="")
    csv.writer(out, quoting=csv.QUOTE_ALL, quotechar=quote, lineterminator="\n").writerow([text, "x"])
    return out.getvalue().encode()


@needs_library
@pytest.mark.parametrize("quote", ['"', "'"])
def test_only_valid_json_is_usual(quote: str):
    for text in KEPT:
        assert is_usual(record(text, quote) * 3, quote=quote) == (text not in NOT_RECOGNIZED), text[:50]
    for text, _ in BAD:
        if "\0" not in text:
            assert not is_usual(record("{}", quote) + record(text, quote), quote=quote), text[:50]


@needs_library
@pytest.mark.parametrize("place", range(64))
def test_json_is_as_usual_at_any_position(place: int):
    for text in ('{"a": "b"}', r'["\"", "\\", "\u00e9é"]', "17", "true", '"a,""b"'):
        others = record("[" + " " * place + "]") + record('{"ab": "' + "x" * 70 + '"}') * 3
        valid = judge_whole(text) is None
        assert is_usual(others + record(text) + others) == valid


@needs_library
@examples(150)
@given(
    values=st.lists(VALUES, min_size=1, max_size=20),
    ascii_only=st.booleans(),
    mark=st.sampled_from(MARKS),
    at=st.integers(0, 300),
)
def test_usual_json_has_no_verdict(values, ascii_only, mark, at):
    texts = [json.dumps(value, ensure_ascii=ascii_only) for value in values]
    texts[0] = texts[0][:at] + mark + texts[0][at:]
    if is_usual(b"".join(map(record, texts))):
        assert [judge_whole(text) for text in texts] == [None] * len(texts)


@needs_library
def test_json_beyond_ascii_is_usual_only_in_utf_8():
    assert is_usual(record('"é"'))
    assert not is_usual(record('"é"'), encoding="cp1252")
    for wrong in (
        b"\xe9",
        b"\xc3",
        b"\xc0\x80",
        b"\xed\xa0\x80",
        b"\xf4\x90\x80\x80",
        b"\xe0\x80\x80",
        b"\xf0\x80\x80\x80",
    ):
        assert not is_usual(b'"""a' + wrong + b'b""",x\n')
        assert not is_usual(b'"""a' + wrong + b'""",x\n')
    for right in ("\x80", "\u07ff", "\u0800", "\ud7ff", "\ue000", "\uffff", "\U00010000", "\U0010ffff"):
        assert is_usual(record(f'"a{right}"'))

"""Hexadecimal digits sent as bytes: the same rows arrive, and what is not plain goes as it is."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from importer.engine.errors import RowsRefused
from importer.engine.feed.hex_decoder import HexStatement, NotHexadecimal, can_decode, decode_hex
from importer.engine.load.chunk_load import ChunkLoad, LoadCallbacks
from importer.engine.load.loader import Loader, load_chunk
from importer.engine.load.outcome import Outcome
from importer.engine.mapping.columns import ColumnMapping
from importer.engine.mysql.connection import Address
from importer.engine.native import loader
from importer.engine.plan.options import Options
from importer.engine.source.dialect import RFC4180, Dialect
from tests.engine.loads import Unchecked, rows_of, run_sql, works

pytestmark = pytest.mark.skipif(not loader.library(), reason="the library is not compiled here")

FIELDS = HexStatement("", (False, True, False), ascii_only=False)
ALONE = HexStatement("", (True,), ascii_only=False)
MAPPING = (ColumnMapping("n"), ColumnMapping("x", transforms=("hex",)), ColumnMapping("t"))
TABLE = "CREATE TABLE t (n INT PRIMARY KEY, x VARBINARY(300), t VARCHAR(9)) CHARACTER SET {charset}"


def sent(data: bytes, how: HexStatement, dialect: Dialect = RFC4180, cuts: Sequence[int] = ()) -> bytes:
    """The decoded data, which comes in pieces that are cut there."""
    places = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    pieces = (data[low:high] for low, high in pairwise(places))
    return b"".join(decode_hex(how, dialect)(pieces))


def quoted(value: bytes) -> bytes:
    return b'"' + value.replace(b'"', b'""') + b'"'


def spellings(value: bytes) -> Iterator[bytes]:
    """Digits for the value, as files have them."""
    digits = value.hex().encode()
    for each in (digits, digits.upper(), b"0x" + digits, b"0X" + digits):
        yield from (each, quoted(each))


TEXTS = st.sampled_from([b"", b"a", b"some text", b'5" disk', b'"a,b"', b'"a ""b""\nc\r\n"', b'""', b"0x41", b"x" * 40])
VALUES = st.binary(max_size=40) | st.sampled_from([b'"', b'""""' * 5, b"\n", b",", b"\0" * 33, b"\xff" * 17])


@given(
    st.lists(st.tuples(TEXTS, VALUES, st.integers(0, 7), TEXTS), min_size=1, max_size=8),
    st.booleans(),
    st.booleans(),
    st.lists(st.integers(0, 600), max_size=4),
)
def test_digits_become_bytes_and_all_else_stays(rows: list, ended: bool, carriage: bool, cuts: list[int]):
    line_end = b"\r\n" if carriage else b"\n"
    spelled = [[first, list(spellings(value))[kind], last] for first, value, kind, last in rows]
    wanted = [[first, quoted(value), last] for first, value, _, last in rows]
    data, expected = (b"".join(b",".join(row) + line_end for row in each) for each in (spelled, wanted))
    data = data if ended else data.removesuffix(line_end)
    assert sent(data, FIELDS, Dialect(line_end=line_end.decode()), cuts) == expected


@pytest.mark.parametrize(
    "record",
    [b"a,4,b", b"a,4g,b", b"a,0x4,b", b"a, 41,b", b"a,41 ,b", b'a,"41,b', b'a,"41"x,b', b"a,41", b"a,41,b,c",
     b"a,41,b\r", b"a,x41,b", b"a,0x0x41,b", b'"a"b,41,c', b'"a,41,b', b"\n", b"a,\xef\xbc\x90,b"],
)  # fmt: skip
def test_what_is_not_plain_is_not_sent(record: bytes):
    for before in (b"", b"a,41,b\n" * 50):
        for behind in (b"", b"\n", b"\na,41,b\n"):
            for cuts in ((), (3, 355)):
                with pytest.raises(NotHexadecimal):
                    sent(before + record + behind, FIELDS, RFC4180, cuts)


def test_texts_need_not_be_ascii():
    assert sent("é,41,東\n".encode(), FIELDS) == 'é,"A",東\n'.encode()


@pytest.mark.parametrize("digits", [10, 200_000, 1_000_000])
def test_records_of_any_length_that_it_takes(digits: int):
    data = b"41" * (digits // 2) + b"\n"
    pieces = [data[low : low + 1000] for low in range(0, len(data), 1000)]
    assert b"".join(decode_hex(ALONE, RFC4180)(pieces * 3)) == (quoted(b"A" * (digits // 2)) + b"\n") * 3


def test_a_longer_one_goes_as_it_is():
    with pytest.raises(NotHexadecimal):
        sent(b"41" * 800_000 + b"\n", ALONE, RFC4180, range(0, 1_600_000, 200_000))


@pytest.mark.parametrize(
    ("dialect", "can"),
    [
        (RFC4180, True),
        (Dialect(delimiter=";", line_end="\r\n"), True),
        (Dialect(delimiter="\t", quote="'"), True),
        (Dialect(quote=""), False),
        (Dialect(escape="\\"), False),
        (Dialect(delimiter="a"), False),
        (Dialect(delimiter="||"), False),
        (Dialect(line_end="any"), False),
        (Dialect(line_end="\r"), False),
        (Dialect(trailing_delimiter=True), False),
        (Dialect(unquoted_empty_is_null=True), False),
    ],
)
def test_only_where_it_reads_records_as_the_server_does(dialect: Dialect, can: bool):
    assert can_decode(dialect) == can


def given_works(address: Address, path: Path, options: Options, charset: str = "latin1", **how) -> list[ChunkLoad]:
    run_sql(address, "DROP TABLE IF EXISTS t, millrace_ledger", TABLE.format(charset=charset))
    return works(address, path, MAPPING, options, **how)


def loaded(made: list[ChunkLoad]) -> list[Outcome]:
    return [load_chunk(each, LoadCallbacks()) for each in made]


def as_planned_without(made: list[ChunkLoad]) -> list[ChunkLoad]:
    return [
        replace(each, plan=replace(each.plan, statements=replace(each.plan.statements, unhexed=None))) for each in made
    ]


ALL_BYTES = bytes(range(256))
ALL_DIGITS = ALL_BYTES.hex().encode()
ROWS = [b"1," + ALL_DIGITS + b",all", b'2,,"a,b"', b"3,0x22,x", b'4,"2C0a",', b"5,5c5C,y", b"6,4e554c4c,z"]


@pytest.mark.parametrize("charset", ["latin1", "utf8mb4"])
@pytest.mark.parametrize("on_duplicate", ["fail", "skip", "replace"])
def test_the_same_rows_arrive(database: Address, source, charset: str, on_duplicate: str):
    path, options = source(b"\n".join(ROWS)), Options(on_duplicate=on_duplicate, on_error="reject")
    made = given_works(database, path, options, charset)
    assert all(each.statements.plain == each.plan.statements.unhexed.statement for each in made)
    loaded(made)
    rows = rows_of(database)
    assert [row[1] for row in rows] == [ALL_BYTES, b"", b'"', b",\n", b"\\\\", b"NULL"]
    loaded(as_planned_without(given_works(database, path, options, charset)))
    assert rows == rows_of(database)


def test_a_value_that_is_none_is_named_and_nothing_stays(database: Address, source):
    rows = [f"{n},{'4g' if n == 700 else '41'},x" for n in range(1000)]
    with pytest.raises(RowsRefused, match="line 701, column x: The value cannot be read as hexadecimal"):
        loaded(given_works(database, source("\n".join(rows)), Options()))
    assert rows_of(database) == []


@pytest.mark.parametrize("on_duplicate", ["fail", "skip", "replace"])
def test_bad_rows_and_too_long_ones_are_left_out(database: Address, source, on_duplicate: str):
    wrong = {3: "4", 500: "zz", 501: "41" * 301, 30_000: "é"}
    rows = [f"{n},{wrong.get(n, '4142')},x" for n in range(40_000)]
    options = Options(on_error="reject", on_duplicate=on_duplicate)
    made = given_works(database, source("\n".join([*rows, "7,43,again"])), options)
    outcomes = loaded(made)
    again = {"fail": (0, 0, 1), "skip": (0, 1, 0), "replace": (1, 0, 0)}[on_duplicate]
    told = [sum(getattr(each.tally, name) for each in outcomes) for name in ("replaced", "skipped", "rejected")]
    assert told == [again[0], again[1], again[2] + len(wrong)]
    assert rows_of(database, "SELECT COUNT(*) FROM t") == [(40_000 - len(wrong),)]
    assert rows_of(database, "SELECT x, t FROM t WHERE n = 7") == [
        (b"C", "again") if on_duplicate == "replace" else (b"AB", "x")
    ]


@pytest.mark.parametrize("method", ["load_data_local", "load_data_server"])
def test_texts_that_the_column_has_elsewhere_arrive(database: Address, source, method: str):
    """In a column of latin1, the bytes of é are others than in the file: its chunk goes with the character set."""
    rows = [f"{n},{n % 256:02x},{'é' if n % 5000 == 4999 else 'x'}" for n in range(20_000)]
    made = given_works(database, source("\n".join(rows)), Options(method=method), chunk_bytes=64 * 1024)
    assert len(made) > 2
    loaded(made)
    assert rows_of(database, "SELECT n, t FROM t WHERE t <> 'x'") == [(n, "é") for n in range(4999, 20_000, 5000)]
    assert rows_of(database, "SELECT COUNT(*), SUM(ORD(x) = n % 256) FROM t") == [(20_000, 20_000)]


def test_after_a_chunk_that_goes_as_it_is_the_same_connection_goes_on(database: Address, source):
    rows = [f"{n},{'4g' if n == 10 else '41'},x" for n in range(20_000)]
    made = given_works(database, source("\n".join(rows)), Options(on_error="reject"), chunk_bytes=64 * 1024)
    with Loader(made[0].path, database, made[0].plan) as loader:
        connection = loader.connect()
        for each in made:
            loader.load(each)
            assert loader.connect() == connection
    assert rows_of(database, "SELECT COUNT(*) FROM t") == [(19_999,)]


def test_the_word_null_stays_a_text(database: Address, source):
    (made,) = given_works(database, source('1,41,NULL\n2,42,"NULL"\n'), Options())
    assert made.chunk.null_word
    loaded([made])
    assert rows_of(database) == [(1, b"A", "NULL"), (2, b"B", "NULL")]


def test_a_value_that_is_too_long_is_said_to_be(database: Address, source):
    with pytest.raises(RowsRefused, match=r"line 2, column x: The value is too long for varbinary\(300\)"):
        loaded(given_works(database, source(f"1,41,x\n2,{'41' * 301},x\n"), Options()))


def test_one_that_fits_by_the_bytes_of_the_file_is_not(database: Address, source):
    run_sql(database, "CREATE TABLE t (x VARBINARY(3))")
    path, dialect = source("éé\n".encode("cp1252")), Dialect(encoding="cp1252")
    loaded(works(database, path, ["x"], Unchecked(), dialect=dialect))
    assert rows_of(database) == [("éé".encode("cp1252"),)]


def test_every_value_is_found_again(database: Address, source):
    (made,) = given_works(database, source(b"\n".join(ROWS)), Options(verify="full"))
    assert made.plan.readback
    loaded([made])
    assert len(rows_of(database)) == len(ROWS)


def test_it_goes_through_a_pipe_too(database: Address, source):
    loaded(given_works(database, source(b"\n".join(ROWS)), Options(method="load_data_server")))
    assert rows_of(database, "SELECT x FROM t WHERE n = 1") == [(ALL_BYTES,)]


@pytest.mark.parametrize(
    ("columns", "changed", "options"),
    [
        ("n INT, x BLOB, t VARCHAR(9) CHARACTER SET ucs2", {}, Options()),
        ("n BIT(8), x BLOB, t TEXT", {}, Options()),
        ("n INT, x BLOB, t TEXT", {0: ColumnMapping("n", null_markers=("-1",))}, Options()),
        ("n INT, x BLOB, t TEXT", {1: ColumnMapping("x", null_markers=("",), transforms=("hex",))}, Options()),
        ("n INT, x BLOB, t TEXT", {1: ColumnMapping("x", transforms=("trim", "hex"))}, Options()),
        ("n INT, x BLOB, t TEXT", {}, Options(method="insert")),
    ],
)
def test_nobody_sends_bytes_where_they_might_become_something_else(
    database: Address, source, columns: str, changed: dict, options: Options
):
    run_sql(database, f"CREATE TABLE t ({columns})")
    mapping = [changed.get(number, each) for number, each in enumerate(MAPPING)]
    assert works(database, source("1,41,x\n"), mapping, options)[0].plan.statements.unhexed is None

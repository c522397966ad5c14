"""Every transform on real servers: the exact value arrives, or the row is bad and the warning has its number."""

import json
from datetime import date, datetime, timedelta
from decimal import Decimal

import pytest

from importer.engine.errors import Problem
from importer.engine.mapping.columns import ColumnMapping
from importer.engine.mapping.transforms import FALSE_WORDS, LISTED, TRANSFORMS, TRUE_WORDS, Transform
from importer.engine.mysql.connection import Address, connect, execute
from importer.engine.schema.column_types import column_type
from importer.engine.schema.table import read_table
from importer.engine.source.dialect import Dialect
from importer.engine.source.records.blocks import Block
from importer.engine.source.records.boundary.boundaries import LineEnds
from importer.engine.stored import from_json, to_json
from importer.engine.validation import ValidationRules
from tests.engine.mapping.loaded_values import Loaded, read, stored

pytestmark = pytest.mark.both_servers

NUMBERS = [
    ("decimal-comma", "DECIMAL(9,3)", {"1234,5": "1234.5", "-0,125": "-0.125", "+7": "7", "12": "12"}),
    ("thousands-comma", "DECIMAL(12,3)", {"1,234.5": "1234.5", "1,234,567": "1234567", "1234.5": "1234.5", "-1": "-1"}),
    ("thousands-dot", "DECIMAL(12,3)", {"1.234,5": "1234.5", "1.234.567": "1234567", "1234,5": "1234.5"}),
    (
        "thousands-space",
        "DECIMAL(12,3)",
        {"1 234,5": "1234.5", "1\u00a0234": "1234", "1\u202f234\u2009567": "1234567", "1\u2007234": "1234"},
    ),
    ("thousands-apostrophe", "DECIMAL(12,3)", {"1'234.5": "1234.5", "1\u2019234\u2019567": "1234567"}),
    ("thousands-space-point", "DECIMAL(12,3)", {"1 234.5": "1234.5", "1\u202f234": "1234", "-1234.5": "-1234.5"}),
    (
        "thousands-indian",
        "DECIMAL(12,3)",
        {
            "12,34,567.5": "1234567.5",
            "1,23,456": "123456",
            "1,234": "1234",
            "123,456": "123456",
            "12,34,567": "1234567",
        },
    ),
    (
        "money",
        "DECIMAL(12,3)",
        {
            "$1,234.50": "1234.50",
            "-$5": "-5",
            "$-5.5": "-5.5",
            "($1,234.50)": "-1234.50",
            "5.5-": "-5.5",
            "5 EUR": "5",
            "\u22125": "-5",
            "R$ 1 234.5": "1234.5",
            "CHF 1'234.5": "1234.5",
            "5- €": "-5",
            "1'2": "bad",
        },
    ),
    (
        "money-comma",
        "DECIMAL(12,3)",
        {"1.234,50 €": "1234.50", "(1.234,5)": "-1234.5", "1 234,5 zł": "1234.5", "-5,5 kr": "-5.5", "7-": "-7"},
    ),
    ("percent", "DECIMAL(12,3)", {"12.5%": "0.125", "-100 %": "-1", "0.1%": "0.001"}),
    ("percent-comma", "DECIMAL(12,3)", {"12,5\u00a0%": "0.125", "100%": "1"}),
    ("percent-number", "DECIMAL(12,3)", {"12.5%": "12.5", "-1 %": "-1"}),
    ("percent-number-comma", "DECIMAL(12,3)", {"12,5 %": "12.5"}),
    (
        "local-digits",
        "DECIMAL(12,3)",
        {
            "\u0661\u0662\u066b\u0665": "12.5",
            "-\u06f1\u06f2": "-12",
            "\u0967\u0968.\u096b": "12.5",
            "\u0661\u066c\u0662\u0663\u0664": "1234",
            "\uff17": "7",
            "\u0661": "1",
            "\u0e51\u0e52\u0e53": "123",
            "-\U0001d7cf\u2007\U0001d7ce\U0001d7ce\U0001d7d0": "-1002",
            "\u0e51\u0e522": "bad",
        },
    ),
]
NO_NUMBERS = [
    "",
    " ",
    "1 ",
    " 1",
    "1,2,3",
    "1.2.3",
    "12,34,567",
    "1,,5",
    ",",
    ".",
    "-",
    "+-1",
    "1e3",
    "0x1F",
    "\u0661",
    "1\r",
]
NO_NUMBERS += ["1'2", "1 2", "NaN", "Infinity", "1,2345,678", "1.2345.678", "1,234x", "x1,234", "1,234\t", "1\0", "\0"]


@pytest.mark.parametrize(("name", "column", "values"), NUMBERS)
def test_transformed_number_is_exact_or_bad(database: Address, name: str, column: str, values: dict[str, str]):
    wanted = {value: number if number == "bad" else Decimal(number) for value, number in values.items()}
    wrong = [value for value in NO_NUMBERS if value not in wanted]
    results = stored(database, column, read(name), [*wanted, *wrong])
    assert results == wanted | dict.fromkeys(wrong, "bad")


OTHERS = [
    (
        "uuid",
        "BINARY(16)",
        {
            "123e4567-e89b-12d3-a456-426614174000": bytes.fromhex("123e4567e89b12d3a456426614174000"),
            "{123E4567-E89B-12D3-A456-426614174000}": bytes.fromhex("123e4567e89b12d3a456426614174000"),
        },
        ["", "123e4567e89b12d3a456426614174000", "123e4567-e89b-12d3-a456-42661417400", "x"],
    ),
    (
        "bit-literal",
        "BIT(8)",
        {"b'101'": b"\x05", "0b11": b"\x03", "b'11111111'": b"\xff"},
        ["101", "b'2'", "b'111111111'", "b''", "5", ""],
    ),
    ("excel-text", "VARCHAR(9)", {'="00123"': "00123", "7": "7", '="a""b"': 'a"b', '=""': "", '="': '="'}, []),
    ("excel-text", "INT", {'="00123"': 123, "7": 7}, ['="x"', "=1", '=""']),
    ("excel-date", "DATE", {"45292": date(2024, 1, 1), "61": date(1900, 3, 1), "45292.0": date(2024, 1, 1)}, ["60"]),
    ("excel-date", "DATE", {"1": date(1900, 1, 1), "59": date(1900, 2, 28)}, ["0", "45292.5", "-1", "x", "1234567"]),
    (
        "excel-date",
        "DATETIME",
        {
            "45292": datetime(2024, 1, 1),
            "45292.5": datetime(2024, 1, 1, 12),
            "45292.4215277778": datetime(2024, 1, 1, 10, 7),
            "45292.9999999999": datetime(2024, 1, 2),
            "59.75": datetime(1900, 2, 28, 18),
        },
        ["45292.42153", "1e5", "45292,5", "60.5"],
    ),
    ("excel-date-1904", "DATE", {"43830": date(2024, 1, 1), "0": date(1904, 1, 1)}, ["x", ""]),
    (
        "unix-seconds",
        "DATETIME",
        {"1704067200": datetime(2024, 1, 1), "0": datetime(1970, 1, 1), "-1": datetime(1969, 12, 31, 23, 59, 59)},
        ["", "1.5", "x", "170406720012"],
    ),
    ("unix-seconds", "TIMESTAMP NULL", {"1704067200": datetime(2024, 1, 1)}, ["0", "-5", "99999999999"]),
    ("unix-milliseconds", "DATETIME", {"1704067200000": datetime(2024, 1, 1)}, ["1704067200001", "5"]),
    (
        "unix-milliseconds",
        "DATETIME(3)",
        {"1704067200125": datetime(2024, 1, 1, 0, 0, 0, 125000), "-1": datetime(1969, 12, 31, 23, 59, 59, 999000)},
        ["x", "1.5"],
    ),
]


@pytest.mark.parametrize(("name", "column", "values", "wrong"), OTHERS)
def test_other_transform_is_exact_or_bad(database: Address, name: str, column: str, values: dict, wrong: list[str]):
    assert stored(database, column, read(name), [*values, *wrong]) == values | dict.fromkeys(wrong, "bad")


@pytest.mark.parametrize("name", ["decimal-comma", "thousands-comma", "thousands-dot", "thousands-space"])
def test_transformed_number_is_never_rounded_to_an_integer(database: Address, name: str):
    mark = "." if name == "thousands-comma" else ","
    values = {"7": 7, f"7{mark}00": 7, f"7{mark}5": "bad", f"7{mark}01": "bad", "99999999999": "bad"}
    assert stored(database, "INT", read(name), list(values)) == values


def test_transformed_number_with_too_many_decimals_is_bad(database: Address):
    assert stored(database, "DECIMAL(5,1)", read("decimal-comma"), ["1,25", "1,2"])["1,25"] == "bad"


@pytest.mark.parametrize(("column", "true", "false"), [("TINYINT", 1, 0), ("BIT(1)", b"\x01", b"\0")])
def test_yes_no_accepts_its_words_only(database: Address, column: str, true: object, false: object):
    wrong = ["", "2", "maybe", "yes ", " no", "tru", "01", "yès", "\0"]
    results = stored(database, column, read("yes-no"), [*TRUE_WORDS, *FALSE_WORDS, *wrong])
    assert results == dict.fromkeys(TRUE_WORDS, true) | dict.fromkeys(FALSE_WORDS, false) | dict.fromkeys(wrong, "bad")


def test_number_for_a_bit_column_is_exact_or_bad(database: Address):
    results = stored(database, "BIT(8)", read("number"), ["0", "5", "255", "256", "", "1.5", "b'1'", "-1", "9" * 25])
    assert [results["0"], results["5"], results["255"]] == [b"\0", b"\x05", b"\xff"]
    assert {results[wrong] for wrong in ("256", "", "1.5", "b'1'", "-1", "9" * 25)} == {"bad"}


def test_bit_column_takes_64_bits(database: Address):
    most = 2**64 - 1
    assert stored(database, "BIT(64)", read("number"), [str(most)])[str(most)] == b"\xff" * 8
    assert stored(database, "BIT(64)", read("bits"), ["1" * 64, "1" * 65])["1" * 65] == "bad"


def test_binary_digits_for_a_bit_column_are_exact_or_bad(database: Address):
    results = stored(database, "BIT(3)", read("bits"), ["101", "0", "1000", "2", "", "1 "])
    assert results == {"101": b"\x05", "0": b"\0", "1000": "bad", "2": "bad", "": "bad", "1 ": "bad"}


@pytest.mark.parametrize("column", ["VARBINARY(20)", "TINYBLOB", "BLOB"])
def test_hexadecimal_value_is_exact_or_bad(database: Address, column: str):
    values = {"4d69": b"Mi", "0x4D": b"M", "": b"", "00ff1A0d0a": b"\0\xff\x1a\r\n", "4": "bad", "0x": b"", "4g": "bad"}
    # Characters that equal those of the prefix in a collation are not accepted, nor are digits of other scripts.
    wrong = ["\uff10x41", "0\u00d741", "4\u0661", "41 ", " 41", "x41", "0x0x", "z" * 3000]
    results = stored(database, column, read("hex"), [*values, *wrong])
    assert results == values | dict.fromkeys(wrong, "bad")


def test_hexadecimal_value_for_a_fixed_length_is_padded_or_bad(database: Address):
    results = stored(database, "BINARY(2)", read("hex"), ["4d69", "4d", "4d6900", "zz"])
    assert results == {"4d69": b"Mi", "4d": b"M\0", "4d6900": "bad", "zz": "bad"}


def test_long_hexadecimal_value_is_exact(database: Address):
    value = "a7" * 1_000_000
    assert stored(database, "MEDIUMBLOB", read("hex"), [value])[value] == b"\xa7" * 1_000_000


BLANKS = [" a ", "\ta\t", "\u00a0 \ta b\t \u00a0", "a", "", " ", "a\u3000", "\ra\r", " \0 "]


@pytest.mark.parametrize(
    ("name", "strip"),
    [
        ("trim", lambda text: text.strip(" \t\u00a0")),
        ("trim-left", lambda text: text.lstrip(" \t\u00a0")),
        ("trim-right", lambda text: text.rstrip(" \t\u00a0")),
    ],
)
def test_trim_removes_blanks_as_python_does(database: Address, name: str, strip):
    assert stored(database, "TEXT", read(name), BLANKS) == {value: strip(value) for value in BLANKS}


def test_trim_of_a_long_text_with_long_blanks(database: Address):
    value = " " + "x" + " " * 300_000 + "é " * 300_000 + "x" + "\t" * 10
    assert stored(database, "LONGTEXT", read("trim"), [value])[value] == value.strip()


def test_trim_comes_before_null_markers_and_readings(database: Address):
    mapping = read("trim", "decimal-comma", null_markers=("NA", ""))
    results = stored(database, "DECIMAL(5,1)", mapping, [" NA ", "  ", " 1,5\t", "NA", "na"])
    assert results == {" NA ": None, "  ": None, " 1,5\t": Decimal("1.5"), "NA": None, "na": "bad"}


def test_upper_and_lower_change_the_case(database: Address):
    assert stored(database, "TEXT", read("upper"), ["aé1", ""]) == {"aé1": "AÉ1", "": ""}
    assert stored(database, "TEXT", read("lower"), ["AÉ1", ""]) == {"AÉ1": "aé1", "": ""}


MATCHING = [each for each in (*LISTED, TRANSFORMS["money-$"], TRANSFORMS["money-comma-zł"]) if each.takes]


@pytest.mark.parametrize("transform", MATCHING, ids=lambda each: each.name)
def test_transform_accepts_a_value_or_makes_it_bad_for_any_character(database: Address, transform: Transform):
    """The server reports every value that Python's reading of the pattern does not accept."""
    column_of = {"bit": "BIT(64)", "blob": "BLOB", "datetime": "DATETIME", "double": "DECIMAL(30,5)"}
    column = next(sql for name, sql in column_of.items() if transform.accepted(column_type(name)))
    singles = [chr(code) for code in (*range(2, 10), *range(11, 0x180), 0x2019, 0x2028, 0x3000, 0xFEFF, 0x1F600)]
    values = [*singles, *("1" + each for each in singles), *(each + "1" for each in singles)]
    loaded = Loaded(database, f"{column} NOT NULL", read(transform.name), values)
    with connect(database) as connection:
        described = read_table(connection, database.database, "t").column("v")
    taken = {value for value in values if transform.fits(value, described)}
    # The server ignores case.
    taken_by_server = {value for value, result in loaded.stored.items() if result != "bad"}
    assert {value.lower() for value in taken_by_server} <= {value.lower() for value in taken}
    if transform.name != "hex":  # The server also checks the number of digits.
        assert taken <= taken_by_server


LISTS = [
    (
        "ENUM('a','b','é','2')",
        {"a": "a", "A": "a", "2": "2", "é": "é"},
        ["1", "3", "0", "", "e", "ab", "'a'", "\0"],
    ),
    ("ENUM('','a')", {"": "", "a": "a"}, ["0", "1", "2", "b"]),
    ("ENUM('it''s','\\\\','a,b','%s')", {"it's": "it's", "\\": "\\", "a,b": "a,b", "%s": "%s"}, ["its", "\\\\", "1"]),
    (r"ENUM('\n','\0')", {"\0": "\0"}, ["n", "0", "\r"]),
    ("ENUM('not in the list: x','x y')", {"x y": "x y", "not in the list: x": "not in the list: x"}, ["x", "y"]),
    ("ENUM('a') COLLATE utf8mb4_bin", {"a": "a"}, ["A"]),
    (
        "SET('a','b','c.d')",
        {"a": "a", "b,a": "a,b", "": "", "c.d": "c.d", "A": "a"},
        ["3", "a,", ",a", "a, b", "cxd", "q"],
    ),
    ("SET('1','2')", {"2": "2", "1,2": "1,2"}, ["3", "0", "12"]),
    ("SET('a','é') COLLATE utf8mb4_bin", {"é": "é"}, ["A", "e"]),
]


@pytest.mark.parametrize(("column", "values", "wrong"), LISTS)
def test_enum_and_set_accept_members_and_no_positions(database: Address, column: str, values: dict, wrong: list[str]):
    results = stored(database, column, read("trim-left"), [*values, *wrong])
    # mysqlclient returns a SET as a set.
    plain = {key: ",".join(sorted(value)) if isinstance(value, set) else value for key, value in results.items()}
    assert plain == values | dict.fromkeys(wrong, "bad")


CLEANED = [
    ("INT", {" 7": 7, "7.0": 7}, ["1.5", "1e3", "7 ", "0x1", "1,5"]),
    ("DECIMAL(5,1)", {" 1.5": Decimal("1.5"), ".5": Decimal("0.5")}, ["1.25", "1.5 ", "-"]),
    ("DOUBLE", {" 1.5e3": 1500.0}, ["1.5.", "nan", "1.5x"]),
    ("YEAR", {" 2024": 2024}, ["24", "4", "2024 "]),
    ("DATE", {" 2024-2-1": date(2024, 2, 1)}, ["24-2-1", "2024-02-30", "2024-02-01 10:00", "2024-02-01 "]),
    ("DATETIME(1)", {" 2024-02-01T10:11:12.50": datetime(2024, 2, 1, 10, 11, 12, 500000)}, ["2024-02-01 25:11"]),
    ("TIME", {" 10:11:12.0": timedelta(hours=10, minutes=11, seconds=12)}, ["10:61", "1011"]),
    ("BIT(8)", {" 5": b"\x05"}, ["256", "x", "5 "]),
    ("CHAR(3)", {" ab": "ab", "": ""}, ["abcd"]),
    ("VARCHAR(3)", {" ab": "ab", "a ": "a "}, ["abcd"]),
]


@pytest.mark.parametrize(("column", "values", "wrong"), CLEANED)
def test_trimmed_value_is_stored_unchanged_or_bad(database: Address, column: str, values: dict, wrong: list[str]):
    results = stored(database, column, read("trim-left"), [*values, *wrong])
    assert results == values | dict.fromkeys(wrong, "bad")


INJECTIONS = ["'", "\\", "\\'", "'); DROP TABLE t; -- ", "`", "%", "\0", "\x1a", "\r", '"', "@field1", "é😀"]


@pytest.mark.parametrize("marker", INJECTIONS)
def test_null_marker_is_never_read_as_sql(database: Address, marker: str):
    values = [marker, "NA", "x"]
    results = stored(database, "TEXT", ColumnMapping("v", (marker,)), values)
    assert results == {marker: None, "NA": "NA", "x": "x"}


@pytest.mark.parametrize("text", ["%d'); DROP TABLE t; -- ", "%d\\", "%d`%m", '%d"%m', "%d (%m) [%Y] {1} *+?.^$|"])
def test_date_format_is_never_read_as_sql(database: Address, text: str):
    results = stored(database, "DATETIME", read(datetime_format=text), ["nothing"])
    assert results == {"nothing": "bad"}


REFUSED = [
    ("INT", read("hex"), "hex does not go with v"),
    ("TEXT", read("decimal-comma"), "decimal-comma does not go with v"),
    ("INT", read("sleep(9)"), "no transform 'sleep(9)'"),
    ("INT", read("decimal-comma", "yes-no"), "read in two ways"),
    ("TEXT", read(datetime_format="%d"), "takes no date and time format"),
    ("DATE", read(datetime_format="%d %Q"), "'%Q' in it, which means nothing"),
    ("DATE", read(datetime_format="%d%"), "'%' in it"),
    ("DATE", read(datetime_format="today"), "no date and time format"),
    ("DATE", read(datetime_format="%d\n"), "no date and time format"),
    ("DATE", read(datetime_format="%d" * 99), "no date and time format"),
]


@pytest.mark.parametrize(("column", "mapping", "message"), REFUSED)
def test_transform_that_does_not_suit_the_column_is_refused(
    database: Address, column: str, mapping: ColumnMapping, message: str
):
    with pytest.raises(Problem) as caught:
        Loaded(database, column, mapping, ["1"])
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("column", "text", "notices"),
    [
        ("FLOAT", "16.777.217,0", 1),
        ("FLOAT", "1.234,5", 0),
        ("FLOAT", "0,123456789", 1),
        ("DOUBLE", "0,1234567", 0),
        ("DOUBLE", "1.234.567.890.123.456.789", 1),
        ("FLOAT", "not a number", 0),
    ],
)
def test_digits_that_a_transformed_floating_point_number_loses_are_counted(
    database: Address, column: str, text: str, notices: int
):
    with connect(database) as connection:
        execute(connection, f"CREATE TABLE f (v {column})")
        table = read_table(connection, database.database, "f")
    dialect = Dialect(delimiter=";", header=False)
    exactness = ValidationRules.of(dialect, [read("thousands-dot")], table, mariadb=True, rounding="notice")
    data = f"{text}\n1,5\n".encode()
    block = Block(0, 1, len(data), 2, LineEnds(data, len(data)), data)
    assert exactness.suspicious(block) is bool(notices)
    findings = exactness.examine(block)
    assert (len(findings.faults), sum(findings.notices.values())) == (0, notices)
    assert from_json(ValidationRules, json.loads(json.dumps(to_json(exactness)))) == exactness


def test_names_in_sentences_keep_their_capital_letters():
    assert [TRANSFORMS[name].words for name in ("hex", "uuid")] == ["hexadecimal", "UUID"]
    assert TRANSFORMS["money-USD"].words == "amount in USD, decimal point"
    assert TRANSFORMS["hex"].label == "Hexadecimal"

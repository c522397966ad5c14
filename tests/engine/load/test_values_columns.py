"""No value is changed on its way into a column without a reject or a counted notice: numbers, dates, lists, bytes."""

from dataclasses import replace

import pytest

from importer.engine.mapping.columns import ColumnMapping
from importer.engine.mysql.connection import Address
from importer.engine.source.dialect import Dialect
from tests.engine.load.values import REJECT, Came, came_of

pytestmark = pytest.mark.both_servers

DIALECT = Dialect(header=False)
LONG = f"1.{'0' * 39}1"


def into(database: Address, tmp_path, type_: str, values: list[str], **options) -> Came:
    """Each value on a line of its own, quoted, into a column x, with its line number in another."""
    quoted = (value.replace('"', '""') for value in values)
    data = "".join(f'{line},"{value}"\n' for line, value in enumerate(quoted, 1))
    asked = replace(REJECT, **options)
    return came_of(database, tmp_path, f"n INT, x {type_}", data, dialect=DIALECT, options=asked)


def rejected(came: Came) -> dict[str, str]:
    """The code by value."""
    return {value: code for _, _, value, code in came.rejects}


def stored(came: Came) -> list[str]:
    return [str(row[1]) for row in came.rows]


class TestWholeNumbers:
    def test_what_is_no_whole_number_is_rejected(self, database: Address, tmp_path):
        bad = {"1.5": "fraction", "0.0001": "fraction", "1e3": "exponent", "": "1366", "abc": "1366", "12abc": "1265"}
        bad |= {"0x1F": "1265", "1,234": "1265", "1.234,5": "1265", "2147483648": "1264", "true": "1366", "1_0": "1265"}
        came = into(database, tmp_path, "INT", list(bad))
        assert (came.rows, rejected(came)) == ([], bad)

    def test_other_ways_to_write_one_are_taken(self, database: Address, tmp_path):
        came = into(database, tmp_path, "INT", [" 12", "+5", "5.0", "5.", "-0", "007", "12 ", "2147483647"])
        assert stored(came) == ["12", "5", "5", "5", "0", "7", "12", "2147483647"]

    def test_the_ends_of_the_range(self, database: Address, tmp_path):
        values = ["18446744073709551615", "0", "18446744073709551616", "-1"]
        came = into(database, tmp_path, "BIGINT UNSIGNED", values)
        assert stored(came) == values[:2]
        assert rejected(came) == dict.fromkeys(values[2:], "1264")

    def test_among_many_rows_only_the_bad_ones_go(self, database: Address, tmp_path):
        values = [f"{n}.5" if n % 997 == 0 else str(n) for n in range(20_000)]
        came = into(database, tmp_path, "INT", values)
        assert [line - 1 for line, *_ in came.rejects] == list(range(0, 20_000, 997))
        assert came.tally.loaded == 20_000 - len(came.rejects)


class TestRounding:
    def test_decimal_is_a_counted_notice(self, database: Address, tmp_path):
        came = into(database, tmp_path, "DECIMAL(5,2)", ["1.25", "1.259", "1.250", "1e2", "0.001"])
        assert stored(came) == ["1.25", "1.26", "1.25", "100.00", "0.00"]
        assert sum(came.notices.values()) == 2
        assert {column for column, _ in came.notices} == {"x"}

    def test_or_a_reject_if_asked(self, database: Address, tmp_path):
        came = into(database, tmp_path, "DECIMAL(5,2)", ["1.25", "1.259"], rounding="reject")
        assert (stored(came), rejected(came)) == (["1.25"], {"1.259": "1265"})

    def test_decimal_refuses_what_is_too_large_even_rounded(self, database: Address, tmp_path):
        came = into(database, tmp_path, "DECIMAL(5,2)", ["999.994", "999.995", "1,5", "1.2x", "NaN"])
        assert rejected(came) == {"999.995": "1264", "1,5": "1265", "1.2x": "1265", "NaN": "1366"}

    @pytest.mark.parametrize(
        ("type_", "fine", "lossy"),
        [
            ("FLOAT", ["0.1", "16777216", "123456.7", "1e38"], ["16777217", "0.12345678901", "1e-50", LONG]),
            ("DOUBLE", ["9007199254740992", "0.30000000000000004", "1e308"], ["9007199254740993", "1e-400", LONG]),
        ],
    )
    def test_digits_that_floating_point_loses_are_counted(self, database: Address, tmp_path, type_, fine, lossy):
        assert into(database, tmp_path, type_, fine).notices == {}
        assert into(database, tmp_path, type_, lossy).notices == {("x", "digits"): len(lossy)}
        came = into(database, tmp_path, type_, [*fine, *lossy], rounding="reject")
        assert rejected(came) == dict.fromkeys(lossy, "digits")

    def test_what_is_no_number_is_rejected(self, database: Address, tmp_path):
        codes = {"NaN": "1366", "Infinity": "1366", "1e400": "1264", "": "1366", "1,5": "1265", ".": "1366"}
        for type_ in ("FLOAT", "DOUBLE"):
            came = into(database, tmp_path, type_, list(codes))
            assert (came.rows, rejected(came)) == ([], codes)


class TestDates:
    def test_days(self, database: Address, tmp_path):
        good = ["2024-01-02", "2024-1-2", "20240102", "2024-02-29", "2024-01-02 00:00:00"]
        bad = ["24-1-2", "240102", "0000-00-00", "2024-02-30", "2024-13-01", "01/02/2024", "", "2024-01-02 10:00:00"]
        bad += ["2024-01-02+02:00", "2024-1-2 3:4"]
        came = into(database, tmp_path, "DATE", good + bad)
        assert stored(came) == ["2024-01-02"] * 3 + ["2024-02-29", "2024-01-02"]
        assert list(rejected(came)) == bad

    def test_moments(self, database: Address, tmp_path):
        good = [
            "2024-01-02 03:04:05",
            "2024-01-02T03:04:05",
            "2024-1-2 3:4:5",
            "20240102030405",
            "2024-01-02 03:04:05.000",
        ]
        bad = [
            "2024-01-02T03:04:05Z",
            "2024-01-02 03:04:05+02:00",
            "24-1-2 3:4:5",
            "2024-01-02 24:00:00",
            "240102030405",
        ]
        bad += ["2024-01-02+02:00", "2024-01-02.5", "2024-02-30 00:00:00", "", "2024-01-02 03:04:05 PM"]
        came = into(database, tmp_path, "DATETIME", good + bad)
        assert stored(came) == ["2024-01-02 03:04:05"] * 5
        assert list(rejected(came)) == bad

    def test_an_hour_that_summer_time_leaves_out_is_one(self, database: Address, tmp_path):
        came = into(database, tmp_path, "TIMESTAMP NULL", ["2024-03-31 02:30:00", "1969-12-31 00:00:00"])
        assert (stored(came), list(rejected(came))) == (["2024-03-31 02:30:00"], ["1969-12-31 00:00:00"])

    @pytest.mark.parametrize(("type_", "fine", "lossy"), [
        ("DATETIME", "2024-01-02 03:04:05.000", "2024-01-02 03:04:05.4"),
        ("DATETIME(3)", "2024-01-02 03:04:05.123", "2024-01-02 03:04:05.1234"),
        ("TIME", "03:04:05.0", "03:04:05.4"),
    ])  # fmt: skip
    def test_fractions_of_seconds_are_counted(self, database: Address, tmp_path, type_: str, fine: str, lossy: str):
        came = into(database, tmp_path, type_, [fine, lossy])
        assert (len(came.rows), came.notices) == (2, {("x", "fraction of a second"): 1})
        came = into(database, tmp_path, type_, [fine, lossy], rounding="reject")
        assert rejected(came) == {lossy: "fraction of a second"}

    def test_times(self, database: Address, tmp_path):
        came = into(
            database, tmp_path, "TIME", ["10:11:12", "-1:02", "838:59:59", "12", "1012", "839:00:00", "", "10:60:00"]
        )
        assert len(came.rows) == 3
        assert list(rejected(came)) == ["12", "1012", "839:00:00", "", "10:60:00"]

    def test_years(self, database: Address, tmp_path):
        came = into(database, tmp_path, "YEAR", ["2024", "1901", "24", "0", "1900", "2024.5", ""])
        assert stored(came) == ["2024", "1901"]
        assert list(rejected(came)) == ["24", "0", "1900", "2024.5", ""]

    def test_a_format_into_a_day_keeps_no_time_back(self, database: Address, tmp_path):
        mapping = ("n", ColumnMapping("x", datetime_format="%d.%m.%Y %H:%i"))
        data = "1,02.01.2024 00:00\n2,02.01.2024 10:00\n"
        came = came_of(database, tmp_path, "n INT, x DATE", data, mapping=mapping, dialect=DIALECT)
        assert (stored(came), rejected(came)) == (["2024-01-02"], {"02.01.2024 10:00": "time"})


class TestLists:
    def test_only_members_go_in(self, database: Address, tmp_path):
        came = into(database, tmp_path, "ENUM('a','b','2')", ["a", "2", "1", "3", "c", "", "0"])
        assert stored(came) == ["a", "2"]
        assert list(rejected(came)) == ["1", "3", "c", "", "0"]

    def test_another_spelling_is_a_notice(self, database: Address, tmp_path):
        came = into(database, tmp_path, "ENUM('a','b')", ["A", "b "])
        assert (stored(came), came.notices) == (["a", "b"], {("x", "spelling"): 2})

    def test_sets(self, database: Address, tmp_path):
        came = into(database, tmp_path, "SET('a','b')", ["a", "b,a", "", "1", "3", "c", "a,c"])
        assert stored(came) == ["a", "a,b", ""]
        assert list(rejected(came)) == ["1", "3", "c", "a,c"]


class TestBytesAndOthers:
    def test_words_for_true_are_no_numbers(self, database: Address, tmp_path):
        assert list(rejected(into(database, tmp_path, "BOOL", ["1", "true", "0", "yes"]))) == ["true", "yes"]

    def test_digits_for_bits_need_a_transform(self, database: Address, tmp_path):
        assert rejected(into(database, tmp_path, "BIT(8)", ["1", "65", ""])) == dict.fromkeys(["1", "65", ""], "bit")
        mapping = ("n", ColumnMapping("x", transforms=("number",)))
        came = came_of(database, tmp_path, "n INT, x BIT(8)", "1,65\n2,256\n", mapping=mapping, dialect=DIALECT)
        assert (came.rows, len(came.rejects)) == ([(1, b"A")], 1)

    def test_json(self, database: Address, tmp_path):
        came = into(database, tmp_path, "JSON", ['{"a": 1}', "[1, 2]", "{'a'}", "", '{"a": 1', "NaN"])
        assert [row[0] for row in came.rows] == [1, 2]
        assert [line for line, *_ in came.rejects] == [3, 4, 5, 6]

    def test_geometry_takes_no_text(self, database: Address, tmp_path):
        came = into(database, tmp_path, "GEOMETRY", ["POINT(1 1)"])
        assert (came.rows, rejected(came)) == ([], {"POINT(1 1)": "1416"})

    def test_binary_that_is_filled_up_is_a_notice(self, database: Address, tmp_path):
        came = into(database, tmp_path, "BINARY(4)", ["abcd", "ab", "abcde"])
        assert came.rows == [(1, b"abcd"), (2, b"ab\0\0")]
        assert (came.notices, list(rejected(came))) == ({("x", "padding"): 1}, ["abcde"])

    @pytest.mark.parametrize("escape", ["", "\\"])
    def test_binary_with_a_doubled_quote_is_shorter_than_it_looks(self, database: Address, tmp_path, escape: str):
        data = f"""1,"a{escape or '"'}"b"\n2,"abcd"\n"""
        came = came_of(database, tmp_path, "n INT, x BINARY(4)", data, dialect=replace(DIALECT, escape=escape))
        assert came.rows == [(1, b'a"b\0'), (2, b"abcd")]
        assert came.notices == {("x", "padding"): 1}


class TestTexts:
    def test_too_long_is_rejected(self, database: Address, tmp_path):
        came = into(database, tmp_path, "VARCHAR(5)", ["abcde", "abcdef", "ééééé", "éééééé", " abc"])
        assert stored(came) == ["abcde", "ééééé", " abc"]
        assert list(rejected(came)) == ["abcdef", "éééééé"]

    @pytest.mark.parametrize(("type_", "kept", "code"), [("CHAR(5)", "abc", "spaces"), ("VARCHAR(5)", "abc  ", "1265")])
    def test_trailing_spaces_that_get_lost_are_counted(self, database: Address, tmp_path, type_, kept, code):
        lost = "abc    "
        came = into(database, tmp_path, type_, ["abc", lost])
        assert stored(came) == ["abc", kept]
        assert sum(came.notices.values()) == 1
        came = into(database, tmp_path, type_, ["abc", lost], rounding="reject")
        assert (stored(came), rejected(came)) == (["abc"], {lost: code})

    def test_trailing_spaces_that_fit_into_varchar_stay(self, database: Address, tmp_path):
        came = into(database, tmp_path, "VARCHAR(5)", ["abc  "])
        assert (stored(came), came.notices) == (["abc  "], {})

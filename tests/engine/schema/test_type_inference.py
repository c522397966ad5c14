"""Type inference gives the narrowest type that stores all values."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from importer.engine.errors import Problem
from importer.engine.schema.type_inference import TypeTracker, check_type


def tracker_of(*values: str, markers: tuple[str, ...] = ()) -> TypeTracker:
    tracker = TypeTracker()
    tracker.take(values, frozenset(markers))
    return tracker


@pytest.mark.parametrize(
    ("values", "type_"),
    [
        (["0", "1", "1"], "tinyint"),
        (["0", "2"], "int"),
        (["-5", "2147483647"], "int"),
        (["2147483648"], "bigint"),
        (["18446744073709551615"], "bigint unsigned"),
        (["-1", "18446744073709551615"], "decimal(20,0)"),
        (["9" * 66], "varchar(128)"),
        (["007", "8"], "varchar(16)"),
        (["+5"], "varchar(16)"),
        (["1", "1.50", "-20.5"], "decimal(6,2)"),
        (["1e3", "2.5E-7"], "double"),
        (["1.2345678901234567e3"], "varchar(32)"),
        (["1e400", "2.5e3"], "varchar(16)"),
        (["1e-400", "2.5e3"], "varchar(16)"),
        (["0e-400", "2.5e3"], "double"),
        (["9" * 5000], "text"),
        (["2024-02-29", "1999-12-31"], "date"),
        (["2024-02-29", "2024-02-29 10:00:00"], "datetime"),
        (["2024-02-29T10:00:00.125"], "datetime(3)"),
        (["2024-13-01"], "varchar(16)"),
        (["true", "false"], "varchar(16)"),
        (["é" * 60], "varchar(128)"),
        (["x" * 1001], "text"),
        (["x" * 70_000], "mediumtext"),
        (["a\nb"], "varchar(16)"),
        (["1\n2"], "varchar(16)"),
        ([], "varchar(255)"),
    ],
)
def test_inferred_type_is_the_narrowest_that_stores_all_values(values, type_):
    assert tracker_of(*values).type == type_
    assert tracker_of(*values).fits(type_)


@pytest.mark.parametrize(
    ("value", "fits"),
    [("0.30000000000000004", True), ("1.23456789012345678", False), ("9" * 18, False), ("1e400", False),
     ("-1e-400", False), ("0e-400", True)],
)  # fmt: skip
def test_a_double_that_nobody_asked_for_changes_no_number(value, fits):
    assert tracker_of(value).fits("double") == fits
    assert tracker_of(value).fits("double", stated=True)


@pytest.mark.parametrize(
    "values",
    [["12.50", "3.00"], ["1", "2.5", "3.25"], ["1.0", "2.5", "3.25"], ["0.10", "-0.20"], ["1", "2"], ["1e-05", "2.5E7"],
     ["1.9", "2.0"], ["9" * 18], ["abc"], ["2024-01-01"], []],
    ids=str,
)  # fmt: skip
def test_numbers_whose_text_a_number_type_keeps_are_no_codes(values):
    assert tracker_of(*values).code == ""


@pytest.mark.parametrize(
    ("values", "why"),
    [
        (["1.9", "1.10", "2.0"], "1 to 2 decimals"),
        (["1", "1.50"], "0 to 2 decimals"),
        (["1", "2.0"], "0 to 1 decimals"),
        (["5678", "12e5"], "12e5"),
        (["1e3", "2.5E-7"], "1e3"),
        (["-0", "1"], "-0"),
        (["9" * 19, "1"], "18 digits"),
    ],
)
def test_numbers_whose_text_a_number_type_changes_may_be_codes(values, why):
    assert why in tracker_of(*values).code
    parts = TypeTracker()
    for value in reversed(values):
        parts.take([value], frozenset())
    assert why in parts.code


def test_later_values_widen_the_inferred_type():
    tracker = TypeTracker()
    for values, type_ in ((["1"], "tinyint"), (["300"], "int"), (["1.5"], "decimal(6,1)"), (["N/A"], "varchar(16)")):
        tracker.take(values, frozenset())
        assert tracker.type == type_


def test_date_after_numbers_makes_the_inferred_type_a_text():
    tracker = tracker_of("1")
    tracker.take(["2024-01-01"], frozenset())
    assert tracker.type == "varchar(16)"


def test_null_markers_do_not_affect_the_inferred_type():
    assert tracker_of("1", "", "NA", markers=("", "NA")).type == "tinyint"
    assert tracker_of("", markers=("",)).type == "varchar(255)"


@given(
    st.lists(
        st.one_of(
            st.integers().map(str),
            st.decimals(allow_nan=False, allow_infinity=False, places=3).map(str),
            st.dates().map(str),
            st.text(max_size=40),
        ),
        max_size=20,
    ),
    st.integers(1, 5),
)
def test_inferred_type_does_not_depend_on_how_the_values_are_batched(values, size):
    whole, parts = tracker_of(*values), TypeTracker()
    for at in range(0, len(values), size):
        parts.take(values[at : at + size], frozenset())
    assert parts.kind == whole.kind or {parts.kind, whole.kind} <= {"text", ""}
    assert parts.fits(whole.type)
    assert whole.fits(parts.type)


@pytest.mark.parametrize("type_", ["INT", "bigint  unsigned", "decimal(10, 2)", "varchar(64)", "datetime(6)", "JSON"])
def test_type_of_a_new_table_may_be_requested(type_):
    assert check_type(type_) == " ".join(type_.lower().split())


@pytest.mark.parametrize("type_", ["", "int)", "int; DROP TABLE t", "varchar", "int default 5", "enum('a')", "int -- "])
def test_requested_type_with_sql_in_it_is_refused(type_):
    with pytest.raises(Problem, match="not a column type"):
        check_type(type_)

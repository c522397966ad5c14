"""How sure the format of a column's values is, and what is asked."""

from collections.abc import Sequence

import pytest

from importer.engine.mapping.column_decisions import column_decisions
from importer.engine.mapping.suggest import suggest_mapping
from importer.engine.source.decisions import Decision, Standing
from importer.engine.source.profile.profile import profile_file
from importer.management.argument_types import field_mapping
from tests.engine.tables import table


def decide(source, type_: str, values: Sequence[str], delimiter: str = ";", *stated: int) -> Decision:
    """The decision about the column v with these values."""
    quote = '"' if delimiter == "," else ""
    lines = "".join(f"1{delimiter}{quote}{value}{quote}\n" for value in values)
    profile, target = profile_file(source(f"id{delimiter}v\n{lines}"), delimiter=delimiter), table(id="int", v=type_)
    return column_decisions(profile, target, suggest_mapping(profile, target), stated)[1]


GUESSES = [
    ("decimal(9,3)", ["1,234", "12"], ";", ["decimal-comma", "thousands-comma"], ["1,234 → 1.234", "1,234 → 1234"]),
    ("decimal(9,3)", ["1,234"], ",", ["thousands-comma", "decimal-comma"], ["1,234 → 1234", "1,234 → 1.234"]),
    ("decimal(9,3)", ["1,234"], "\t", ["decimal-comma", "thousands-comma"], ["1,234 → 1.234", "1,234 → 1234"]),
    ("double", ["-1,234"], ";", ["decimal-comma", "thousands-comma"], ["-1,234 → -1.234", "-1,234 → -1234"]),
    ("int", ["1,234", "999"], ";", ["thousands-comma", "decimal-comma"], ["1,234 → 1234", "1,234 → 1.234"]),
    ("int", ["1.234"], ";", ["thousands-dot", "plain"], ["1.234 → 1234", "1.234 → 1.234"]),
    (
        "date",
        ["01/02/2020", "03/03/2020"],
        ";",
        ["date=%d/%m/%Y", "date=%m/%d/%Y"],
        ["01/02/2020 → 2020-02-01", "01/02/2020 → 2020-01-02"],
    ),
    (
        "date",
        ["1-2-2020"],
        ",",
        ["date=%d-%m-%Y", "date=%m-%d-%Y"],
        ["1-2-2020 → 2020-02-01", "1-2-2020 → 2020-01-02"],
    ),
    (
        "datetime",
        ["1/2/2020 9:30 PM"],
        ",",
        ["date=%m/%d/%Y %h:%i %p", "date=%d/%m/%Y %h:%i %p"],
        ["1/2/2020 9:30 PM → 2020-01-02 21:30:00", "1/2/2020 9:30 PM → 2020-02-01 21:30:00"],
    ),
    ("bit(8)", ["101"], ";", ["number", "bits"], ["101 → 101", "101 → 5"]),
    ("decimal(9,3)", ["$1,234"], "\t", ["money-comma-$", "money-$"], ["$1,234 → 1.234", "$1,234 → 1234"]),
    ("date", [" 01/02/2020"], ";", ["trim,date=%d/%m/%Y", "trim,date=%m/%d/%Y"], None),
]


@pytest.mark.parametrize(("type_", "values", "delimiter", "words", "shown"), GUESSES, ids=str)
def test_values_that_two_readings_would_store_differently_are_asked_about(
    source, type_, values, delimiter, words, shown
):
    decision = decide(source, type_, values, delimiter)
    assert decision.standing is Standing.GUESSED
    assert [each.flag for each in decision.answers] == [f"--map 'v=v:{each}'" for each in words]
    assert shown is None or [each.shows[0] for each in decision.answers] == shown
    assert (decision.name, decision.field, decision.key) == ("format", "v", "format:v")


@pytest.mark.parametrize(("type_", "values", "delimiter", "words", "shown"), GUESSES, ids=str)
def test_each_flag_states_what_its_answer_states(source, type_, values, delimiter, words, shown):
    for answer in decide(source, type_, values, delimiter).answers:
        override = field_mapping(answer.flag.removeprefix("--map '").removesuffix("'"))
        states = dict(answer.states)
        assert (override.transforms or ()) == states["transforms"]
        assert (override.datetime_format or "") == states["datetime_format"]


@pytest.mark.parametrize(
    ("type_", "values"),
    [
        ("decimal(9,3)", ["1,234", "1,234,567"]),
        ("decimal(9,3)", ["1,234", "1,5"]),
        ("decimal(9,3)", ["1,234", "0,125"]),
        ("decimal(9,3)", ["1.234,5", "1,234"]),
        ("int", ["1,234", "1,234,567"]),
        ("int", ["1.234", "1.234.567"]),
        ("date", ["01/02/2020", "13/02/2020"]),
        ("date", ["01/02/2020", "02/13/2020"]),
        ("date", ["31.12.2020"]),
        ("date", ["05/05/2020", "06/06/2020"]),
        ("bit(8)", ["1", "0"]),
        ("tinyint", ["yes", "no"]),
        ("varbinary(9)", ["0xFF"]),
    ],
)
def test_one_value_that_only_one_reading_fits_proves_it(source, type_, values):
    decision = decide(source, type_, values)
    assert (decision.standing, decision.answers) == (Standing.PROVED, ())


@pytest.mark.parametrize(
    ("type_", "values", "evidence"),
    [
        ("decimal(9,3)", ["1.234", "12"], "read by the server as they are."),
        ("int", ["1", "2"], "as they are."),
        ("int", ["1.5"], "as they are."),
        ("double", ["1", "NA"], "as they are. NA is NULL."),
        ("date", ["2020-01-02", ""], "as they are. an empty text is NULL."),
        ("varchar(9)", ["1,234", "01/02/2020"], "stored as they are."),
        ("date", ["yesterday"], "as they are."),
    ],
)
def test_values_that_need_no_reading_are_a_rule(source, type_, values, evidence):
    decision = decide(source, type_, values)
    assert decision.standing is Standing.RULE
    assert decision.evidence.endswith(evidence)


def test_stated_format_is_not_asked_about(source):
    assert decide(source, "decimal(9,3)", ["1,234"], ";", 1).standing is Standing.STATED


def test_one_value_in_many_decides_against_a_few_that_fit_neither(source):
    values = ["01/02/2020"] * 50 + ["soon"]
    assert decide(source, "date", values).standing is Standing.GUESSED
    assert decide(source, "date", [*values, "13/02/2020"]).standing is Standing.PROVED


def beside(source, type_: str, price: str, points: Sequence[str], **kwargs) -> Decision:
    """The decision about the column v with values that have points, beside prices."""
    profile = profile_file(source("p;v\n" + "".join(f"{price};{each}\n" for each in points)), delimiter=";")
    target = table(p="decimal(10,2)", v=type_)
    return column_decisions(profile, target, suggest_mapping(profile, target), **kwargs)[1]


@pytest.mark.parametrize("type_", ["decimal(12,3)", "double"])
@pytest.mark.parametrize("price", ["12,50", "1.234,50", "12,50 €", "1 234,5", "12,5 %"])
def test_a_point_before_three_digits_is_asked_about_beside_decimal_commas(source, type_, price):
    decision = beside(source, type_, price, ["1.234", "2.500", "7"])
    assert decision.standing is Standing.GUESSED
    assert [each.flag for each in decision.answers] == ["--map 'v=v:plain'", "--map 'v=v:thousands-dot'"]
    assert [each.shows[0] for each in decision.answers] == ["1.234 → 1.234", "1.234 → 1234"]
    assert decision.evidence.endswith("other fields have a decimal comma.")


@pytest.mark.parametrize(
    ("type_", "price", "points"),
    [
        ("decimal(12,3)", "12.50", ["1.234"]),
        ("decimal(12,3)", "12,50", ["1.234", "1.5"]),
        ("decimal(12,3)", "12,50", ["1.234", "0.125"]),
        ("decimal(12,3)", "12,50", ["1234"]),
        ("varchar(9)", "12,50", ["1.234"]),
    ],
)
def test_a_point_that_is_proved_beside_decimal_commas_is_not_asked_about(source, type_, price, points):
    assert beside(source, type_, price, points).standing is Standing.RULE


def test_a_point_in_a_new_column_or_of_a_stated_format_is_not_asked_about(source):
    assert beside(source, "decimal(12,3)", "12,50", ["1.234"], is_new=True).standing is Standing.RULE
    assert beside(source, "decimal(12,3)", "12,50", ["1.234"], stated={1}).standing is Standing.STATED

"""Transforms and date formats that are suggested from a file's sample, and the notes about them."""

import pytest

from importer.engine.errors import Problem
from importer.engine.mapping.columns import ColumnMapping, FieldOverride
from importer.engine.mapping.suggest import suggest_mapping
from importer.engine.mapping.warnings import mapping_notes
from importer.engine.source.profile.profile import profile_file
from tests.engine.tables import table


@pytest.mark.parametrize(
    ("type_", "values", "transforms"),
    [
        ("decimal(9,2)", ["1,5", "12", "-0,25"], ("decimal-comma",)),
        ("decimal(9,2)", ["1.234,5", "12"], ("thousands-dot",)),
        ("decimal(9,2)", ["1,234.5", "12"], ("thousands-comma",)),
        ("decimal(9,2)", ["1 234,5"], ("thousands-space",)),
        ("decimal(9,2)", ["1\u00a0234,5 "], ("trim", "thousands-space")),
        ("double", ["1'234.5"], ("thousands-apostrophe",)),
        ("int", ["1.234", "12"], ("thousands-dot",)),
        ("int", ["1,234", "12"], ("thousands-comma",)),
        ("decimal(9,3)", ["0,125"], ("decimal-comma",)),
        ("decimal(9,3)", ["1,234", "1,234,567"], ("thousands-comma",)),
        ("int", ["12", "-3", ""], ()),
        ("int", [" 12", "3"], ("trim",)),
        ("int", ["1.5"], ()),
        ("int", ["1,2,3"], ()),
        ("double", ["1.5", "1e3"], ()),
        ("decimal(9,2)", ["$74.69", "$1,029.81", "-$5.5", "NA"], ("money-$",)),
        ("decimal(9,2)", ["74,69 €", "1.029,81 €"], ("money-comma-€",)),
        ("int", ["USD 74", "USD 1,029,000"], ("money-USD",)),
        ("decimal(9,2)", ["$74.69", "29.81 €"], ()),
        ("decimal(9,2)", ["$74.69", "A$29.81"], ()),
        ("decimal(9,2)", ["$74.69", "29.81"], ()),
        ("decimal(9,2)", ["$74.69", "$"], ()),
        ("decimal(9,2)", ["(5)", "7.25"], ("money",)),
        ("varchar(9)", ["$74.69", "$29.81"], ()),
        ("tinyint", ["yes", "No"], ("yes-no",)),
        ("tinyint", ["ja", "nein", "NA"], ("yes-no",)),
        ("tinyint", ["yes", "maybe"], ()),
        ("bit(1)", ["1", "0"], ("number",)),
        ("bit(1)", ["true", "false"], ("yes-no",)),
        ("bit(1)", ["\x01"], ()),
        ("enum('a','b')", ["a ", "b"], ("trim",)),
        ("varchar(9)", [" a ", "1,5"], ()),
        ("varbinary(9)", ["0xFF", "0x00"], ("hex",)),
        ("varbinary(9)", ["abcd"], ()),
    ],
)
def test_suggested_transforms_fit_the_sample(source, type_: str, values: list[str], transforms: tuple[str, ...]):
    path = source("id;v\n" + "".join(f"1;{value}\n" for value in values))
    mapping = suggest_mapping(profile_file(path), table(id="int", v=type_))
    assert mapping[1].transforms == transforms


@pytest.mark.parametrize("type_", ["bigint", "double", "varchar(20)"])
@pytest.mark.parametrize(
    ("value", "digits"),
    [("4.00638E+12", 13), ("-1E+11", 12), ("4.006381333931E+12", None), ("1.5E+9", None), ("6.02E+23", None)],
)
def test_a_number_that_a_spreadsheet_has_shortened_is_noted(source, type_: str, value: str, digits: int | None):
    profile, target = profile_file(source(f"id;v\n1;{value}\n")), table(id="int", v=type_)
    notes = mapping_notes(profile, target, suggest_mapping(profile, target))
    said = [f"v: {value} shows at most 6 of {digits} digits"] if digits else []
    assert [note.partition(". If")[0] for note in notes if "digits" in note] == said


def test_a_currency_that_the_column_does_not_keep_is_noted(source):
    profile, target = profile_file(source("id;v\n1;$7.50\n")), table(id="int", v="decimal(8,2)")
    (note,) = mapping_notes(profile, target, suggest_mapping(profile, target))
    assert note == "v: each value is in $; the column keeps the number. Another currency is a bad value."


def test_dates_with_blanks_around_them_are_trimmed(source):
    profile = profile_file(source("id,d\n1, 31.12.2024\n2,NA \n"))
    mapping = suggest_mapping(profile, table(id="int", d="date"), ["NA"])
    assert mapping[1] == ColumnMapping("d", ("NA",), "%d.%m.%Y", ("trim",))


class TestMismatches:
    def suggested(self, source, type_: str, usual: list[str], odd: list[str]):
        values = [usual[number % len(usual)] for number in range(200 - len(odd))] + odd
        profile = profile_file(source("id;v\n" + "".join(f"1;{value}\n" for value in values)))
        target = table(id="int", v=type_)
        (_, column) = mapping = suggest_mapping(profile, target)
        return column, mapping_notes(profile, target, mapping)

    @pytest.mark.parametrize(
        ("type_", "usual", "transforms", "datetime_format"),
        [
            ("decimal(8,2)", ["1,01", "2,02"], ("decimal-comma",), ""),
            ("decimal(8,2)", ["1.000,50", "2,02"], ("thousands-dot",), ""),
            ("tinyint(1)", ["yes", "no"], ("yes-no",), ""),
            ("date", ["31.12.2024", "1.2.2024"], (), "%d.%m.%Y"),
            ("decimal(8,2)", ["1.01", "2.02"], (), ""),
        ],
    )
    def test_few_mismatches_are_counted_but_do_not_prevent_a_suggestion(
        self, source, type_, usual, transforms, datetime_format
    ):
        column, (note,) = self.suggested(source, type_, usual, ["?", "?", "none yet"])
        assert (column.transforms, column.datetime_format) == (transforms, datetime_format)
        assert note.startswith(f"v: 3 of 200 values do not fit {type_}, such as '?': they will be bad rows")

    @pytest.mark.parametrize("type_", ["decimal(8,2)", "date", "tinyint(1)"])
    def test_too_many_mismatches_prevent_a_suggestion(self, source, type_):
        usual = {"date": "31.12.2024", "tinyint(1)": "yes"}.get(type_, "1,5")
        column, _ = self.suggested(source, type_, [usual], ["?"] * 11)
        assert (column.transforms, column.datetime_format) == ((), "")

    def test_numbers_that_need_no_transform_do_not_count_for_one(self, source):
        column, _ = self.suggested(source, "decimal(8,2)", ["12"], ["1,5", "2,5", "?"])
        assert column.transforms == ()

    def test_null_words_are_noted_and_are_no_mismatches(self, source):
        column, notes = self.suggested(source, "decimal(8,2)", ["1,01", "22,02"], ["n/a"])
        assert (column.null_markers, column.transforms) == (("", "n/a"), ("decimal-comma",))
        assert notes == ("n/a is read as NULL in v.",)


class TestMatch:
    def columns(self, path, match: str, **types: str) -> list[str]:
        return [each.column for each in suggest_mapping(profile_file(path), table(**types), match=match)]

    def test_match_by_position_ignores_the_names(self, source):
        path = source("b,a\n1,2\n")
        assert self.columns(path, "position", a="int", b="int") == ["a", "b"]
        assert self.columns(path, "name", a="int", b="int") == ["b", "a"]

    def test_match_by_position_ends_with_the_columns_or_the_fields(self, source):
        path = source("x,y,z\n1,2,3\n")
        assert self.columns(path, "position", id="int#", a="int") == ["id", "a", ""]
        assert self.columns(path, "position", a="int", b="int", g="int=", c="int", d="int") == ["a", "b", "c"]


class TestOverrides:
    def suggested(self, path, *overrides: FieldOverride, **types: str):
        return suggest_mapping(profile_file(path), table(**types), overrides=overrides)

    def test_overriding_column_is_taken_from_its_other_field(self, source):
        path = source("a,b,c\n1,2,3\n")
        mapping = self.suggested(path, FieldOverride("B", "a"), FieldOverride("#3", ""), a="int", b="int", c="int")
        assert [each.column for each in mapping] == ["", "a", ""]

    def test_other_settings_are_suggested_for_the_overriding_column(self, source):
        path = source("x;y\n1,5;31.12.2024\nNA;NA\n")
        mapping = self.suggested(path, FieldOverride("x", "n"), FieldOverride("y", "d"), n="decimal(5,2)", d="date")
        assert mapping[0] == ColumnMapping("n", ("", "NA"), "", ("decimal-comma",))
        assert mapping[1] == ColumnMapping("d", ("", "NA"), "%d.%m.%Y")

    def test_overrides_replace_suggestions(self, source):
        path = source("x;y\n1,5;31.12.2024\nNA;NA\n")
        overrides = (
            FieldOverride("x", "n", transforms=(), null_markers=()),
            FieldOverride("y", "d", transforms=("trim",), datetime_format="%m"),
        )
        mapping = self.suggested(path, *overrides, n="decimal(5,2)", d="date")
        assert mapping[0] == ColumnMapping("n")
        assert mapping[1] == ColumnMapping("d", ("", "NA"), "%m", ("trim",))

    @pytest.mark.parametrize(
        ("overrides", "message"),
        [
            ([FieldOverride("z", "n")], "has no field z"),
            ([FieldOverride("#3", "n")], "has no field #3"),
            ([FieldOverride("#0", "n")], "has no field #0"),
            ([FieldOverride("#00000000199", "n")], "has no field #00000000199"),
            ([FieldOverride("x", "q")], "no column q"),
            ([FieldOverride("x", "n"), FieldOverride("#1", "n")], "mapped twice"),
        ],
    )
    def test_override_of_an_unknown_field_or_column_is_refused(self, source, overrides, message):
        with pytest.raises(Problem, match=message):
            self.suggested(source("x,y\n1,2\n"), *overrides, n="int")

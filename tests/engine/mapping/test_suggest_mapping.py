"""Columns, NULL markers and date formats that are suggested from a file's sample, and the notes about them."""

import pytest

from importer.engine.errors import Problem
from importer.engine.mapping.column_decisions import column_decisions
from importer.engine.mapping.columns import ColumnMapping
from importer.engine.mapping.date_formats import MONTH_NAMES, MONTHS, check_format, stored_text
from importer.engine.mapping.suggest import suggest_mapping
from importer.engine.mapping.warnings import mapping_notes
from importer.engine.source.decisions import Standing
from importer.engine.source.dialect import MYSQL_TSV
from importer.engine.source.profile.profile import profile_file
from tests.engine.tables import table


class TestSuggestedColumns:
    def test_column_is_suggested_by_name_in_any_case(self, source):
        profile = profile_file(source("ID, Name ,other\n1,a,b\n"))
        columns = [each.column for each in suggest_mapping(profile, table(name="text", id="int"))]
        assert columns == ["id", "name", ""]

    @pytest.mark.parametrize(
        ("types", "columns"),
        [
            ({"a": "int", "b": "text"}, ["a", "b"]),
            ({"id": "int#", "a": "int", "b": "text", "c": "int="}, ["a", "b"]),
            ({"id": "int#", "b": "text"}, ["id", "b"]),
            ({"a": "int", "b": "text", "c": "text"}, ["", ""]),
        ],
    )
    def test_columns_are_suggested_by_position_without_a_header_if_the_numbers_agree(self, source, types, columns):
        profile = profile_file(source("1,a\n2,b\n"))
        assert [each.column for each in suggest_mapping(profile, table(**types))] == columns

    def test_mapping_without_any_column_is_noted(self, source):
        profile, target = profile_file(source("x,y\n1,2\n")), table(a="int")
        assert "choose the columns" in mapping_notes(profile, target, suggest_mapping(profile, target))[0]


class TestSuggestedNulls:
    def suggested(self, path, **types):
        return [each.null_markers for each in suggest_mapping(profile_file(path), table(**types))]

    def test_null_words_are_suggested_in_number_columns(self, source):
        path = source("a,b,c\n1,NA,x\n,2,y\n")
        assert self.suggested(path, a="int", b="double", c="int!") == [("", "NA"), ("", "NA"), ()]

    def test_null_word_stays_text_in_a_text_column_and_is_noted(self, source):
        path = source("n,t\n1,NA\nNA,x\n,y\n")
        assert self.suggested(path, n="int", t="varchar(9)") == [("", "NA"), ()]
        profile, target = profile_file(path), table(n="int", t="varchar(9)")
        assert mapping_notes(profile, target, suggest_mapping(profile, target)) == (
            "NA is read as NULL in n.",
            "t: NA stays text here; elsewhere it means NULL.",
        )

    def test_an_empty_text_means_null_beyond_the_sample_too(self, source):
        path = source("a,b,c,d,t\n1,2,3,2024-01-31,x\n")
        markers = self.suggested(path, a="int", b="double", c="int!", d="date", t="text")
        assert markers == [("",), ("",), (), ("",), ()]

    def test_null_of_the_dialect_needs_no_null_word(self, source):
        profile, target = profile_file(source("1\t\\N\n\\N\tx\n"), MYSQL_TSV), table(n="int", t="varchar(9)")
        mapping = suggest_mapping(profile, target)
        assert [each.null_markers for each in mapping] == [("",), ()]
        assert mapping_notes(profile, target, mapping) == ()

    def test_null_words_in_text_columns_alone_are_not_suggested(self, source):
        assert self.suggested(source("id,t\n1,NA\n2,\n"), id="int", t="text") == [("",), ()]

    def test_given_null_markers_apply_to_all_nullable_columns(self, source):
        path = source("a,b,c\n1,NA,x\n")
        mapping = suggest_mapping(profile_file(path), table(a="int", b="int", c="text!"), ["?", "?"])
        assert [each.null_markers for each in mapping] == [("?",), ("?",), ()]


class TestDates:
    @pytest.mark.parametrize(
        ("values", "datetime_format"),
        [
            (["2013-01-01 10:00:00", "2013-01-01T10:00:00", "2013-01-01"], ""),
            (["2013-01-01T10:00:00Z"], "%Y-%m-%dT%H:%i:%s%z"),
            (["2013-01-01T10:00:00.5Z"], "%Y-%m-%dT%H:%i:%s.%f%z"),
            (["2013-01-01 10:00Z"], "%Y-%m-%d %H:%i%z"),
            (["13/01/2020", "01/02/2020"], "%d/%m/%Y"),
            (["01/13/2020", "01/02/2020"], "%m/%d/%Y"),
            (["01.02.2020 09:30"], "%d.%m.%Y %H:%i"),
            (["1/13/2020 9:30 PM"], "%m/%d/%Y %h:%i %p"),
            (["2020/01/31"], "%Y/%m/%d"),
            (["5 Mai 2024", "1 juin 2024"], "%d %B %Y"),
            (["5 May 2024"], "%d %b %Y"),
            (["5 May 2024", "6 Oktober 2024"], "%d %B %Y"),
            (["5. Jan. 2024 10:11"], "%d. %B %Y %H:%i"),
        ],
    )
    def test_date_format_of_all_values_is_suggested(self, source, values, datetime_format):
        path = source("id,d\n" + "".join(f"1,{value}\n" for value in [*values, "NA"]))
        profile, target = profile_file(path), table(id="int", d="datetime")
        mapping = suggest_mapping(profile, target)
        assert mapping[1] == ColumnMapping("d", ("", "NA"), datetime_format)
        assert mapping_notes(profile, target, mapping) == ("NA is read as NULL in d.",)

    def test_no_name_is_that_of_two_months(self):
        names = [name for each in MONTH_NAMES for name in each.split()]
        assert len(set(names)) == len(names) == len(MONTHS)
        for month, each in enumerate(MONTH_NAMES, start=1):
            for name in each.split():
                for written in (name, name.upper(), f"{name.capitalize()}."):
                    assert stored_text("%d %B %Y", f"5 {written} 2024") == f"2024-{month:02}-05"
        assert stored_text("%d %B %Y", "5 augu\u017ft 2024") == "2024-08-05"

    def test_a_month_in_words_with_a_year_of_two_digits_is_asked_about(self, source):
        profile, target = profile_file(source("id;d\n1;5-okt-24\n")), table(id="int", d="date")
        decision = column_decisions(profile, target, suggest_mapping(profile, target))[1]
        assert (decision.standing, decision.value) == (Standing.GUESSED, "%d-%B-%y")

    @pytest.mark.parametrize("text", ["%d. %B. %Y", "%B %B %Y", "%d %B %Y %H:%i%z"])
    def test_a_format_that_the_server_could_not_read_is_refused(self, text: str):
        with pytest.raises(Problem, match="%B"):
            check_format(text)

    @pytest.mark.parametrize(
        "values", [["13/01/2020", "01/13/2020"], ["2013-01-01T10:00:00+01:00"], ["yesterday"]], ids=str
    )
    def test_dates_that_fit_no_format_are_noted(self, source, values):
        path = source("id,d\n" + "".join(f"1,{value}\n" for value in values))
        profile, target = profile_file(path), table(id="int", d="date!")
        mapping = suggest_mapping(profile, target)
        assert mapping[1].datetime_format == ""
        assert f"not fit date, such as {values[0]!r}" in mapping_notes(profile, target, mapping)[0]

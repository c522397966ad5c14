"""Sniffing of line ends, lines before the table and trailing delimiters, and notes on the certainty."""

import re
from pathlib import Path

import pytest

from importer.engine.source.decisions import PROVING_RECORDS, Standing
from importer.engine.source.profile.expected_columns import ExpectedColumn
from importer.engine.source.profile.profile import profile_file
from importer.engine.source.profile.readings import BOUNDS, FROM, MEASURES
from importer.engine.source.profile.sniff import sniff

TABLE = "".join(f"{n},name {n},2024-01-31\n" for n in range(1000))


def sniffed(text: str):
    result = sniff(text.encode(), final=True)
    return result.dialect, tuple(each.evidence for each in result.decisions)


class TestLineEnds:
    @pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
    def test_one_kind_of_line_end_is_detected(self, end):
        assert sniffed(("id,name,day\n" + TABLE).replace("\n", end))[0].line_end == end

    @pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
    @pytest.mark.parametrize("inside", ["\n", "\r\n", "\r", "\n\r"])
    def test_other_line_ends_inside_quotes_do_not_count(self, end, inside):
        text = 'id,name\n1,"a|b"\n2,"c|d"\n'.replace("\n", end).replace("|", inside)
        assert sniffed(text)[0].line_end == end

    @pytest.mark.parametrize("ends", [("\n", "\r\n"), ("\r", "\n"), ("\r\n", "\r"), ("\r", "\n", "\r\n")])
    def test_several_kinds_of_line_ends_mean_any(self, ends):
        lines = TABLE.splitlines()
        text = "".join(line + ends[number % len(ends)] for number, line in enumerate(lines))
        dialect, notes = sniffed("id,name,day\n" + text)
        assert dialect.line_end == "any"
        assert "Lines end in more than one way (LF, CR LF or CR): each of them ends a record." in notes

    def test_a_cr_in_a_value_is_no_line_end(self):
        assert sniffed("id,name\n1,a\rb\n2,c\n")[0].line_end == "\n"

    def test_a_sample_that_ends_between_cr_and_lf(self):
        text = ("id,name,day\n" + TABLE).replace("\n", "\r\n").encode()
        assert sniff(text[:-1], final=False).dialect.line_end == "\r\n"


class TestMarksInOtherPlaces:
    ROW = """28/01/2018,{n},https://example.com/{n},'{text}'\n"""

    def test_dates_and_addresses_do_not_make_a_delimiter_of_their_slashes(self):
        """Commas in single quotes: by commas alone no two rows would have one number of fields."""
        texts = ("quick, light", "light", "a, b, and c", 'the "best" one', "x, y")
        rows = "".join(self.ROW.format(n=number, text=text) for number, text in enumerate(texts))
        dialect, _ = sniffed("day,number,url,note\n" + rows)
        assert (dialect.delimiter, dialect.quote, dialect.header) == (",", "'", True)

    @pytest.mark.parametrize("second", ["a,b,c\n", "a,b,c,d,e\n"])
    def test_a_second_table_of_another_width_changes_no_delimiter(self, second):
        first = "day,url,number,note\n" + "28/01/2018,https://example.com/1,2,good\n" * 40
        below = second + second.replace("a", "28/01/2018").replace("b", "https://example.com/1") * 39
        dialect, _ = sniffed(first + below)
        assert (dialect.delimiter, dialect.skip_rows, dialect.header) == (",", 0, True)

    def test_a_stated_double_quote_is_kept(self):
        text = "id,name\n" + "1,'a, b'\n2,'c'\n" * 5
        assert sniff(text.encode(), final=True).dialect.quote == "'"
        assert sniff(text.encode(), final=True, known={"quote": '"'}).dialect.quote == '"'


class TestLinesBeforeTheTable:
    @pytest.mark.parametrize(
        "before", ["Report of May\n", "Report of May\nmade by us, in 2024\n"[:14], "Report\n\nall branches\n\n"]
    )
    def test_lines_before_the_table_are_skipped(self, before):
        dialect, notes = sniffed(before + "id,name,day\n" + TABLE)
        assert dialect.skip_rows == before.count("\n")
        assert dialect.header
        assert any("no part of the table" in note for note in notes)

    @pytest.mark.parametrize("text", ["id,name,day\n" + TABLE, TABLE, "a\nb\nc\n", "one line\n"])
    def test_a_header_or_data_is_not_skipped(self, text):
        assert sniffed(text)[0].skip_rows == 0

    def test_bad_rows_at_the_top_are_not_skipped_where_others_are_bad_below(self):
        assert sniffed("1\n" + "1,a,b\n2,c\n" * 50)[0].skip_rows == 0


class TestEscapes:
    EXPORTED = "".join(rf'"{n}","{n}\" disk, \\ or \"not\"",\N' + "\n" for n in range(9))

    @pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
    def test_quotes_after_backslashes_that_belong_nowhere_else(self, delimiter):
        dialect, notes = sniffed(self.EXPORTED.replace(",", delimiter))
        assert (dialect.delimiter, dialect.quote, dialect.escape) == (delimiter, '"', "\\")
        assert any("A backslash escapes" in note for note in notes)

    def test_escapes_in_the_middle_of_the_sample_are_detected(self):
        dialect, _ = sniffed('"1","a",\\N\n' * 50 + '"2","say \\"no\\"","x"\n' + '"1","a","b"\n' * 50)
        assert dialect.escape

    @pytest.mark.parametrize(
        "text",
        [
            '"id","folder"\n1,"C:\\new\\"\n2,"D:\\"\n',
            'id,size\n1,5\\" disk\n2,"C:\\"\n',
            '"1","a ""b\\"" c"\n"2","d"\n',
            '"1","a\\"b"\n"2","c"d"\n"3","e"\n',
        ],
    )
    def test_a_backslash_before_a_quote_that_closes_is_one(self, text):
        assert not sniffed(text)[0].escape

    @pytest.mark.parametrize(
        ("values", "escape"),
        [
            (r'"5\" disk","C:\new"', "quote"),
            (r'"5\" disk","\\server\new"', "quote"),
            (r'"5\" disk","\d+"', "quote"),
            (r'C:\new\,"5\" disk"', "quote"),
            (r'"5\" disk","C:\\new"', "\\"),
            (r'"5\" disk",\N', "\\"),
            (r'"{""a"":""5\" disk""}","C:\new"', "php"),
            (r'"{""a"":""5\" disk\n""}",""', "php"),
            (r'"5\" disk",""', "\\"),
        ],
    )
    def test_what_is_escaped_is_proved(self, values: str, escape: str):
        result = sniff(f"a,b\n{values}\n".encode(), final=True)
        assert result.dialect.escape == escape
        assert not any(each.guessed for each in result.decisions if each.name == "escape")

    @pytest.mark.parametrize("values", [r'"5\" disk","one\ntwo"', r'"5\" disk",a\b'])
    def test_it_is_asked_whether_other_backslashes_are_plain(self, values: str):
        result = sniff(f"a,b\n{values}\n".encode(), final=True)
        (guess,) = (each for each in result.decisions if each.guessed and each.name == "escape")
        assert [each.flag for each in guess.answers] == ["--escape quote", "--escape '\\'"]
        assert [each.states for each in guess.answers] == [(("escape", "quote"),), (("escape", "\\"),)]


class TestTrailingDelimiter:
    @pytest.mark.parametrize("header", ["id;name;\n", ""])
    def test_a_trailing_delimiter_is_detected(self, header):
        dialect, notes = sniffed(header + "".join(f"{n};x;\n" for n in range(20)))
        assert dialect.trailing_delimiter
        assert "Each record ends in one more delimiter, which is not taken for a field." in notes

    @pytest.mark.parametrize("text", ["id;name;\n1;a;\n2;b;c\n", "id;name;note\n1;a;x\n", "a;\nb;\n"])
    def test_a_last_field_that_is_empty_only_sometimes_is_a_field(self, text):
        assert not sniffed(text)[0].trailing_delimiter

    def test_a_named_last_column_is_a_field_even_if_it_is_always_empty(self):
        assert not sniffed("id;name;note\n1;a;\n2;b;\n")[0].trailing_delimiter


class TestHowSure:
    def test_records_that_do_not_fit_are_counted(self):
        notes = sniffed("id,name,day\n" + TABLE.replace("name 7,", "name, 7,", 1).replace("name 9,", "name, 9,", 1))[1]
        assert "Delimiter: comma; 998 of 1,000 sample records have 3 fields." in notes

    def test_records_that_all_fit_are_counted(self):
        assert "Delimiter: semicolon; all 3 sample records have 2 fields." in sniffed("a;b\n1;2\n3;4\n")[1]

    def test_a_space_before_a_quote_is_worth_a_word(self):
        notes = sniffed('id,name\n1, "a"\n2, "b"\n')[1]
        assert "' \"a\"': the space before the quote makes both part of the value." in notes


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "utf-16"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("delimiter", ["::", "\x01", "~", "¦"])
def test_a_delimiter_that_is_asked_for_tells_where_quotes_stand(source, delimiter: str, line_end: str, encoding: str):
    """Line ends inside quotes are not the file's line ends, after every kind of delimiter."""
    rows = (("1", "a\nb", "c"), ("2", "d\r\ne", "f"))
    lines = [delimiter.join(('"id"', '"t"', '"u"'))]
    lines += [delimiter.join(f'"{value}"' for value in row) for row in rows]
    path = source("".join(f"{line}{line_end}" for line in lines).encode(encoding))
    profile = profile_file(path, delimiter=delimiter, encoding=encoding)
    assert (profile.header, profile.rows, profile.dialect.line_end) == (("id", "t", "u"), rows, line_end)


LONELY = ['"half', '"Heroes" of']


class TestQuotesThatNeverClose:
    def quote(self, *lines: str, final: bool = True) -> str:
        return sniff(("id\tnote\tn\n" + "".join(f"{line}\n" for line in lines)).encode(), final=final).dialect.quote

    @pytest.mark.parametrize("value", LONELY)
    @pytest.mark.parametrize("before", [0, 1, 50])
    @pytest.mark.parametrize("after", [0, 1, 50])
    def test_a_lone_quote_is_a_character_where_tabs_divide(self, value: str, before: int, after: int):
        around = [f"{number}\tplain\t1" for number in range(50)]
        assert self.quote(*around[:before], f"7\t{value}\t8", *around[:after], "8\tlast\t9") == ""

    def test_a_quote_that_closes_in_a_record_of_another_width_is_none(self):
        lines = ['1\t"half\t1', "2\tplain\t2", '3"\t4\t3', "5\ta\t1"]
        assert self.quote(*lines) == ""

    def test_a_quote_that_closes_where_each_line_is_a_record_as_well_is_asked_about(self):
        text = 'id\tnote\n1\t"half\n2\tplain\n3\tthe end"\n4\tx\n'
        (decision,) = (each for each in sniff(text.encode(), final=True).decisions if each.name == "quote")
        assert decision.standing is Standing.GUESSED
        assert [(each.flag, each.shows) for each in decision.answers] == [
            ("--quote '\"'", ("half\n2\tplain\n3\tthe end",)),
            ("--quote ''", ('"half',)),
        ]

    def test_a_value_in_quotes_with_lines_of_its_own_is_one(self):
        assert self.quote('1\t"a\nb\tc"\t2', "2\td\t3", "3\te\t4") == '"'

    @pytest.mark.parametrize("rest", ['3\t"cut', '3\t"cut\nin\tits\tlines\nand', '3\t"cut\nhere and'])
    def test_a_record_that_the_sample_cuts_is_no_sign(self, rest: str):
        assert self.quote(*(f'{number}\t"a"\t1' for number in range(9)), rest, final=False) == '"'
        assert self.quote(*(f"{number}\ta\t1" for number in range(9)), rest, final=False) == '"'

    def test_a_cut_value_of_several_lines_is_not_asked_about(self):
        result = sniff(b'id\tnote\n1\ta\n2\tb\n3\tc\n4\t"cut\nhe', final=False)
        assert not any(each.guessed for each in result.decisions if each.name == "quote")
        assert result.dialect.quote == '"'

    def test_an_unclosed_quote_between_commas_is_an_error(self):
        text = 'id,note\n1,a\n2,"half\n3,plain\n'
        assert sniff(text.encode(), final=True).dialect.quote == '"'


def test_an_odd_header_of_several_lines_is_left_out_as_a_whole():
    text = b'"na\nme",city\r\n1,Anna,Oslo\r\n2,Bo,Rome\r\n'
    columns = (ExpectedColumn("id", str.isdigit), ExpectedColumn("n"), ExpectedColumn("c"))
    result = sniff(text, final=True, expected=columns)
    assert (result.dialect.header, result.dialect.skip_rows) == (False, 2)
    assert [each.text for each in result.skipped] == ['"na', 'me",city']


class TestWeight:
    @staticmethod
    def header(texts: int):
        text = "name,city\n" + "".join(f"{chr(65 + number)}nn,Oslo{'x' * number}\n" for number in range(texts))
        [decision] = [each for each in sniff(text.encode(), final=True).decisions if each.name == "header"]
        return decision

    def test_what_texts_suggest_is_proved_by_as_many_records_as_are_declared(self):
        few, enough = self.header(PROVING_RECORDS - 1), self.header(PROVING_RECORDS)
        assert (few.standing, few.records, few.of) == (Standing.GUESSED, PROVING_RECORDS - 1, PROVING_RECORDS - 1)
        assert [answer.flag for answer in few.answers] == ["--header", "--no-header"]
        assert (enough.standing, enough.records, enough.answers) == (Standing.PROVED, PROVING_RECORDS, ())

    def test_a_decision_has_the_records_that_speak_for_it_and_those_that_could_have_spoken(self):
        [delimiter] = [each for each in sniff(b"a,b\n1,2\n3\n5,6\n", final=True).decisions if each.name == "delimiter"]
        assert (delimiter.records, delimiter.of) == (3, 4)


def test_quotes_around_an_empty_value_that_is_alone_are_needed():
    text = b'a;b\r\nplain\r\n""\r\n1,234\r\nC:\\new\\table\r\n'
    result = sniff(text, final=True, expected=[ExpectedColumn("a;b")])
    assert not any(each.guessed for each in result.decisions)


def test_the_documented_measures_are_those_that_are_declared():
    text = (Path(__file__).parents[4] / "docs/reading.md").read_text()
    table = text.split("| compared for |")[1].split("\n\n")[0]
    rows = re.findall(r"^\| ([a-z, ]+) \| .* \| ([a-z, ]+) \|$", table, re.MULTILINE)
    assert [name for name, _ in rows] == list(MEASURES)
    for mark, first in FROM.items():
        assert [name for name, marks in rows if mark in marks] == list(MEASURES)[list(MEASURES).index(first) :]


def test_the_documented_bounds_are_those_that_are_declared():
    text = (Path(__file__).parents[4] / "docs/reading.md").read_text()
    rows = re.findall(r"^\| ([a-z ]+) \| (0\.[0-9]+) \|", text, re.MULTILINE)
    assert {name: float(share) for name, share in rows} == BOUNDS

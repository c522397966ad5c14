"""Dialects: the marks that LOAD DATA supports, and its clauses for them."""

import pytest

from importer.engine.errors import SourceProblem
from importer.engine.source.dialect import MYSQL_TSV, PRESETS, RFC4180, Dialect, escape_mark, unescape_mark
from importer.engine.stored import to_json


def literal(text: str) -> str:
    return f"<{text}>"


class TestWhatIsAllowed:
    @pytest.mark.parametrize(
        "values",
        [
            {"delimiter": ""},
            {"delimiter": ",,,,,,,,,,,"},
            {"delimiter": "\n"},
            {"delimiter": "|\r"},
            {"delimiter": "\r"},
            {"delimiter": "\0"},
            {"quote": '""'},
            {"quote": "\n"},
            {"quote": "„"},
            {"escape": "/"},
            {"line_end": ""},
            {"line_end": "\n\n"},
            {"skip_rows": -1},
            {"blank_lines": "drop"},
        ],
    )
    def test_a_mark_that_the_server_does_not_support_is_refused_by_name(self, values):
        [name] = values
        with pytest.raises(SourceProblem, match=f"The {name.replace('_', ' ')} ") as caught:
            Dialect(**values)
        assert caught.value.advice.startswith("It can be ")

    @pytest.mark.parametrize(
        "values",
        [{"delimiter": '"'}, {"delimiter": '|"'}, {"quote": "\\", "escape": "\\"}, {"delimiter": "\\", "escape": "\\"}],
    )
    def test_one_character_cannot_mean_two_things(self, values):
        with pytest.raises(SourceProblem, match="must differ"):
            Dialect(**values)

    def test_neither_quote_nor_escape_is_fine(self):
        assert Dialect(quote="", escape="").quote == ""


class TestClauses:
    def test_rfc_4180_escapes_nothing(self):
        assert RFC4180.fields_and_lines(literal) == (
            'FIELDS TERMINATED BY <,> OPTIONALLY ENCLOSED BY <"> ESCAPED BY <> LINES TERMINATED BY <\n>'
        )

    def test_without_a_quote_nothing_is_enclosed(self):
        assert MYSQL_TSV.fields_and_lines(literal) == (
            "FIELDS TERMINATED BY <\t> ESCAPED BY <\\> LINES TERMINATED BY <\n>"
        )

    def test_a_dialect_survives_json(self):
        assert Dialect(**to_json(MYSQL_TSV)) == MYSQL_TSV


class TestWriting:
    @pytest.mark.parametrize("mark", [",", "\t", "||", "\x01", "\x01\x02", "\\", "\\t", r"\x01", "é", " "])
    def test_a_mark_reads_back_as_it_was_written(self, mark):
        assert unescape_mark(escape_mark(mark)) == mark

    @pytest.mark.parametrize(
        ("text", "mark"), [(r"\t", "\t"), (r"\x1F", "\x1f"), ("\t", "\t"), ("\\", "\\"), (r"\d", r"\d")]
    )
    def test_control_characters_may_be_written(self, text, mark):
        assert unescape_mark(text) == mark


class TestWhatTheServerIsTold:
    def test_a_dialect_that_the_server_reads_is_sent_unchanged(self):
        for dialect in (*PRESETS.values(), Dialect(delimiter="||"), Dialect(line_end="\r", trailing_delimiter=True)):
            assert dialect.sent is dialect

    @pytest.mark.parametrize(
        ("dialect", "why"),
        [
            (Dialect(line_end="any"), "LF, CR LF or CR"),
            (Dialect(delimiter="§"), "not ASCII"),
            (Dialect(unquoted_empty_is_null=True), "NULL without quotes"),
            (Dialect(delimiter="||", trailing_delimiter=True), "two ways"),
        ],
    )
    def test_a_dialect_that_the_server_cannot_read_is_rewritten_for_a_reason(self, dialect, why):
        [reason] = dialect.rewriting
        assert why in reason
        assert not dialect.sent.rewriting
        assert (dialect.sent.line_end, dialect.sent.quote, dialect.sent.escape) == ("\n", '"', "")

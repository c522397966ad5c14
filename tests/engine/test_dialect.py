"""A dialect holds only what LOAD DATA can be told, and says it in LOAD DATA's words."""

import pytest

from importer.engine.dialect import MYSQL_TSV, RFC4180, Dialect
from importer.engine.errors import SourceProblem


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
    def test_what_the_server_cannot_be_told_is_refused_by_name(self, values):
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

    def test_json_and_back(self):
        assert Dialect(**MYSQL_TSV.as_json()) == MYSQL_TSV

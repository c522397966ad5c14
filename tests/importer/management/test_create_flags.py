"""The flags that the notes and questions of a new table name do what they say; and --add-column for one that exists."""

import re
import shlex
from pathlib import Path

import pytest
from django.core.management import load_command_class

from importer.engine.errors import Problem
from importer.engine.reading.questions import NeedsAnswer
from importer.management.build_import import prepare_from_options
from importer.models import Target
from importer.preparation.prepare import PreparedImport
from tests.engine.loads import run_sql
from tests.targets import saved_target


@pytest.fixture
def target(mariadb, db) -> Target:
    return saved_target(mariadb, "t")


def prepared(path: Path, *flags: str, mode: str = "create", table: str = "made") -> PreparedImport:
    arguments = [str(path), "--target", "t", "--table", table, "--mode", mode, *flags]
    parser = load_command_class("importer", "import_csv").create_parser("manage.py", "import_csv")
    return prepare_from_options(vars(parser.parse_args(arguments)))


def flags_in(text: str) -> list[list[str]]:
    """The flags of a note, each with its value; two that stand side by side, or with "and", belong together."""
    found = re.findall(r"(?:--[a-z-]+ (?:'[^']*'|\w+) ?)+", text.replace(" and --", " --"))
    return [shlex.split(each) for each in found]


def type_of(made: PreparedImport, column: str = "x") -> str:
    return {each.name: each.type for each in made.new_table.columns}[column]


@pytest.mark.parametrize(
    ("values", "types"),
    [
        (("1.9", "1.10"), ["decimal(5,2)"]),
        (("12e5", "5678"), ["double"]),
        (("-0", "1"), ["tinyint"]),
        (("1" * 20, "2"), ["bigint unsigned"]),
        (("ja", "nein"), ["tinyint"]),
        ([*map(str, range(9)), "n/k"], ["int", "int"]),
    ],
    ids=lambda each: str(each[0]),
)
def test_the_flags_of_a_note_give_the_other_type(target, tmp_path, values, types):
    path = tmp_path / "made.csv"
    path.write_text("n;x\n" + "".join(f"{number};{value}\n" for number, value in enumerate(values)))
    first = prepared(path)
    assert type_of(first).startswith("varchar")
    [note] = [note for note in first.new_table.notes if note.startswith("x: ")]
    assert [type_of(prepared(path, *flags)) for flags in flags_in(note)] == types


@pytest.mark.parametrize(
    ("values", "types"),
    [
        (("01/02/2024", "03/04/2024"), ["varchar(16)", "date", "date"]),
        (("1,234", "5,678"), ["varchar(16)", "decimal(6,3)", "int"]),
    ],
)
def test_the_flags_of_a_question_give_the_type_of_the_answer(target, tmp_path, values, types):
    path = tmp_path / "made.csv"
    path.write_text("n;x\n" + "".join(f"{number};{value}\n" for number, value in enumerate(values)))
    with pytest.raises(NeedsAnswer) as asked:
        prepared(path)
    [question] = asked.value.reading.guesses
    assert [type_of(prepared(path, *shlex.split(each.flag))) for each in question.answers] == types
    assert type_of(prepared(path, "--accept-guesses")) == "varchar(16)"


def notes_about_key(made: PreparedImport) -> list[str]:
    return [note for note in made.reading.notes if "primary key" in note]


def test_the_flag_of_the_proposed_key_makes_it(target, tmp_path):
    path = tmp_path / "made.csv"
    path.write_text("Order Id,b\n1,x\n2,y\n")
    [note] = notes_about_key(prepared(path))
    [flags] = flags_in(note)
    made = prepared(path, *flags)
    assert made.new_table.primary_key == ("Order Id",)
    assert not notes_about_key(made)


def test_each_answer_to_a_bad_value_is_taken(target, tmp_path):
    path = tmp_path / "made.csv"
    path.write_text("n;x\n" + "".join(f"{day};{day}.12.2024\n" for day in range(10, 31)) + "9;n/k\n")
    with pytest.raises(NeedsAnswer) as raised:
        prepared(path)
    [guess] = raised.value.reading.guesses
    answered = [prepared(path, *shlex.split(answer.flag)) for answer in guess.answers]
    assert [type_of(each) for each in answered] == ["date", "varchar(16)", "date"]
    assert [each.mapping[1].datetime_format for each in answered] == ["%d.%m.%Y", "", "%d.%m.%Y"]
    assert answered[2].mapping[1].null_markers == ("", "n/k")


class TestAddColumn:
    @pytest.fixture
    def people(self, target, mariadb, tmp_path) -> Path:
        run_sql(mariadb, "CREATE TABLE people (id INT PRIMARY KEY)")
        path = tmp_path / "people.csv"
        path.write_text("id,town\n1,Graz\n")
        return path

    def test_the_table_gets_it_first(self, people):
        with pytest.raises(NeedsAnswer):
            prepared(people, mode="append", table="people")
        made = prepared(people, "--add-column", "Town=VarChar(20)", mode="append", table="people")
        assert [(each.name, each.type) for each in made.plan.added_columns] == [("Town", "varchar(20)")]
        assert [each.column for each in made.mapping] == ["id", "Town"]
        # What is there already stays as it is.
        again = prepared(people, "--add-column", "id=text", "--map", "town=", mode="append", table="people")
        assert not again.plan.added_columns

    @pytest.mark.parametrize(
        ("flag", "mode", "said"),
        [
            ("town=varchr(20)", "append", "not a column type"),
            ("town=int", "create", "--type 'town=int'"),
            ("a b =int", "append", "name"),
        ],
    )
    def test_what_cannot_be_is_refused(self, people, flag, mode, said):
        with pytest.raises(Problem, match=re.escape(said)):
            prepared(people, "--add-column", flag, mode=mode, table="people" if mode == "append" else "made")

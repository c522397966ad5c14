"""The speed options of `millrace load`."""

from pathlib import Path

import pytest
from django.core.management import CommandError, call_command, load_command_class

from importer.engine.errors import Problem
from importer.engine.mysql.connection import connect, execute
from importer.engine.plan.option_specs import OPTIONS
from importer.engine.plan.options import Options
from importer.engine.reading.questions import NeedsAnswer
from importer.management.build_import import prepare_from_options
from importer.models import ImportJob, Target
from importer.preparation import presets
from importer.preparation.prepare import ImportRequest, PreparedImport, prepare
from importer.sources import uploads
from tests.targets import on_mariadb, saved_target

database = on_mariadb


@pytest.fixture
def target(database, db) -> Target:
    with connect(database) as connection:
        execute(connection, "CREATE TABLE people (id INT PRIMARY KEY, name VARCHAR(40))")
    return saved_target(database, "t")


@pytest.fixture
def people(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    path.write_text("id,name\n1,Ann\n2,Bo\n")
    return path


def prepared_by(*args: str) -> PreparedImport:
    parser = load_command_class("importer", "import_csv").create_parser("manage.py", "import_csv")
    return prepare_from_options(vars(parser.parse_args(args)))


def test_flags_replace_options_of_a_preset_and_keep_the_others(target: Target, people: Path):
    saved = Options(commit_rows=7, foreign_key_checks=False, session={"net_read_timeout": "60"})
    presets.save("p", prepare(uploads.register(people), target, "people", ImportRequest(options=saved)))
    args = ("--foreign-key-checks", "--session", "sort_buffer_size=1M")
    options = prepared_by(str(people), "--preset", "p", *args).options
    assert options.commit_rows == 7
    assert options.foreign_key_checks
    assert options.session == {"net_read_timeout": "60", "sort_buffer_size": "1M"}


def test_values_that_are_replaced_come_from_the_flag_and_stay_in_a_preset(target: Target, people: Path, capsys):
    args = ("--target", "t", "--table", "people", "--map", "name=name:trim,Ann>Anna,Bo>")
    prepared = prepared_by(str(people), *args)
    assert prepared.mapping[1].values == (("Ann", "Anna"), ("Bo", ""))
    assert prepared.reading.columns[1].format == "trim, Ann → Anna, Bo → (empty)"
    assert "name is read as trim both ends, Ann → Anna, Bo → (empty)" in capsys.readouterr().err
    presets.save("p", prepared)
    assert prepared_by(str(people), "--preset", "p").mapping == prepared.mapping


def test_a_file_that_differs_from_a_presets_own_is_asked_about(target: Target, people: Path):
    """A footer would be a row, and characters in UTF-8 would be two in another encoding."""
    people.write_bytes("id,name\n1,Zoë\n2,Bo\n".encode("cp1252"))
    presets.save("p", prepare(uploads.register(people), target, "people", ImportRequest(accept_guesses=True)))
    people.write_text("id,name\n1,Zoë\n2,Bo\nTotal\n")

    def taken(*args: str) -> tuple[str, int, str]:
        prepared = prepared_by(str(people), "--preset", "p", *args)
        return prepared.profile.dialect.encoding, prepared.profile.dialect.skip_footer, prepared.profile.rows[0][1]

    with pytest.raises(NeedsAnswer) as asked:
        taken()
    assert "--encoding utf-8" in str(asked.value)
    assert "--skip-footer 1" in str(asked.value)
    assert taken("--encoding", "utf-8", "--skip-footer", "1") == ("utf-8", 1, "Zoë")
    assert taken("--encoding", "cp1252", "--skip-footer", "0") == ("cp1252", 0, "ZoÃ«")
    assert taken("--accept-guesses") == ("utf-8", 1, "Zoë")
    with pytest.raises(Problem, match="--delimiter cannot be combined with --preset"):
        taken("--delimiter", ";")


def test_plan_only_shows_the_requested_options_and_what_they_give_up(target: Target, people: Path, capsys):
    call_command(
        "import_csv", str(people), "--target", "t", "--table", "people", "--no-foreign-key-checks", "--plan-only"
    )
    printed = capsys.readouterr().out
    assert "people.csv into" in printed
    assert "- foreign_key_checks is off: changes nothing here" in printed
    assert "Each chunk, in a transaction of its own:\nLOAD DATA" in printed
    assert not ImportJob.objects.exists()


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--session", "sql_mode=ANSI"), "sql_mode cannot be set for an import"),
        (("--session", "net_read_timeout=1"), "Give a number from 5"),
        (("--session", "net_read_timeout=7", "--session", "NET_READ_TIMEOUT=8"), "net_read_timeout twice"),
        (("--session", "net_read_timeout"), "not written as NAME=VALUE"),
        (("--commit-rows", "0"), "not a whole number from 1"),
        (("--parallel", "65"), "not a whole number from 1 to 64"),
        (("--method", "telepathy"), "invalid choice"),
        (("--lock-table", "--parallel", "2"), "Only one session can hold the table's lock"),
    ],
)
def test_an_impossible_option_is_refused_by_name(target: Target, people: Path, args: tuple[str, ...], message: str):
    with pytest.raises(CommandError, match=message):
        call_command("import_csv", str(people), "--target", "t", "--table", "people", *args, "--plan-only")


def test_the_help_shows_what_each_option_gives_up():
    parser = load_command_class("importer", "import_csv").create_parser("manage.py", "import_csv")
    shown = " ".join(parser.format_help().split())
    for setting in (each for each in OPTIONS if each.flag):
        assert setting.flag in shown
        assert setting.about in shown.replace("- ", "-")


def test_widths_come_before_the_columns_where_fields_touch(target: Target, tmp_path: Path):
    path = tmp_path / "people.fix"
    path.write_text("1Ann  \n2Bo   \n3Eve  \n")
    arguments = [str(path), "--target", "t", "--table", "people", "--no-header"]
    with pytest.raises(NeedsAnswer, match="if fields touch, give the characters of each") as asked:
        prepared_by(*arguments, "--format", "fixed")
    assert "widths" in [each.name for each in asked.value.reading.guesses]
    with pytest.raises(Problem, match="--delimiter; if they touch, state their --widths"):
        prepared_by(*arguments)
    assert prepared_by(*arguments, "--widths", "1,5").profile.rows[0] == ("1", "Ann")

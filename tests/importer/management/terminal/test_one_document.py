"""`--json` of every command: exactly one document that fits its schema, on every exit."""

import errno
import json
from typing import Any

import pytest
from django.core.management import CommandError, call_command, get_commands, load_command_class
from jsonschema import Draft202012Validator

from config.contracts.documents import DOCUMENTS, DONE, PROBLEM, REPORT
from importer.management.commands import group, retention, target
from importer.management.terminal.one_document import DEST, FLAG
from importer.management.verbs.verb import Context, Verb
from importer.models.outcomes.exit_codes import COMMANDS, exit_codes, exit_codes_text
from tests.documents import FOLDER, SCHEMAS, read
from tests.importer.management.test_every_option import COMMANDS as ALL_COMMANDS
from tests.importer.management.test_every_option import leaves, parser_of
from tests.importer.management.test_rules import NAMES
from tests.stack import ROOT

DOC = (ROOT / "docs" / "contracts.md").read_text()


def refused(capsys, *line: str) -> dict[str, Any]:
    """The document of a command line that is wrong usage."""
    with pytest.raises(SystemExit) as end:
        load_command_class(get_commands()[line[0]], line[0]).run_from_argv(["manage.py", *line])
    document = read(capsys.readouterr().out)
    assert (end.value.code, document["exit_code"], document["problem"]["code"]) == (2, 2, 1700)
    return document


def printed_by(capsys, *line: str) -> tuple[int, dict[str, Any]]:
    """The exit code of a command, and the one document that it prints."""
    code = 0
    try:
        call_command(*line)
    except SystemExit as end:
        code = int(str(end.code))
    except CommandError as error:
        code = error.returncode
    return code, read(capsys.readouterr().out)


def test_each_document_has_a_schema_and_each_schema_a_document():
    assert {schema["properties"]["schema"]["const"] for schema in SCHEMAS.values()} == set(DOCUMENTS)
    for name, schema in SCHEMAS.items():
        Draft202012Validator.check_schema(schema)
        assert schema["$id"] == f"urn:millrace:{name}:{schema['properties']['schema']['const'].rpartition('/')[2]}"
        assert f"schemas/{name}.json" in DOC
    assert {path.name for path in FOLDER.iterdir()} == {f"{name}.json" for name in SCHEMAS}


def test_the_schema_of_the_problem_refuses_what_is_none():
    broken = PROBLEM.of({"command": "target list", "exit_code": 1, "problem": {"code": 1}})
    assert not Draft202012Validator({**SCHEMAS["problem"]}).is_valid(broken)


def test_every_command_and_verb_takes_json():
    for command in ALL_COMMANDS:
        for words, actions in leaves(parser_of(command)):
            assert [each.option_strings for each in actions if each.dest == DEST] == [[FLAG]], (command, words)


@pytest.mark.parametrize("name", NAMES)
def test_wrong_usage_is_a_document(name: str, capsys):
    document = refused(capsys, *name.split(), FLAG, "--no-such-option")
    assert document["schema"] == (REPORT if name == "import_csv" else PROBLEM).schema


def test_a_wrong_value_is_named(capsys):
    document = refused(capsys, "import_csv", "x.csv", FLAG, "--chunk-size", "many")
    assert document["outcome"] == "wrong usage"
    assert "'many' is not a size" in document["problem"]["what"]
    assert "--help" in document["problem"]["advice"]


@pytest.mark.django_db
@pytest.mark.parametrize(
    "line",
    [
        ("target", "check", "nothing"),
        ("connection", "check", "nothing"),
        ("job", "run", "987654"),
        ("kept_table", "drop", "987654"),
        ("lab", "show", "987654"),
        ("schedule", "run", "nothing"),
        ("user", "show", "nothing"),
        ("backup", "check", "nothing"),
        ("channel", "remove", "nothing"),
        ("history", "--where", "no_such_fact", "=", "1"),
        ("import_csv", "no-such-file.csv", "--target", "nothing", "--table", "t"),
        ("target", "list", "--as", "nobody"),
    ],
    ids=lambda line: " ".join(line[:2]),
)
def test_what_fails_says_so_in_one_document(line, capsys):
    code, document = printed_by(capsys, *line, FLAG)
    assert code
    assert document["exit_code"] == code
    assert document["problem"]["what"]


@pytest.mark.django_db
def test_a_command_without_a_document_of_its_own_prints_what_it_has_done(capsys):
    code, document = printed_by(capsys, "group", "add", "shop", FLAG)
    assert (code, document["schema"], document["command"]) == (0, DONE.schema, "group add")
    assert "The group shop is added." in document["said"][0]
    assert printed_by(capsys, "group", "list", FLAG)[1]["groups"] == [{"name": "shop", "members": [], "grants": []}]


@pytest.mark.django_db
def test_an_unexpected_error_is_a_problem_with_advice(capsys, monkeypatch):
    def fail(*_args: object, **_options: object) -> None:
        raise ZeroDivisionError("by nothing")

    monkeypatch.setattr(retention.policies, "all_in_force", fail)
    with pytest.raises(ZeroDivisionError):  # With its traceback on standard error.
        call_command("retention", "show", FLAG)
    document = read(capsys.readouterr().out)
    assert (document["exit_code"], document["problem"]["code"]) == (1, 1000)
    assert "ZeroDivisionError: by nothing" in document["problem"]["what"]
    assert "traceback" in document["problem"]["advice"]


@pytest.mark.django_db
@pytest.mark.parametrize("words", [("list", FLAG), ("list",)], ids=["json", "text"])
def test_ctrl_c_ends_any_command_with_its_code(words, capsys, monkeypatch):
    def interrupt(*_args: object, **_options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setitem(target.Command.verbs, "list", Verb("", interrupt))
    with pytest.raises(CommandError, match="Ctrl-C ended the command") as caught:
        call_command("target", *words)
    assert caught.value.returncode == 8
    printed = capsys.readouterr().out
    assert read(printed)["problem"]["code"] == 1500 if FLAG in words else printed == ""


@pytest.mark.django_db
def test_an_unexpected_error_after_the_beginning_leaves_nothing_else_on_standard_output(capsys, monkeypatch):
    """What was said before is no part of the document of the problem."""

    def fail(context: Context) -> None:
        context.output.say("half of a table")
        raise OSError("the disk is full")

    monkeypatch.setitem(group.Command.verbs, "list", Verb("", fail))
    with pytest.raises(OSError, match="full"):
        call_command("group", "list", FLAG)
    assert "half" not in json.dumps(read(capsys.readouterr().out))


@pytest.mark.django_db
def test_a_full_disk_is_named_with_its_room_by_any_command(capsys, monkeypatch):
    def fail(_context: Context) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "/dev/full")

    monkeypatch.setitem(group.Command.verbs, "list", Verb("", fail))
    figures = r"The file system /\S* has [\d,]+ bytes free, [\d,]+ to be kept free"
    with pytest.raises(CommandError, match=figures) as caught:
        call_command("group", "list", FLAG)
    assert caught.value.returncode == 1
    assert "No space left on device" in read(capsys.readouterr().out)["problem"]["what"]


def test_the_table_of_exit_codes_is_that_of_the_contract():
    for code, meaning in exit_codes():
        words, _, rest = meaning.partition(": ")
        assert (f"| {words}: {rest}" in DOC) or (f"| {meaning} | {code} |" in DOC), meaning
        assert f"  {code:>2}  {meaning}" in exit_codes_text()
    assert set(COMMANDS) == {1, 2, 10, 141}

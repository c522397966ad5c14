"""Crawls every command and verb with `--as`, as people without the grant: nothing is shown, and nothing changes."""

import argparse
import json
from collections.abc import Callable, Iterator
from io import StringIO
from itertools import chain, groupby, product
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from django.apps import apps
from django.contrib.auth.models import Group, User
from django.core.management import CommandError, call_command, get_commands, load_command_class
from django.db import connection

from importer.access import people
from importer.access.policy import VIEWER_REASON
from importer.management.base_command import AS, CheckedCommand
from importer.management.rules import RULES, rule_of
from importer.models import AuditEvent, ImportJob, Lab, Level, LimitCount, Role, SourceFile, Target
from tests.dashboard import test_rules
from tests.importer.management.test_every_option import COMMANDS, is_ours, leaves, parser_of, value_for
from tests.people import admin, operator, stranger, viewer

SECRET = test_rules.SECRET
NOTHING = "nothing"  # the name of no thing
things = test_rules.things
Line = list[str]


def actions_of(name: str) -> list[argparse.Action]:
    """The arguments that the command or verb takes, without those of Django and `--as`."""
    command, *verb = name.split()
    found = next(actions for words, actions in leaves(parser_of(command)) if list(words) == verb)
    return [each for each in found if is_ours(each)]


# Every command, with each of its verbs.
NAMES = sorted(" ".join((command, *words)) for command in COMMANDS for words, _ in leaves(parser_of(command)))
# To make the things and to compare all tables takes longer than most verbs.
VERBS = [list(verbs) for _, verbs in groupby(NAMES, lambda name: name.split()[0])]
each_command = pytest.mark.parametrize("verbs", VERBS, ids=[verbs[0].split()[0] for verbs in VERBS])


def values(things: dict[type, Any], path: str, *, exist: bool) -> dict[str, str]:
    """The values of arguments that name things, by their destination."""
    named = SECRET if exist else NOTHING
    value = dict.fromkeys(("name", "target", "connection", "channel", "schedule", "preset"), named)
    numbers = {"job": things[ImportJob].pk, "lab": things[Lab].pk} if exist else {"job": 987654, "lab": 987654}
    texts = {each: str(number) for each, number in numbers.items()}
    url = "mysql://me@example.org/shop"
    return value | texts | {"table": f"{named}.{named}", "file": path, "url": url, "place": "https://example.org/in/"}


def lines(name: str, known: dict[str, str]) -> Iterator[Line]:
    """Command lines: with every argument that names a thing, without each of them that need not be there, and none.

    Of options of which exactly one must be given, each has its turn.
    """
    actions = actions_of(name)
    groups = [[each.dest for each in group._group_actions] for group in _groups(name) if group.required]
    for chosen in product(*groups):
        must = [each for each in actions if each.required or each.dest in chosen]
        may = [each for each in actions if each.dest in known and each.dest not in chain(*groups) and each not in must]
        replace = [each for each in actions if each.dest in ("replace", "as_json", "json")]
        for left_out in (None, *may):
            wanted = must + [each for each in may if each is not left_out] + replace
            yield name.split() + [word for each in wanted for word in _written(each, known)]
        yield name.split() + [word for each in must for word in _written(each, known)]


def _groups(name: str) -> list[Any]:
    parser = parser_of(name.split(maxsplit=1)[0])
    for word in name.split()[1:]:
        verbs = [each for each in parser._actions if isinstance(each, argparse._SubParsersAction)]
        parser = verbs[0].choices[word] if verbs else parser
    return parser._mutually_exclusive_groups


def _written(action: argparse.Action, known: dict[str, str]) -> Line:
    of_ours = action.dest in known and (action.type is None or known[action.dest].isdigit() or action.dest == "file")
    value = known[action.dest] if of_ours else value_for(action)
    if not action.option_strings:
        return [value]
    return [action.option_strings[-1]] + ([] if action.nargs == 0 else [value])


def run(line: Line, person: User, capsys) -> tuple[int, str]:
    """The exit code of the command on behalf of the person, and everything that it wrote."""
    out, code = StringIO(), 0
    if line[:2] == ["job", "wait"]:
        line = [*line, "--at-most", "0"]
    try:
        call_command(*line, "--as", person.username, stdout=out, stderr=out)
    except CommandError as error:
        code = error.returncode
        out.write(str(error))
    except SystemExit as end:
        code = end.code
    written = capsys.readouterr()
    return code, out.getvalue() + written.out + written.err


def everything() -> list[Any]:
    """All rows of Millrace's tables, of people and of groups, as they are stored: to read models takes much longer.

    Not the audit log, which has what was refused, and no counts against a limit.
    """
    models = {*apps.get_app_config("importer").get_models(), User, Group, User.groups.through, Authenticator}
    rows = []
    with connection.cursor() as cursor:
        for table in sorted(each._meta.db_table for each in models - {AuditEvent, LimitCount}):
            cursor.execute(f"SELECT * FROM {table} ORDER BY 1")
            rows.append((table, cursor.fetchall()))
    return rows


@pytest.fixture
def path(tmp_path) -> str:
    file = tmp_path / "orders.csv"
    file.write_text("a,b\n1,2\n")
    return str(file)


def test_each_command_and_verb_has_a_rule():
    assert set(NAMES) == set(RULES)


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_is_checked(command: str):
    assert isinstance(load_command_class(get_commands()[command], command), CheckedCommand)


@each_command
@pytest.mark.parametrize("role", [Role.OPERATOR, Role.VIEWER])
def test_without_a_grant_all_is_as_if_there_were_nothing(verbs: list[str], role: Role, things, path, capsys):
    """The answer is the same for things that exist and for things that do not, and nothing changes."""
    eve = people.add("eve", role)
    before = everything()
    for name in verbs:
        there, missing = (list(lines(name, values(things, path, exist=exist))) for exist in (True, False))
        for line, no_such in zip(there, missing, strict=True):
            told, otherwise = run(line, eve, capsys), run(no_such, eve, capsys)
            assert _anonymous(told, things) == _anonymous(otherwise, things), line
            rule = rule_of(name)
            assert told[0] or not (rule.things or rule.admin) or ("--target" not in line and name == "lab sweep"), line
        assert everything() == before, name


def _anonymous(told: tuple[int, str], things: dict[type, Any]) -> tuple[int, str]:
    """The answer without the names and numbers that the command line gave."""
    code, text = told
    for each in (SECRET, NOTHING, "987654", f"import {things[ImportJob].pk}", f"lab {things[Lab].pk}"):
        text = text.replace(each, "*").replace("import *", "*").replace("lab *", "*")
    return code, text


@each_command
@pytest.mark.parametrize("make", [viewer, operator], ids=["viewer", "operator"])
def test_who_may_only_look_changes_nothing(verbs: list[str], make: Callable[..., User], things, path, capsys):
    eve = make("eve", Level.LOOK)
    before = everything()
    for name in verbs:
        rule = rule_of(name)
        for line in lines(name, values(things, path, exist=True)):
            code, text = run(line, eve, capsys)
            looks = not (rule.operator or rule.admin)
            if looks or ("--target" not in line and "--job" not in line and name in NEED_NO_THING):
                continue
            assert code == 4, (line, text)
            assert "Ask an admin" in text, line
        assert everything() == before, name


# Verbs that can be without what they are about; then they are wrong usage, or about nothing.
NEED_NO_THING = ("import_csv", "apply", "lab run", "lab sweep", "preset import")


def test_what_is_forbidden_is_a_report_with_json(things, path, capsys):
    line = ["import_csv", path, "--target", SECRET, "--table", "shop.orders", "--json"]
    code, text = run(line, viewer("vic"), capsys)
    report, _ = json.JSONDecoder().raw_decode(text)
    assert (code, report["outcome"], report["exit_code"]) == (4, "refused", 4)
    assert report["problem"]["what"] == VIEWER_REASON
    assert not SourceFile.objects.filter(path=path).exists()


def test_a_grant_on_other_tables_of_the_target_is_not_enough(things, path, capsys):
    eve = stranger("eve")
    people.grant(eve, "target", Level.LOAD, things[Target], ["shop.*"])
    code, text = run(["import_csv", path, "--target", SECRET, "--table", "bank.accounts", "--json"], eve, capsys)
    assert code == 4
    assert "may not load into the table bank.accounts" in text
    assert not SourceFile.objects.filter(path=path).exists()


@pytest.mark.parametrize("line", [["target", "list", "--as", "ann"], ["target", "--as", "ann", "list"]])
def test_as_goes_before_and_after_the_verb(line: Line, things, capsys):
    ann = admin("ann")
    call_command(*line)
    assert SECRET in capsys.readouterr().out
    people.deactivate(ann)
    with pytest.raises(CommandError, match="ann is deactivated") as caught:
        call_command(*line)
    assert caught.value.returncode == 2


@each_command
def test_an_unknown_person_is_wrong_usage(verbs: list[str], things, path, capsys):
    before = everything()
    for name in verbs:
        for line in lines(name, values(things, path, exist=True)):
            code, text = run(line, User(username="nobody"), capsys)
            assert (code, "there is no user nobody" in text) == (2, True), line
        assert everything() == before, name


def test_without_as_the_system_acts(things, capsys):
    call_command("target", "list")
    assert SECRET in capsys.readouterr().out


def test_a_command_without_a_rule_is_refused(things, capsys, monkeypatch):
    monkeypatch.delitem(RULES, "target list")
    code, text = run(["target", "list"], operator("ann"), capsys)
    assert (code, "no rule" in text) == (4, True)


def test_an_operator_who_administers_a_target_may_replace_it_and_nobody_else(things, capsys):
    line = ["target", "add", SECRET, "mysql://me@127.0.0.1/shop", "--replace"]
    code, text = run(line, stranger("eve"), capsys)
    assert (code, "Only admins may add targets" in text) == (4, True)
    ann = operator("ann")
    assert "Only admins" not in run(line, ann, capsys)[1]
    code, text = run(["target", "add", "another", "mysql://me@127.0.0.1/shop", "--replace"], ann, capsys)
    assert (code, "Only admins may add targets" in text) == (4, True)


def test_as_is_an_option_of_every_verb():
    for command in COMMANDS:
        for words, actions in leaves(parser_of(command)):
            assert AS in [each.dest for each in actions], (command, words)

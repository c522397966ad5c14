"""Every command with every option, in a process of its own: what a shell gives a command, call_command() may not.

The options are found in the parsers, so that a new one is tested without a word here.
"""

import argparse
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

import pytest
from django.core.management import BaseCommand, get_commands, load_command_class

from config.contracts.outcomes import REFUSED
from importer.management.base_command import AS
from importer.management.terminal.one_document import FLAG
from tests.shell import Shell

# Each of our commands, with the application that it belongs to.
COMMANDS = {name: app for name, app in sorted(get_commands().items()) if app.split(".")[0] == "importer"}
# The options that Django gives each command. One of ours with the same destination (`settings`) hides Django's.
DJANGO_GIVES = {(each.dest, *each.option_strings) for each in BaseCommand().create_parser("manage.py", "")._actions}
VALUES = ("1", "1M", "50", "name=1", "chunk_bytes=1M", "2026-01-01", "utf-8", "bulks", "keep")


def leaves(parser: argparse.ArgumentParser, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], list]]:
    """The words that lead to each parser without verbs below it, and the arguments that it takes."""
    own = [action for action in parser._actions if not isinstance(action, argparse._SubParsersAction)]
    verbs = next((action for action in parser._actions if isinstance(action, argparse._SubParsersAction)), None)
    if verbs is None:
        yield words, own
        return
    for word, below in verbs.choices.items():
        yield from leaves(below, (*words, word))


@cache
def parser_of(command: str) -> argparse.ArgumentParser:
    return load_command_class(COMMANDS[command], command).create_parser("manage.py", command)


# It would not end by itself: tests/test_supervision.py.
SERVES = "serve"
LEAVES = [
    ((command, *words), actions)
    for command in COMMANDS
    if command != SERVES
    for words, actions in leaves(parser_of(command))
]


def is_ours(action: argparse.Action) -> bool:
    """Whether the command itself declares the argument: not Django, and not the base of all commands."""
    return (action.dest, *action.option_strings) not in DJANGO_GIVES and action.dest != AS


def value_for(action: argparse.Action) -> str:
    """A text that the argument's own type takes."""
    if action.choices:
        return str(next(iter(action.choices)))
    if action.type is Path:
        return "no-such-folder/file"
    for text in VALUES:
        with suppress(argparse.ArgumentTypeError, ValueError):
            (action.type or str)(text)
            return text
    raise AssertionError(f"no value for {action.dest}: add one to VALUES")


def written(action: argparse.Action) -> list[str]:
    if not action.option_strings:
        return [value_for(action)]
    word = action.option_strings[-1]
    values = action.nargs if isinstance(action.nargs, int) else 1
    return [word] + [value_for(action)] * values


def exclusive(command: tuple[str, ...]) -> list[set[str]]:
    """The options of which at most one may be given, as sets of their destinations."""
    parser = parser_of(command[0])
    for word in command[1:]:
        verbs = next(each for each in parser._actions if isinstance(each, argparse._SubParsersAction))
        parser = verbs.choices[word]
    return [{action.dest for action in group._group_actions} for group in parser._mutually_exclusive_groups]


def invocations(command: tuple[str, ...], actions: list[argparse.Action]) -> Iterator[list[str]]:
    """Command lines that have all of the command's options between them; one with all that go together, mostly."""
    groups = exclusive(command)
    most = max(map(len, groups), default=1)
    for turn in range(most):
        line = list(command)
        for action in filter(is_ours, actions):
            group = next((sorted(each) for each in groups if action.dest in each), None)
            if group is None or group[turn % len(group)] == action.dest:
                line += written(action)
        yield line


@pytest.mark.parametrize(("command", "actions"), LEAVES, ids=[" ".join(words) for words, _ in LEAVES])
def test_every_option_from_a_shell_ends_without_a_traceback(command, actions, shell: Shell, transactional_db):
    """With --json the output is one document that fits its schema: the shell looks at it."""
    every = list(invocations(command, actions))
    assert any(FLAG in line for line in every)
    every += [[word for word in line if word != FLAG] for line in every if FLAG in line]
    for line in every:
        done = shell.manage(*line, check=False)
        assert "Traceback" not in done.stderr, f"{' '.join(line)}\n{done.stderr}"
        # 2 is argparse's: then the command itself has not run.
        assert "usage:" not in done.stderr, f"{' '.join(line)}\n{done.stderr}"


def test_a_secret_that_no_terminal_can_be_asked_for_is_refused_in_one_line(shell: Shell, transactional_db):
    done = shell.manage("connection", "add", "x", "sftp://me@example.org/in", "--ask", "password", check=False)
    assert done.returncode == REFUSED.exit_code
    assert "there is no terminal to ask on. Use --secret-env password=VARIABLE" in done.stderr
    assert "Traceback" not in done.stderr

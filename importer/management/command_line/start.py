"""Starts Django for one word of the command line, and runs its management command."""

import logging.config
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, cast

from django.apps import apps
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.management import get_commands, load_command_class

from config import garbage
from importer.engine.errors import Problem, WrongUsage, is_of_full_disk, room_in_words
from importer.engine.source.records.boundary.self_check import reader_problem
from importer.management.terminal.follow.held_ctrl_c import HeldCtrlC
from importer.management.terminal.words import PROGRAM, Word, undecoded_word

if TYPE_CHECKING:
    from importer.management.terminal.one_document import DocumentCommand


def start(word: Word, arguments: list[str], held: HeldCtrlC) -> None:
    """Run the word's management command, which ends the process with its exit code, and releases Ctrl-C first."""
    garbage.pause()
    set_up_or_refuse(word.name, arguments)
    if wrong := undecoded_word(arguments):
        _refuse(word.name, arguments, wrong)
    command = command_of(word)
    garbage.resume()
    command.held = held
    command.run_from_argv([PROGRAM, word.name, *word.given, *arguments])


def set_up_or_refuse(name: str, arguments: Sequence[str] = ()) -> None:
    """Prepare Django for the word of this name. Ends the process if a setting is wrong, its folder cannot be used, or
    this Python misreads files.
    """
    if problem := reader_problem():
        _refuse(name, arguments, problem)
    try:
        set_up()
    except ImproperlyConfigured as error:
        _refuse(name, arguments, WrongUsage(str(error), advice="Correct it in the environment, or in the file .env."))
    except OSError as error:
        where = str(error.filename or "")
        advice = "Make room there, or name another folder for Millrace's records in VAR_DIR."
        room = f" {room_in_words(Path(where).parent)}" if where and is_of_full_disk(error) else ""
        _refuse(name, arguments, Problem(f"Millrace cannot write there: {error.strerror}.{room}", where, advice))


def _refuse(name: str, arguments: Sequence[str], problem: Problem) -> NoReturn:
    """Say which setting or word is wrong, and end. With --json by the document that the word's problems have."""
    from config.contracts.documents import PROBLEM
    from importer.management.command_line.remote.main import REMOTE
    from importer.management.command_line.remote.output import RemoteOutput
    from importer.management.terminal.words import FLAG

    def refuse() -> NoReturn:
        raise problem

    document = (REMOTE[name].files if name in REMOTE else None) or PROBLEM
    sys.exit(RemoteOutput(name, FLAG in arguments, document).run(refuse))


def set_up() -> None:
    """Prepare Django as django.setup() does, without what serves pages: mail to admins, and the prefix of URLs."""
    logging.config.dictConfig(settings.LOGGING)
    apps.populate(settings.INSTALLED_APPS)


def command_of(word: Word) -> "DocumentCommand":
    """The management command behind the word."""
    command = load_command_class(get_commands()[word.command], word.command)
    return cast("DocumentCommand", command)

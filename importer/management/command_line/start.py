"""Starts Django for one word of the command line, and runs its management command."""

from importlib import import_module

from django.apps import apps
from django.conf import settings
from django.core.management.base import BaseCommand
from django.utils.log import configure_logging

from importer.management.command_line.words import PROGRAM, Word

COMMANDS = "importer.management.commands"


def start(word: Word, arguments: list[str]) -> None:
    """Run the word's management command, which ends the process with its exit code."""
    set_up()
    command_of(word).run_from_argv([PROGRAM, word.name, *word.given, *arguments])


def set_up() -> None:
    """Prepare Django as django.setup() does, but for the script prefix of URLs, which imports all that serves pages."""
    configure_logging(settings.LOGGING_CONFIG, settings.LOGGING)
    apps.populate(settings.INSTALLED_APPS)


def command_of(word: Word) -> BaseCommand:
    """The management command behind the word."""
    command: BaseCommand = import_module(f"{COMMANDS}.{word.command}").Command()
    return command

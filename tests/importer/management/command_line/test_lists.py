"""The verb `list` of each command: what is there, or that nothing is, and how to add something."""

import json

import pytest
from django.contrib.auth.models import Group
from django.core.management import call_command

from importer.management.terminal.output import NONE_TO_LIST
from tests.importer.management.test_every_option import COMMANDS, leaves, parser_of


def test_each_command_with_a_list_has_words_for_an_empty_one():
    with_list = {name for name in COMMANDS for words, _ in leaves(parser_of(name)) if words[-1:] == ("list",)}
    assert with_list - {"experiment"} == set(NONE_TO_LIST)  # There are always experiments.


@pytest.mark.django_db
@pytest.mark.parametrize("command", NONE_TO_LIST)
def test_an_empty_list_says_on_standard_error_how_to_add_to_it(capsys, command):
    call_command(command, "list")
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", f"{NONE_TO_LIST[command]}\n")


@pytest.mark.django_db
def test_an_empty_list_is_an_empty_document_and_one_that_is_not_is_alone(capsys):
    call_command("group", "list", "--json")
    printed = capsys.readouterr()
    assert (json.loads(printed.out)["groups"], printed.err) == ([], "")
    Group.objects.create(name="loaders")
    call_command("group", "list")
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("loaders: no members\n", "")

"""A mistyped option, value or verb is answered with the one that was perhaps meant."""

import pytest

from importer.management.command_line.remote.main import main as elsewhere
from importer.management.command_line.start import command_of
from importer.management.terminal.words import PROGRAM, WORDS
from importer.models.outcomes import WRONG_USAGE
from tests.documents import read


@pytest.mark.parametrize(
    ("word", "arguments", "meant"),
    [
        ("load", ["a.csv", "--onerror", "reject"], "--on-error"),
        ("load", ["a.csv", "--mode", "appnd"], "append"),
        ("job", ["lst"], "list"),
        ("job", ["retry", "1", "--onerror=reject"], "--on-error"),
        ("load", ["a.csv", "--qqqqqqqq"], None),
    ],
)
def test_the_nearest_one_is_named(word, arguments, meant, capsys):
    with pytest.raises(SystemExit) as ended:
        command_of(WORDS[word]).run_from_argv([PROGRAM, word, *arguments, "--json"])
    printed = capsys.readouterr()
    assert ended.value.code == WRONG_USAGE.exit_code
    what = read(printed.out)["problem"]["what"]
    assert what.endswith(f". Did you mean {meant}?" if meant else "--qqqqqqqq.")
    assert what in printed.err


def test_so_it_is_with_another_machine(capsys):
    with pytest.raises(SystemExit):
        elsewhere(["--server", "http://127.0.0.1:9", "load", "a.csv", "--onerror", "reject"])
    assert ". Did you mean --on-error? See millrace --server URL load --help." in capsys.readouterr().err

"""The scripts that complete lines of `millrace`: bash completes with them, and they have what the parsers have."""

import re
import subprocess

import pytest

from importer.engine.target.write_modes import MODES
from importer.management.command_line.help.completion import script
from importer.management.command_line.help.completion_places import SHELLS
from importer.management.terminal.words import WORDS


def completed(line: str) -> list[str]:
    """What bash offers for the last word of the line, which it cuts at blanks, : and =."""
    words = [each for each in re.split(r"([:=]+)| ", line) if each] + [""] * line.endswith(" ")
    program = f"{script('bash')}\nCOMP_WORDS=({' '.join(repr(word) for word in words)})\nCOMP_CWORD={len(words) - 1}\n"
    run = f'{program}_millrace\nprintf "%s\\n" "${{COMPREPLY[@]}}"'
    done = subprocess.run(["bash", "-c", run], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_bash_completes_words_verbs_and_options():
    assert completed("millrace loa") == ["load"]
    assert set(completed("millrace ")) >= {*WORDS, "help", "completion"}
    assert set(completed("millrace job re")) == {"retry", "resume", "rejects", "refuse", "restore-now"}
    assert "--chunk-size" in completed("millrace load orders.csv --ch")
    assert completed("millrace job rejects 17 --re") == ["--reasons"]
    assert completed("millrace load orders") == []  # Then bash offers files.


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("millrace load --mode ", {*MODES}),
        ("millrace load a.csv --mode=at", {"atomic"}),
        ("millrace load mysql://loader@db:3306/sales.t --on-error r", {"reject"}),
        ("millrace load ", set()),
        ("millrace load --to ", set()),
        ("millrace load --to --", set()),
        ("millrace job retry ", set()),
        ("millrace job priority 17 ", {"normal", "high", "low"}),
        ("millrace kept-table ", {"restore", "drop"}),
        ("millrace kept-table restore ", set()),
        ("millrace completion ", {*SHELLS}),
        ("millrace help exit", {"exit-codes"}),
        ("millrace --server http://127.0.0.1:8000 lo", {"load"}),
        ("millrace --server ", set()),
        ("millrace --server https://a.example --token-file f --plain-http job ret", {"retry"}),
        ("millrace --server https://a.example load --on-error ", {"stop", "reject"}),
        ("millrace --server https://a.example load --defaults", set()),  # It means nothing there.
    ],
)
def test_bash_offers_a_value_where_one_belongs(line, offered):
    assert set(completed(line)) == offered


@pytest.mark.parametrize("shell", SHELLS)
def test_a_script_has_each_word_and_no_option_of_django(shell):
    text = script(shell)
    assert all(word in text for word in WORDS)
    assert "pythonpath" not in text

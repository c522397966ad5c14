"""The scripts that complete lines of `millrace`: bash completes with them, and they have what the parsers have."""

import subprocess

import pytest

from importer.management.command_line.help.completion import SHELLS, script
from importer.management.command_line.words import WORDS


def completed(line: str) -> list[str]:
    """What bash offers for the last word of the line."""
    words = line.split(" ")
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


@pytest.mark.parametrize("shell", SHELLS)
def test_a_script_has_each_word_and_no_option_of_django(shell):
    text = script(shell)
    assert all(word in text for word in WORDS)
    assert "pythonpath" not in text

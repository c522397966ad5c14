"""Tests that pages name fields of the form where the engine's messages name options of the command line."""

import re
from collections.abc import Iterator

import pytest

from dashboard.fields.advice import _OFFERED, _OPTION, in_browser
from tests.stack import ROOT
from tests.strings import modules, strings_of

# Options of other programs, and of Millrace's commands about other things than an import.
OTHERS = {"--target", "--all", "--batch", "--long", "--facts", "--strict", "--hex-blob", "--default-character-set"}
OTHERS |= {"--all-the-same"}  # Of a command that the message has, and a page has its button.
# These speak to people at a terminal only, or declare the options.
TERMINAL = ("management", "experiments", "option_specs.py", "targets.py", "questions.py", "access", "connections")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (
            "The value is blank. --null '' reads blanks as NULL.",
            "The value is blank. “NULL is written as: nothing” reads blanks as NULL.",
        ),
        ("name its encoding (--encoding utf-16-le).", "name its encoding (“Encoding: utf-16-le”)."),
        ("load with --foreign-keys defer.", "load with “Foreign keys: take off, put back after the load”."),
        ("--on-error reject keeps them", "“Invalid rows: Reject and continue” keeps them"),
        (
            "--no-header --skip-rows 3 --map '#1=COLUMN'.",
            "“Header row: No” “Skip first lines: 3” “Column: COLUMN” for #1.",
        ),
        ("such as --type n=varchar(4); or", "such as “Type: varchar(4)” for n; or"),
        ("--map paid=paid:yes-no makes them 1", "“Read as: Yes or no” for paid makes them 1"),
        ("--map 'sum=sum:money-comma-€' makes it", "“Read as: Amount in €, decimal comma” for sum makes it"),
        ("--map 'n=n:null=Summe' makes", "“NULL is written as: Summe” for n makes"),
        ("--map 'day=day:date=%d/%m/%Y' makes", "“Date and time format: %d/%m/%Y” for day makes"),
        ("or --match position", "or “Match columns by: position”"),
        ("choose --tls off for the target", "choose “TLS: off” for the target"),
        ("another one: --time-zone", "another one: “Time zone”"),
        ("as mysql --batch prints it", "as mysql --batch prints it"),
    ],
)
def test_an_option_becomes_the_field_of_the_form(text: str, shown: str) -> None:
    assert in_browser(text) == shown


def messages() -> Iterator[tuple[str, str]]:
    """The strings that people may read of the engine and of what prepares and runs imports, with their modules."""
    for path in modules("importer"):
        if not set(TERMINAL) & {*path.parts}:
            yield from ((str(path.relative_to(ROOT)), each) for each in strings_of(path))


def test_no_option_of_an_import_is_left_in_a_message() -> None:
    # A flag alone is an answer of a question, which the page shows as a button.
    named = [
        (path, flag) for path, text in messages() for flag in re.findall(r"[^\s]*(--[a-z][a-z-]+)", in_browser(text))
    ]
    assert [each for each in named if each[1] not in OTHERS] == []


def test_no_option_takes_the_next_word_of_its_sentence_as_its_value() -> None:
    values = {"off", "encrypt", "verify", "position", "quote"}.union(*_OFFERED.values())
    taken = [
        (path, f"--{flag} {value}")
        for path, text in messages()
        for flag, value in _OPTION.findall(text)
        if value.isalpha() and value not in values and f"--{flag}" not in OTHERS
    ]
    assert taken == []


def test_each_page_shows_problems_through_it() -> None:
    bare = re.compile(r"{{ (?:[\w.]+\.)?(?:problem|obstacle|done_problem)\.(?:what|advice)(?!\|in_browser)[^}]*}}")
    found = {
        str(path.relative_to(ROOT)): bare.findall(path.read_text())
        for path in (ROOT / "templates").rglob("*.html")
        if "notifications" not in path.parts
    }
    assert {path: shown for path, shown in found.items() if shown} == {}

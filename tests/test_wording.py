"""Tests that pages, forms and messages use the terms of docs/glossary.md, not the words that they replaced."""

import re
from collections.abc import Iterator
from functools import cache

import pytest

from tests.stack import ROOT
from tests.strings import modules, strings_of

REPLACED = {
    "what is in it": "File format",
    "what becomes of the table": "Import mode",
    "where it goes": "Column mapping",
    "when something does not fit": "Error handling",
    "when a row cannot go in": "Invalid rows",
    "when a key is there": "Duplicate keys",
    "when digits would be lost": "Rounding",
    "sniff again": "Begin again, as detected",
    "lines before it": "Skip first lines",
    "a delimiter at a line's end": "Trailing delimiter",
    "nothing, without quotes": "Unquoted empty value",
    "as sniffed": "Auto-detected",
    "nearly so": "nearly empty",
    "rows' parents": "Foreign key checks",
    "ready in": "Time left",
    "trouble": "Issues",
    "reckoned": "estimated",
    "did not go in": "rejected",
    "mend": "fix",
    "are as usual": "at default",
    "beside": "compared with, or the name of the place",
    "do it again by": "Schedule this import",
    "as they should be": "checks passed",
    "how it is called": "Name used here and on the command line",
    "make the schedule": "Create schedule",
    "not as usual": "Exceptions",
    "header is another": "The header changed",
    "who is told": "Notifications",
    "that are fine": "Allowed",
    "would be done anyway": "The default plan",
    "tell apart": "No clear difference",
    "held against": "Baseline",
    "colours of the system": "System theme",
    "is like that": "No matching imports",
    "chunks at once": "parallel chunks",
    "load at once": "load in parallel",
    "side by side": "parallel, or compared",
    "its like": "similar imports",
    "anew": "again",
    "hardly": "probably not",
    "whoever": "the person who, or anyone who",
    "go on": "continue",
    "goes on": "continues",
    "going on": "continuing",
    "meanwhile": "since, until then, or during the import",
    "besides": "in addition to, apart from, other than",
    "stands there": "is shown, or is entered",
}
PLACES = ("dashboard", "importer")
# Words inside longer ones that are in use.
_WORD = {old: re.compile(rf"(?<![\w-]){re.escape(old)}(?![\w-])", re.IGNORECASE) for old in REPLACED}


def template_texts() -> Iterator[tuple[str, str]]:
    """The words of each template, without tags and comments, by its path."""
    for path in sorted((ROOT / "templates").rglob("*.html")):
        text = re.sub(r"{#.*?#}|{%.*?%}|{{.*?}}|<script.*?</script>", " ", path.read_text(), flags=re.DOTALL)
        yield str(path.relative_to(ROOT)), text


def code_texts() -> Iterator[tuple[str, str]]:
    """The strings of each module that people may read, by its path."""
    for path in modules(*PLACES):
        # A string without a blank is a key or a name.
        yield str(path.relative_to(ROOT)), "\n".join(each for each in strings_of(path) if " " in each)


@cache
def texts() -> tuple[tuple[str, str, str], ...]:
    """Each path with its text, and with the same text in lower case."""
    return tuple((path, text, text.lower()) for path, text in (*template_texts(), *code_texts()))


@pytest.mark.parametrize("old", REPLACED)
def test_no_page_or_message_uses_a_replaced_word(old: str) -> None:
    # Most texts do not have its letters: looking for these takes less time than the expression.
    may_have = ((path, text) for path, text, letters in texts() if old.lower() in letters)
    found = [
        f"{path}: {line.strip()}" for path, text in may_have for line in text.splitlines() if _WORD[old].search(line)
    ]
    assert not found, f"write {REPLACED[old]!r} instead of {old!r}:\n" + "\n".join(found)

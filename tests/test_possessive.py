"""The check of the application's regular expressions (tests/possessive.py) finds what some Python matches wrongly."""

import re

import pytest

from tests.possessive import Misread, check

WRONG = [
    r"(?:[^\t]++|(?!\t)\t)*+",
    r"(?:ab?c)*+",
    r"(?:a|bc++d)?+",
    r"(?:x(?:ay|b)){0,9}+",
    r"(?:x(?:y|(?!)))*+",
    r"a(?:b(?:(?:cd?e)*+)f|(?!))*+",
    r"(?:(a)|b)*+",
]
RIGHT = [
    r"(?:[^\t]++|(?!\t)\t|(?!))*+",
    r"(?:ab?c|(?!))*+",
    r"[^'\\]*+(?:(?:\\.|'')[^'\\]*+)*+",
    r'(?:[^"]++|"")++',
    r"(?:,(?:a(?=,)|b|))*+",
    r"(?:ab?c)*",
    r"(?>(?:ab?c)*)",
]


@pytest.mark.parametrize("pattern", WRONG)
def test_a_pattern_that_some_python_misreads_is_refused(pattern):
    with pytest.raises(Misread):
        check(pattern)


@pytest.mark.parametrize("pattern", RIGHT)
def test_a_pattern_that_every_python_reads_alike_is_taken(pattern):
    check(pattern)
    check(pattern.encode())


def test_what_the_application_compiles_is_checked():
    """Also what it compiled before the tests began: pytest loads the check first (pyproject.toml)."""
    source = "import re; re.compile(b'(?:ab?c)*+%d')"
    ours = compile(source, check.__globals__["_OURS"][0] + "some.py", "exec")
    with pytest.raises(Misread):
        exec(ours, {"__name__": "importer.some"})
    assert re.compile(b"(?:ab?c)*+").match(b"abc")

"""Tests docs/faults.md: every promise and attack has a test that exists, or a reason."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "faults.md").read_text()
NAMED = re.compile(r"`([\w/]+\.py)((?:::\w+)+)`")
PROMISES = [*range(1, 15), *range(16, 28)]
ATTACKS = [*range(31, 64)]


def rows() -> dict[int, list[str]]:
    """The cells behind the number of each row."""
    return {int(number): rest.split(" | ") for number, rest in re.findall(r"^\| (\d+) \| (.*) \|$", PAGE, re.MULTILINE)}


def test_every_promise_and_attack_has_a_row():
    assert list(rows()) == [*PROMISES, *ATTACKS]


@pytest.mark.parametrize("number", [*PROMISES, *ATTACKS])
def test_a_row_has_a_test_or_a_reason(number: int):
    happens, does, proof = rows()[number]
    assert happens.strip()
    assert does.strip()
    assert NAMED.search(proof) or proof.startswith("No test")


@pytest.mark.parametrize(("path", "names"), sorted(set(NAMED.findall(PAGE))))
def test_a_named_test_exists(path: str, names: str):
    text = (ROOT / "tests" / path).read_text()
    for name in names.strip(":").split("::"):
        assert re.search(rf"^\s*(?:class|def|async def) {name}\b", text, re.MULTILINE), f"{path}{names}"

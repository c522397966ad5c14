"""The table "Questions about a file" of docs/importing.md: for each row files of its kind, on real servers.

The files are in contract.toml, under the wording of their row.
"""

import re
import tomllib
from itertools import takewhile
from pathlib import Path

import pytest

from importer.engine.mysql.connection import Address
from tests.reading.case import Case
from tests.reading.check import check

ROOT = Path(__file__).parents[2]
FILES = tomllib.loads(Path(__file__).with_name("contract.toml").read_text())
CASES = tuple(Case(row, **each) for row, files in FILES.items() for each in files)
NO, YES, REFUSED = "no", "yes", "refused"


def documented() -> dict[str, str]:
    """What the documentation answers to "asked?", by the row's wording."""
    text = (ROOT / "docs/importing.md").read_text()
    lines = text.split("| file | asked? |\n", 1)[1].split("\n")[1:]
    rows = (line.strip("| ").split(" | ") for line in takewhile(lambda line: line.startswith("|"), lines))
    return dict(rows)


ASKED = documented()


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.kind}: {case.name}")
def test_the_file_is_asked_about_as_documented(case: Case, database: Address, folder: Path, transactional_db: None):
    ended = check(case, database, folder)
    if "noted" in ASKED[case.kind]:
        assert ended
        assert ended.reading.notes


def test_each_documented_row_has_files():
    assert len(ASKED) >= 21
    assert list(FILES) == list(ASKED)


@pytest.mark.parametrize("row", ASKED)
def test_the_files_of_a_row_end_as_the_row_says(row: str):
    files = [case for case in CASES if case.kind == row]
    ends = {REFUSED if case.refused else YES if case.asks else NO for case in files}
    assert not any(case.or_asks or case.refused_or_asks for case in files)
    words = re.sub("`[^`]*`", "", ASKED[row])
    assert ends == {word for word in (NO, YES, REFUSED) if re.search(rf"\b{word}\b", words)}


@pytest.mark.parametrize("row", ASKED)
def test_each_flag_of_a_row_answers_one_of_its_files(row: str):
    answers = [case.answer for case in CASES if case.kind == row]
    for flag in re.findall(r"--[a-z-]+", ASKED[row]):
        assert any(answer.startswith(flag) for answer in answers), flag

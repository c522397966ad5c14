"""Files whose reading went wrong somewhere, each with the rows that are right, on real servers.

The files are in cases/ (case.py explains their form). What still fails is in STILL_WRONG, with the reason.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from importer.engine.errors import SourceProblem
from importer.engine.mysql.connection import Address
from importer.engine.reading.other_file import profile_like
from importer.engine.source.profile.profile import profile_file
from tests.reading.case import STRUCTURE, Case, cases
from tests.reading.check import check
from tests.reading.still_wrong import STILL_WRONG

ALL = tuple(cases())
# Of all cases. Headers of new tables that too few records prove are asked about, and tables that are no CSV files.
MOST_ASKED = 0.15


def parameters() -> Iterator[Any]:
    for case in ALL:
        reason = STILL_WRONG.get((case.kind, case.name))
        marks = [pytest.mark.xfail(reason=reason, strict=True)] if reason else []
        yield pytest.param(case, id=f"{case.kind}: {case.name}", marks=marks)


@pytest.mark.parametrize("case", list(parameters()))
def test_the_rows_are_right(case: Case, database: Address, in_zone: None, folder: Path, transactional_db: None):
    check(case, database, folder)


def test_no_file_differs_from_itself(tmp_path: Path):
    """A preset or a schedule is compared with each later file: a false difference would stop it each time."""
    path, compared = tmp_path / "input.csv", 0
    for case in ALL:
        path.write_bytes(case.content)
        try:
            profile = profile_file(path)
        except SourceProblem:
            continue
        compared += 1
        assert profile_like(path, profile.dialect, ()).differing == (), case.name
    assert compared > 200


def test_few_cases_may_ask():
    assert len(ALL) >= 161
    assert sum(case.may_ask for case in ALL) <= MOST_ASKED * len(ALL)


def test_no_question_about_the_structure_is_wanted_where_the_header_fits():
    """A header fits if it names columns of the table only, and all records have its width."""
    asked = [case for case in ALL if case.asks in STRUCTURE and case.table]
    for case in asked:
        first = case.text.split("\n")[0].replace('"', "")
        names = {each.strip().lower() for each in first.replace(";", ",").split(",")}
        columns = {each.split()[0].strip("`").lower() for each in case.table.split(", ")}
        even = len({line.count(",") for line in case.text.split("\n") if line}) == 1
        assert not (names <= columns and even), case.name

"""The rejected rows of an import as a grid: the columns of the file, with the failing values ready to be fixed."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

from django.contrib.auth.models import User

from dashboard.jobs.rejects.sent_values import as_sent
from importer.access.acting import acting_user
from importer.access.policy import Forbidden, require
from importer.engine.errors import Problem
from importer.engine.load.rejects.formulas import escape_formulas
from importer.jobs.actions import fixes
from importer.jobs.actions.fix_outcomes import draft_problems, fix_outcomes
from importer.jobs.actions.fixes import LONGEST_EDITED, Fixes
from importer.jobs.rejects.rows import RejectedRecord, Why, reasons, rows
from importer.models import ImportJob, Level

PAGE_ROWS = 50
# Of a file with more columns, the first ones and those with failing values are shown; all of a row when it is opened.
MOST_COLUMNS = 10


@dataclass(frozen=True)
class Cell:
    """A value in the grid. `was`: its text in the file, if it was fixed. `wrong`: the reason is about this column."""

    number: int
    name: str
    text: str
    was: str | None
    wrong: bool
    too_long: bool

    @property
    def in_file(self) -> str:
        return self.text if self.was is None else self.was

    @property
    def lines(self) -> int:
        """The lines of its field, as a browser counts them; more than one need a textarea."""
        return min(6, as_sent(self.text).count("\n") + 1)

    @property
    def size(self) -> int:
        """The width of its field in characters."""
        return max(8, min(30, len(self.text) + 1))


@dataclass(frozen=True)
class Row:
    """A rejected row with the values of its shown columns. `taken`: an import has it; `by`: which, if it is there.

    `outcome`: of the row in that import. `draft_problem`: why the table would not take the values of the draft.
    `cells` is empty if the record cannot be told from its neighbours.
    """

    row: RejectedRecord
    cells: list[Cell]
    fixed: bool
    taken: bool
    by: ImportJob | None
    outcome: str = ""
    draft_problem: str = ""
    open: bool = False
    problem: str = ""

    @property
    def id(self) -> str:
        return f"row-{self.row.chunk}-{self.row.place}"

    @property
    def editable(self) -> bool:
        return bool(self.cells) and not self.taken


@dataclass(frozen=True)
class Filter:
    """A reason by which the rows can be filtered: its number in the address, and how many rows it has."""

    number: int
    reason: str
    column: str
    rows: int
    chosen: bool


@dataclass(frozen=True)
class Grid:
    """One page of the rows. `first` and `last` are numbers from 1; `drafts`: fixed rows that wait to be loaded."""

    names: list[str]
    columns: list[int]
    rows: list[Row]
    filters: list[Filter]
    chosen: Filter | None
    page: int
    first: int
    last: int
    count: int
    drafts: int
    hidden_columns: int

    @property
    def previous(self) -> int:
        return self.page - 1

    @property
    def next(self) -> int | None:
        return self.page + 1 if self.last < self.count else None


def may_see_rows(job: ImportJob) -> bool:
    """Whether the acting person may see whole rows of the file, and not only what the page of the import says."""
    try:
        require(Level.LOAD, job, owner=True)
    except Forbidden:
        return False
    return True


def grid_of(job: ImportJob, why: int | None = None, page: int = 1) -> Grid:
    """A page of the job's rejected rows for the acting person; `why`: the number of the only reason to show."""
    kinds = reasons(job)
    filters = [
        Filter(number, reason, column, amount, number == why) for number, ((reason, column), amount) in enumerate(kinds)
    ]
    chosen = next((each for each in filters if each.chosen), None)
    count = chosen.rows if chosen else job.rejected_rows
    page = max(1, min(page, -(-count // PAGE_ROWS)))
    wanted: Why | None = (chosen.reason, chosen.column) if chosen else None
    found = rows(job, wanted, (page - 1) * PAGE_ROWS, PAGE_ROWS)
    known = fixes.fixes_of(job, cast(User, acting_user()))
    columns = shown_columns(job, found)
    first = (page - 1) * PAGE_ROWS + 1
    return Grid(
        columns=columns,
        names=[names_of(job)[number] for number in columns],
        rows=_rows(job, found, known, columns),
        filters=filters,
        chosen=chosen,
        page=page,
        first=first,
        last=first + len(found) - 1,
        count=count,
        drafts=len(known.own),
        hidden_columns=len(job.mapping) - len(columns),
    )


def shown_columns(job: ImportJob, found: Sequence[RejectedRecord]) -> list[int]:
    """The positions of the fields that the grid shows of these rows."""
    if len(job.mapping) <= MOST_COLUMNS:
        return list(range(len(job.mapping)))
    wrong = sorted({number for each in found for number in wrong_fields(job, each)})[:MOST_COLUMNS]
    others = [number for number in range(len(job.mapping)) if number not in wrong]
    return sorted([*wrong, *others[: MOST_COLUMNS - len(wrong)]])


def row_of(job: ImportJob, row: RejectedRecord, columns: Sequence[int] | None) -> Row:
    """One row of the grid for the acting person; without `columns`, all of its values, each ready to be fixed."""
    return _rows(job, [row], fixes.fixes_of(job, cast(User, acting_user())), columns)[0]


def refused(job: ImportJob, row: Row, texts: Sequence[str], problem: Problem) -> Row:
    """The row with the texts that were sent, and why they were not kept."""
    cells = _cells(job, row.row, texts, None if row.open else [each.number for each in row.cells])
    return replace(row, cells=cells, problem=f"{problem.what} {problem.advice}".strip())


def drafts_of(job: ImportJob) -> int:
    """How many rows the acting person has fixed that no import has taken."""
    return len(fixes.fixes_of(job, cast(User, acting_user())).own)


def names_of(job: ImportJob) -> list[str]:
    """The names of the file's fields; where the file has none, those of their columns."""
    read = [each.field for each in job.reading.columns]
    mapped = [each.column or f"field {number}" for number, each in enumerate(job.mapping, start=1)]
    return read if len(read) == len(mapped) else mapped


def wrong_fields(job: ImportJob, row: RejectedRecord) -> set[int]:
    """The positions of the fields that the reason is about; empty if it is about the whole row."""
    column = row.column.lower()
    return {
        number
        for number, each in enumerate(job.mapping)
        if column and each.column and escape_formulas(each.column).lower() == column
    }


def _rows(job: ImportJob, found: Sequence[RejectedRecord], known: Fixes, columns: Sequence[int] | None) -> list[Row]:
    outcomes, problems = fix_outcomes(job, found, known), draft_problems(job, found, known)
    return [
        Row(
            each,
            _cells(job, each, known.own.get(each.at), columns) if each.record else [],
            fixed=each.at in known.own,
            taken=each.at in known.taken,
            by=known.taken.get(each.at),
            outcome=outcomes.get(each.at, ""),
            draft_problem=problems.get(each.at, ""),
            open=columns is None,
        )
        for each in found
    ]


def _cells(
    job: ImportJob, row: RejectedRecord, texts: Sequence[str] | None, columns: Sequence[int] | None
) -> list[Cell]:
    before, wrong, names = fixes.cells_of(job, row), wrong_fields(job, row), names_of(job)
    cells = []
    for number, cell in enumerate(before):
        if columns is not None and number not in columns:
            continue
        text = texts[number] if texts and number < len(texts) else cell.text
        name = names[number] if number < len(names) else f"extra value {number - len(names) + 1}"
        was = cell.text if text != cell.text else None
        cells.append(Cell(number, name, text, was, number in wrong, len(cell.text) > LONGEST_EDITED))
    return cells

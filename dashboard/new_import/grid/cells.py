"""The rows of the grid: each value as it will be stored, and why a value or a row cannot be."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from importer.engine.mapping.columns import ColumnMapping
from importer.engine.mapping.preview import PreviewValue
from importer.engine.source.profile.profile import Profile
from importer.preparation.row_problems import ProblemRow, RowProblems

ROWS_SHOWN = 6
# Rows with problems that are shown below the first rows.
PROBLEMS_BELOW = 3


@dataclass(frozen=True)
class FileRow:
    """A row of the file with its line; `problem`: why it cannot be stored. `file`: as ProblemRow has it."""

    line: int
    values: tuple[str, ...]
    problem: ProblemRow | None = None
    file: str = ""


@dataclass(frozen=True)
class Cell:
    """A value as it will be stored; `was` is the text of the file if that differs.

    `null`: becomes NULL. `problem`: why the column does not take the value. `left_out`: the value is not loaded.
    """

    text: str
    null: bool = False
    left_out: bool = False
    problem: str = ""
    was: str = ""


@dataclass(frozen=True)
class Row:
    """A row of the grid. `problem`: what is wrong with it as a whole. `file`: as ProblemRow has it."""

    line: int
    cells: tuple[Cell, ...]
    problem: str = ""
    file: str = ""


def file_rows(profile: Profile, problems: RowProblems, *, only_problems: bool) -> tuple[FileRow, ...]:
    """The rows to show, in the file's order: the first ones and some with problems, or those with problems alone."""
    wrong = {(each.file, each.line): each for each in problems.rows}
    if only_problems:
        return tuple(map(_with_problem, problems.rows))
    first = zip(profile.lines[:ROWS_SHOWN], profile.rows, strict=False)
    shown = [FileRow(line, values, wrong.pop(("", line), None)) for line, values in first]
    more = list(map(_with_problem, wrong.values()))
    return tuple(sorted([*shown, *more[:PROBLEMS_BELOW]], key=_place))


def _place(row: FileRow) -> tuple[bool, int]:
    """The place of a row: by line in the first file; rows of further files follow in the order that they have."""
    return bool(row.file), 0 if row.file else row.line


def _with_problem(row: ProblemRow) -> FileRow:
    return FileRow(row.line, row.values, row, row.file)


def row_cells(
    row: FileRow,
    converted: dict[int, PreviewValue],
    numbers: Collection[int],
    mapping: Sequence[ColumnMapping],
    null: str,
) -> Row:
    """The row with the values of the fields `numbers`; `null` is the text of the dialect that stands for NULL."""
    wrong = row.problem
    cells = tuple(
        _cell(
            row.values[number] if number < len(row.values) else "",
            converted.get(number),
            wrong.reason if wrong and wrong.field == number else "",
            bool(mapping) and not mapping[number].column,
            null,
        )
        for number in numbers
    )
    return Row(row.line, cells, wrong.reason if wrong and wrong.field is None else "", row.file)


def _cell(text: str, converted: PreviewValue | None, problem: str, left_out: bool, null: str) -> Cell:
    if problem:
        return Cell(text, problem=problem)
    if left_out:
        return Cell(text, left_out=True)
    if text and text == null:
        return Cell(text, null=True)
    if converted is None:
        return Cell(text)
    if converted.bad:
        return Cell(text, problem="no value of this format")
    if converted.text is None:
        return Cell(text, null=True)
    return Cell(converted.text, was="" if converted.text == text else text)

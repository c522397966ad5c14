"""The columns that a file is expected to fill, as far as they help to read it. The caller knows the table."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from importer.engine.source.formats.header_names import match_names


@dataclass(frozen=True)
class ExpectedColumn:
    """A column of the table that takes values.

    `fits`: whether a text can be a value of the column; None for a text column, which takes every text. `required`: a
    record must have a value for it. `numbered`: the server numbers it (AUTO_INCREMENT), so that files may lack it.
    `of_bytes`: it takes any bytes.
    """

    name: str
    fits: Callable[[str], bool] | None = None
    required: bool = False
    numbered: bool = False
    of_bytes: bool = False


def columns_by_position(expected: Sequence[ExpectedColumn], width: int) -> tuple[ExpectedColumn, ...]:
    """The columns that `width` fields fill by position: all, or all but the numbered ones; () if neither fits."""
    given = tuple(column for column in expected if not column.numbered)
    return next((columns for columns in (tuple(expected), given) if columns and len(columns) == width), ())


def columns_by_name(expected: Sequence[ExpectedColumn], header: Sequence[str]) -> tuple[ExpectedColumn | None, ...]:
    """The column of each name of a header, None for a name that no column has."""
    by_name = {column.name: column for column in expected}
    return tuple(by_name.get(name) for name in match_names(header, [column.name for column in expected]))


def may_be_row(values: Sequence[str], columns: Sequence[ExpectedColumn | None]) -> bool:
    """Whether the columns take these values, one for each of them."""
    return len(values) == len(columns) and all(
        column is None or column.fits is None or column.fits(value)
        for value, column in zip(values, columns, strict=True)
    )

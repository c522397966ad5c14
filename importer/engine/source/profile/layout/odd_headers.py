"""Headers with another number of names than the records have fields, and a delimiter at the end of each record."""

from collections.abc import Sequence

from importer.engine.source.decisions import Decision, Standing, answer, asked
from importer.engine.source.formats.header_names import match_names
from importer.engine.source.profile.expected_columns import (
    ExpectedColumn,
    columns_by_name,
    columns_by_position,
    may_be_row,
)
from importer.engine.source.profile.layout.lines_above import LONGEST_SHOWN
from importer.engine.source.profile.readings import SampleReading
from importer.engine.source.records.boundary.lines import line_ends

PAIRS_SHOWN = 5


def is_odd(best: SampleReading) -> bool:
    """Whether the first record has another number of fields than all others, which have the same."""
    widths = {len(row) for row in best.rows[1:]}
    return widths == {best.width} and best.width > 1 and len(best.rows[0]) != best.width


def fitted_header(names: Sequence[str], width: int) -> tuple[str, ...]:
    """A header for records of `width` fields: with one name less the first field has none, as R writes row names.

    Names beyond the last field are left out, and other fields without a name are the last ones.
    """
    lacking = width - len(names)
    return ("", *names) if lacking == 1 else (*names[:width], *[""] * lacking)


def row_names(best: SampleReading) -> Decision:
    """The rule for a header with one name less than the records have fields."""
    evidence = (
        f"The header has {len(best.rows[0])} names, the records have {best.width} fields: the first field has no name,"
        " as R writes the names of rows."
    )
    return Decision("row_names", "yes", Standing.RULE, evidence, records=len(best.rows) - 1, of=len(best.rows) - 1)


def odd_header(best: SampleReading, expected: Sequence[ExpectedColumn], first_line: int) -> Decision:
    """The question what the names of an odd header stand for. `first_line`: the number of the sample's first line.

    The fields go in by position first, if the table takes as many.
    """
    first, record = best.text_rows(2)
    line, below = (first_line + line_ends(best.sample, best.dialect.line_end, 0, at) for at in best.starts[:2])
    named = zip(fitted_header(first, best.width), record, strict=True)
    by_position = answer(
        "the names do not count: the fields go in by position",
        _by_position(best, expected) or [f"column_{at} = {each}" for at, each in enumerate(record, 1)][:PAIRS_SHOWN],
        header=False,
        skip_rows=below - 1,
    )
    by_name = answer(
        "the first field has no name" if len(first) == best.width - 1 else "the names are those of the first fields",
        [f"{name or 'no name'} = {value}" for name, value in named][:PAIRS_SHOWN],
        header=True,
    )
    evidence = (
        f"Line {line}: The header has {len(first)} name{'s' if len(first) != 1 else ''}, the records have {best.width}"
        f" fields: {', '.join(first)[:LONGEST_SHOWN]}."
    )
    answers = (by_position, by_name) if _goes_by_position(best, expected) else (by_name, by_position)
    return asked("header", evidence, *answers)


def _goes_by_position(best: SampleReading, expected: Sequence[ExpectedColumn]) -> bool:
    """Whether the table takes as many fields, and its names are in its order, or above values that they do not take."""
    names, (first, record) = [column.name for column in expected], best.text_rows(2)
    places = [names.index(name) for name in match_names(first, names) if name]
    in_order = places == sorted(places)
    taken = may_be_row(record, columns_by_name(expected, fitted_header(first, best.width)))
    return bool(columns_by_position(expected, best.width)) and (in_order or not taken)


def trailing_delimiter(best: SampleReading, expected: Sequence[ExpectedColumn]) -> tuple[SampleReading, Decision]:
    """The reading with a trailing delimiter if each record and the header end in one.

    Records without a header that fill the table's columns by position have an empty last field. It is a guess if they
    fill them without that field, too. If the header has one name less than the records have fields, and the last field
    is always empty, a trailing delimiter is a guess.
    """
    none = Decision("trailing_delimiter", "no", Standing.RULE, "")
    rows, width = best.rows, best.width
    if len(rows) < 2 or width < 2 or any(row[-1] for row in rows[1:]):
        return best, none
    if all(len(row) == width for row in rows) and not rows[0][-1] and width > 2:
        if columns_by_position(expected, width) and best.header_row([column.name for column in expected]) is None:
            fills_both = bool(columns_by_position(expected, width - 1))
            return best, _empty_last_field(best, expected) if fills_both else none
        evidence = "Each record ends in one more delimiter, which is not taken for a field."
        decision = Decision("trailing_delimiter", "yes", Standing.PROVED, evidence)
        return best.again(trailing_delimiter=True), decision
    header, record = best.text_rows(2)
    if is_odd(best) and len(header) == width - 1 and are_names(header, expected):
        pairs = tuple(f"{name} = {value}" for name, value in zip(header, record, strict=False))
        evidence = f"The header has {len(header)} names, the records have {width} fields; the last one is always empty."
        ends = answer("each record ends in one more delimiter", pairs, trailing_delimiter=True)
        return best.again(trailing_delimiter=True), asked("trailing_delimiter", evidence, ends)
    return best, none


def are_names(header: Sequence[str], expected: Sequence[ExpectedColumn]) -> bool:
    """Whether all names of the header are names of columns, if there is a table."""
    return not expected or all(match_names(header, [column.name for column in expected]))


def _empty_last_field(best: SampleReading, expected: Sequence[ExpectedColumn]) -> Decision:
    """The guess that the empty field at the end of each record is one."""
    shorter = _by_position(best, expected, best.width - 1)
    return asked(
        "trailing_delimiter",
        f"The last of the {best.width} fields is always empty: the table takes {best.width} fields, and without its"
        f" numbered column {best.width - 1}.",
        answer("the last field is empty", _by_position(best, expected), trailing_delimiter=False),
        answer("each record ends in one more delimiter", shorter, trailing_delimiter=True),
    )


def _by_position(best: SampleReading, expected: Sequence[ExpectedColumn], width: int = 0) -> tuple[str, ...]:
    """The first values of the first record, `width` of them, with the columns into which they go by position."""
    columns = columns_by_position(expected, width or best.width)
    pairs = zip(columns, best.text_rows(1)[0], strict=False)
    return tuple(f"{column.name} = {value}" for column, value in pairs)[:PAIRS_SHOWN]

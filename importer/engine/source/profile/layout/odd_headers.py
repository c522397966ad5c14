"""Headers with another number of names than the records have fields, and a delimiter at the end of each record."""

from collections.abc import Sequence
from dataclasses import replace

from importer.engine.errors import SourceProblem
from importer.engine.source.decisions import Answer, Decision, Standing
from importer.engine.source.formats.header_names import match_names
from importer.engine.source.profile.candidates import DialectCandidate, read_candidate
from importer.engine.source.profile.expected_columns import ExpectedColumn, columns_by_position
from importer.engine.source.profile.layout.lines_above import LONGEST_SHOWN, Skipped
from importer.engine.source.records.boundary.lines import line_ends

PAIRS_SHOWN = 5


class OddHeader(SourceProblem):
    """The header has another number of names than all records have fields."""


def without_odd_header(
    sample: bytes, best: DialectCandidate, expected: Sequence[ExpectedColumn], final: bool
) -> tuple[DialectCandidate, int] | None:
    """The records below an odd header, with its size in bytes, if the fields can go into the columns by position.

    That is so if all records have as many fields as the table takes, and the names that are columns stand in the
    table's order; else None.
    """
    names = [column.name for column in expected]
    header = [value.decode(best.dialect.plain.encoding, "replace") for value in best.rows[0]]
    places = [names.index(name) for name in match_names(header, names) if name]
    if not columns_by_position(expected, best.width) or places != sorted(places):
        return None
    size = best.starts[1]
    below = read_candidate(sample[size:], best.dialect, final)
    return (below, size) if below.rows and all(len(row) == best.width for row in below.rows) else None


def odd_header(
    header: bytes, below: DialectCandidate, expected: Sequence[ExpectedColumn], lines_above: int, problem: str
) -> Skipped:
    """The lines of an odd header, left out as a guess. `below` has the records; `problem` says what is odd."""
    lines = line_ends(header, below.dialect.line_end)
    count = lines_above + lines
    answer = Answer(
        "the names do not count: the fields go in by position",
        f"--no-header --skip-rows {count}",
        (("header", False), ("skip_rows", count)),
        _by_position(below, expected),
    )
    decision = Decision(
        "header", "no", Standing.GUESSED, f"Line {count}: {problem} So its names tell no column.", answers=(answer,)
    )
    return Skipped(lines, len(header), decision)


def trailing_delimiter(
    sample: bytes, best: DialectCandidate, expected: Sequence[ExpectedColumn], final: bool, first_line: int
) -> tuple[DialectCandidate, Decision]:
    """The candidate with a trailing delimiter if each record and the header end in one.

    Records without a header that fill the table's columns by position have an empty last field. It is a guess if they
    fill them without that field, too. If the header has one name less than the records have fields, and the last field
    is always empty, a trailing delimiter is a guess.
    Raises OddHeader, with the line, if the header has another number of names than all records have fields.
    `first_line`: the number of the sample's first line.
    """
    none = Decision("trailing_delimiter", "no", Standing.RULE, "")
    names = [column.name for column in expected]
    rows, width = best.rows, best.width
    if len(rows) < 2 or width < 2:
        return best, none
    first, below = rows[0], rows[1:]
    if all(len(row) == width and not row[-1] for row in rows) and width > 2:
        if columns_by_position(expected, width) and best.header_row(names) is None:
            fills_both = bool(columns_by_position(expected, width - 1))
            return best, _empty_last_field(best, expected) if fills_both else none
        evidence = "Each record ends in one more delimiter, which is not taken for a field."
        reading = read_candidate(sample, replace(best.dialect, trailing_delimiter=True), final)
        return reading, Decision("trailing_delimiter", "yes", Standing.PROVED, evidence)
    if len(first) == width or any(len(row) != width for row in below):
        return best, none
    header = [value.decode(best.dialect.plain.encoding, "replace") for value in first]
    ends_empty = len(first) == width - 1 and not any(row[-1] for row in below)
    if ends_empty and (not names or all(match_names(header, names))):
        return _short_header(sample, best, header, final)
    line, below_header = (first_line + line_ends(sample, best.dialect.line_end, 0, at) for at in best.starts[:2])
    raise OddHeader(
        f"The header has {len(first)} name{'s' if len(first) != 1 else ''}, the records have {width} fields:"
        f" {', '.join(header)[:LONGEST_SHOWN]}.",
        where=f"line {line}",
        advice="Correct the header; or leave it out and name the columns: --no-header"
        f" --skip-rows {below_header - 1} --map '#1=COLUMN'."
        + (" If each record ends in one more delimiter: --trailing-delimiter." if ends_empty else ""),
    )


def _empty_last_field(best: DialectCandidate, expected: Sequence[ExpectedColumn]) -> Decision:
    """The guess that the empty field at the end of each record is one."""
    evidence = (
        f"The last of the {best.width} fields is always empty: the table takes {best.width} fields, and without its"
        f" numbered column {best.width - 1}."
    )
    answers = (
        Answer(
            "the last field is empty",
            "--no-trailing-delimiter",
            (("trailing_delimiter", False),),
            _by_position(best, expected),
        ),
        Answer(
            "each record ends in one more delimiter",
            "--trailing-delimiter",
            (("trailing_delimiter", True),),
            _by_position(best, expected, best.width - 1),
        ),
    )
    return Decision("trailing_delimiter", "no", Standing.GUESSED, evidence, answers=answers)


def _short_header(
    sample: bytes, best: DialectCandidate, header: Sequence[str], final: bool
) -> tuple[DialectCandidate, Decision]:
    reading = read_candidate(sample, replace(best.dialect, trailing_delimiter=True), final)
    record = tuple(value.decode(best.dialect.plain.encoding, "replace") for value in best.rows[1])
    pairs = tuple(f"{name} = {value}" for name, value in zip(header, record, strict=False))
    evidence = (
        f"The header has {len(header)} names, the records have {best.width} fields; the last one is always empty."
    )
    return reading, Decision(
        "trailing_delimiter",
        "yes",
        Standing.GUESSED,
        evidence,
        answers=(
            Answer(
                "each record ends in one more delimiter",
                "--trailing-delimiter",
                (("trailing_delimiter", True),),
                pairs,
            ),
        ),
    )


def _by_position(best: DialectCandidate, expected: Sequence[ExpectedColumn], width: int = 0) -> tuple[str, ...]:
    """The first values of the first record, `width` of them, with the columns into which they go by position."""
    columns = columns_by_position(expected, width or best.width)
    pairs = zip(columns, best.text_rows(1)[0], strict=False)
    return tuple(f"{column.name} = {value}" for column, value in pairs)[:PAIRS_SHOWN]

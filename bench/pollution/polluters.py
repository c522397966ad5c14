"""Pollutes the clean file in every way that the Pollock benchmark names, and keeps what is right for each.

After Vitagliano, Hameed, Jiang, Reisener, Wu, Naumann: Pollock: A Data Loading Benchmark, PVLDB 16(8), 2023. The clean
file is our own, with as many rows and columns as theirs; the pollutions, their number and their weights are theirs.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from bench.pollution.clean import Cell, Row, clean_rows

CRLF = "\r\n"
# The weight of a file: how often its pollution was found in the paper's survey of 3,712 files, divided by the number
# of files with that pollution.
MISSING_DELIMITER = EXTRA_DELIMITER = 0.36775
OTHER_DELIMITER, EXTRA_QUOTE = 0.142857, 0.0092593
MULTITABLE = 62.667


@dataclass(frozen=True)
class Format:
    """How rows become bytes."""

    delimiter: str = ","
    quote: str = '"'
    escape: str = '"'
    line_end: str = CRLF


@dataclass(frozen=True)
class PollutedFile:
    """A file, what is right for it, and the parameters with which the paper has it read.

    `header` has the cells of all header lines; `names` the names of the table's columns.
    """

    name: str
    content: bytes
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    names: tuple[str, ...]
    weight: float
    format: Format = Format()
    preamble: int = 0
    header_lines: int = 1

    @property
    def kind(self) -> str:
        """The pollution, without the row and the column."""
        return self.name.removesuffix(".csv").partition(" in ")[0]

    @property
    def in_row(self) -> bool:
        """Whether one row alone is polluted."""
        return " in row " in self.name


def polluted_files() -> Iterator[PollutedFile]:
    """All files: 22 that are polluted as a whole, and 2,268 in which one row is."""
    rows = clean_rows()
    yield from _payload(rows)
    yield from _headers(rows)
    yield from _tables(rows)
    yield from _formats(rows)
    for number in range(len(rows)):
        yield from _row_pollutions(rows, number)


def chosen(files: Iterable[PollutedFile], every: int) -> list[PollutedFile]:
    """Of these files those that are polluted as a whole, and of those with one bad row every `every`th."""
    return [file for number, file in enumerate(files) if not file.in_row or number % every == 0]


def _payload(rows: Sequence[Row]) -> Iterator[PollutedFile]:
    text = _text(rows)
    yield _file("clean", text, rows, 1)
    yield PollutedFile("empty.csv", b"", (), (), _names(rows), 15, header_lines=0)
    yield _file("no line end at the end", text.removesuffix(CRLF), rows, 184)
    yield _file("two line ends at the end", text + CRLF, rows, 5)


def _headers(rows: Sequence[Row]) -> Iterator[PollutedFile]:
    header, *data = rows
    yield replace(_file("no header", _text(data), rows, 470), header=(), header_lines=0)
    for lines in (2, 3):
        repeated = _file(f"{lines} header lines", _text([header] * (lines - 1) + [*rows]), rows, 47)
        yield replace(repeated, header=_names(rows) * lines, header_lines=lines)
    preamble = [[Cell(text), *[Cell("")] * (len(header) - 1)] for text in ("PREAMBLE", "")]
    yield replace(_file("preamble", _text([*preamble, *rows]), rows, 282), preamble=len(preamble))
    yield _file("header only", _text(rows[:1]), rows[:1], 3)
    yield _file("one row", _text(rows[:2]), rows[:2], 4)


def _tables(rows: Sequence[Row]) -> Iterator[PollutedFile]:
    """A second table below the first one: right is the first table alone."""
    narrow, same = [row[:-1] for row in rows[:-1]], rows[:-1]
    wide = [(*row, Cell("col1") if row is rows[0] else row[-1]) for row in rows[:-1]]
    for name, second in (("narrower", narrow), ("equal", same), ("wider", wide)):
        yield _file(f"second table, {name}", _text(rows) + _text(second), rows, MULTITABLE)


def _formats(rows: Sequence[Row]) -> Iterator[PollutedFile]:
    plain = Format()
    formats = {
        "line ends CR": (replace(plain, line_end="\r"), 7),
        "line ends LF": (replace(plain, line_end="\n"), 1691),
        "tab between fields": (replace(plain, delimiter="\t"), 4),
        "; between fields": (replace(plain, delimiter=";"), 834),
        "blank between fields": (replace(plain, delimiter=" "), 4),
        "comma and blank between fields": (replace(plain, delimiter=", "), 101),
        "quote '": (replace(plain, quote="'", escape="'"), 11),
        "escape backslash": (replace(plain, escape="\\"), 1),
        "no escape": (replace(plain, escape=""), 7),
    }
    for name, (form, weight) in formats.items():
        needs = [tuple(_quoted_if_needed(cell, form) for cell in row) for row in rows]
        yield replace(_file(name, _text(needs, form), rows, weight), format=form)


def _row_pollutions(rows: Sequence[Row], number: int) -> Iterator[PollutedFile]:
    row = rows[number]
    where = f"in row {number}"
    for at in range(len(row)):
        place = f"{where}, column {at}"
        if at:
            missing = _line(row[:at]) + _line(row[at:])
            yield _in_row(f"delimiter missing {place}", rows, number, missing, MISSING_DELIMITER)
        extra = ",".join([*map(_cell, row[:at]), "", *map(_cell, row[at:])])
        yield _in_row(f"delimiter added {place}", rows, number, extra, EXTRA_DELIMITER)
        yield _with_quote(f"quote added {place}", rows, number, at)
    yield _in_row(f"delimiter blank {where}", rows, number, " ".join(map(_cell, row)), OTHER_DELIMITER)


def _with_quote(name: str, rows: Sequence[Row], number: int, at: int) -> PollutedFile:
    """A quote before the value that is not escaped; it belongs to the value."""
    row = rows[number]
    cells = [_cell(cell) for cell in row]
    cells[at] = f'"{cells[at]}'
    right = [*rows]
    right[number] = tuple(cell.starting_with('"') if index == at else cell for index, cell in enumerate(row))
    return _file(name, _with_line(rows, number, ",".join(cells)), right, EXTRA_QUOTE)


def _in_row(name: str, rows: Sequence[Row], number: int, line: str, weight: float) -> PollutedFile:
    return _file(name, _with_line(rows, number, line), rows, weight)


def _with_line(rows: Sequence[Row], number: int, line: str) -> str:
    return _text(rows[:number]) + line + CRLF + _text(rows[number + 1 :])


def _file(name: str, text: str, rows: Sequence[Row], weight: float) -> PollutedFile:
    header, *data = ([cell.text for cell in row] for row in rows)
    return PollutedFile(f"{name}.csv", text.encode(), tuple(header), tuple(map(tuple, data)), tuple(header), weight)


def _names(rows: Sequence[Row]) -> tuple[str, ...]:
    return tuple(cell.text for cell in rows[0])


def _text(rows: Sequence[Sequence[Cell]], form: Format = Format()) -> str:
    return "".join(_line(row, form) + form.line_end for row in rows)


def _line(row: Sequence[Cell], form: Format = Format()) -> str:
    return form.delimiter.join(_cell(cell, form) for cell in row)


def _cell(cell: Cell, form: Format = Format()) -> str:
    if not cell.quoted:
        return cell.text
    return form.quote + cell.text.replace(form.quote, form.escape + form.quote) + form.quote


def _quoted_if_needed(cell: Cell, form: Format) -> Cell:
    return replace(cell, quoted=cell.quoted or form.delimiter in cell.text)

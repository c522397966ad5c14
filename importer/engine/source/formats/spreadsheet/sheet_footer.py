"""The rows at the end of a sheet that are no records: a total, or a few cells below a blank row."""

from collections import deque
from collections.abc import Iterator, Sequence

from importer.engine.source.decisions import Decision, Standing
from importer.engine.source.formats.footer import MOST_FOOTER_LINES, LastLine, count_footer, footer_question
from importer.engine.source.formats.format import Wanted
from importer.engine.source.formats.spreadsheet.cells import Row, Rows, filled, shown_rows, text_of

# A larger sheet is not read to its end before the import: a page would wait for it.
MOST_CELLS = 50_000


class SheetFooter:
    """How many rows at the end of a sheet are left out, by these rows and what is stated.

    `left_out`: their number, blank ones between them included. `sampled`: "skip_footer" if the sheet shows as many,
    as Dialect.sampled.
    """

    def __init__(self, rows: Rows, first: int, usual_cells: int, wanted: Wanted) -> None:
        """`first`: the number of the header or the first record. `usual_cells`: how many have a value in most rows."""
        self._stated: int | None = wanted.stated.get("skip_footer")
        last = _last_rows(rows, first) if self._stated != 0 and usual_cells > 1 else None
        found = count_footer(_upwards(last, usual_cells)) if last else 0
        self.left_out = found if self._stated is None else self._stated
        self.sampled = ("skip_footer",) if last is not None and self.left_out == found else ()
        self._rows = [row for row in last if row.number > last[-1].number - found] if last else []

    def decisions(self) -> Iterator[Decision]:
        """The question about the rows, if the sheet shows them; that they were stated."""
        if self._stated is not None:
            yield Decision("skip_footer", str(self.left_out), Standing.STATED, "")
        elif self._rows:
            yield footer_question(self.left_out, shown_rows(self._rows))


def _last_rows(rows: Rows, first: int) -> list[Row] | None:
    """The last rows below the first one; None for a sheet that is too large."""
    last: deque[Row] = deque(maxlen=MOST_FOOTER_LINES + 1)
    cells = 0
    for row in rows:
        cells += len(row.cells)
        if cells > MOST_CELLS:
            return None
        if row.number > first:
            last.append(row)
    return list(last)


def _upwards(last: Sequence[Row], usual_cells: int) -> Iterator[LastLine]:
    """The rows from the last one on, with the blank ones between them."""
    below = last[-1].number + 1
    for row in reversed(last):
        if row.number < below - 1:
            yield LastLine("", short=True, blank=True)
        first = next(filter(None, map(text_of, row.cells)), "")
        yield LastLine(first, filled(row.cells) < usual_cells)
        below = row.number


def above_footer(rows: Rows, left_out: int) -> Rows:
    """The rows without the last ones; blank rows below them do not count."""
    if not left_out:
        yield from rows
        return
    held: deque[Row] = deque()
    for row in rows:
        while held and held[0].number <= row.number - left_out:
            yield held.popleft()
        held.append(row)
    while held and held[0].number <= held[-1].number - left_out:
        yield held.popleft()

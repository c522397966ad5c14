"""The table of imports: any facts as columns, each sortable."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace

from dashboard.history.labels import short, title
from dashboard.history.url_state import USUAL, View
from importer.engine.units import count_of
from importer.history.facts import FACTS, Fact, Group, Value
from importer.history.formatting import in_words
from importer.history.query import Condition, Op, Query
from importer.history.read import column
from importer.history.regressions import RATE
from importer.history.search import Page, Row, matching, page
from importer.models import ImportJob
from importer.models.outcomes import PREVIEWED, RESTORED, SUCCEEDED, WITH_REJECTS, words_of
from importer.models.outcomes.looks import look_of

# Facts that the rows' badges depend on, in addition to the columns.
ABOUT_BADGES = (
    "status", "problem", "rejected_rows", "restored", "slower_than_like", RATE, "like_rows_per_second", "like_imports",
)  # fmt: skip

# Of the usual columns, those of the card that an import is on a phone, and their classes.
ON_A_CARD = {
    "ended": "card-ended",
    "table": "card-table-name",
    "rows_per_second": "card-rate",
    "total_seconds": "card-total",
}


@dataclass(frozen=True)
class Heading:
    """A column's heading. `order`: "ascending", "descending" or ""; `address`: the view sorted by this column.

    If the table is sorted by the column already, `address` reverses the order.
    """

    name: str
    title: str
    about: str
    order: str
    address: str
    is_number: bool

    @property
    def orders(self) -> tuple[tuple[str, str], ...]:
        """How the table is sorted by the column, and each in words; the more usual way first."""
        up, down = (self.name, f"{self.title} ↑"), (f"-{self.name}", f"{self.title} ↓")
        return (down, up) if self.is_number else (up, down)


@dataclass(frozen=True)
class Cell:
    """A value in short form, under its column's `heading`; `words` is the value with its unit.

    `on_card`: of the usual columns, the value's place on the card of a phone, which leaves out those that are
    "secondary"; "" where somebody has chosen the columns.
    """

    heading: str
    text: str
    words: str
    is_number: bool
    on_card: str


@dataclass(frozen=True)
class Badge:
    """A short label on an import, with its explanation and one of Tabler's colours."""

    text: str
    about: str
    colour: str


@dataclass(frozen=True)
class Line:
    """A row of the table: the import and its cells, without the first column, which links to the import.

    `has_page`: the import is not deleted.
    """

    job: int
    has_page: bool
    cells: tuple[Cell, ...]
    badges: tuple[Badge, ...]


@dataclass(frozen=True)
class Table:
    """One page of imports.

    `sort`: the heading that it is sorted by, which may be no column. `others`: number and address of the pages to link
    to, None where some are left out.
    """

    headings: tuple[Heading, ...]
    sort: Heading
    lines: tuple[Line, ...]
    page: Page
    others: tuple[tuple[int, str] | None, ...]


def table(view: View) -> Table:
    """The page of imports that the view selects."""
    query = view.query
    wanted = replace(query, columns=tuple(dict.fromkeys((*query.columns, *ABOUT_BADGES))))
    rows_page = page(wanted)
    fastest = _fastest(view.table)
    pages = set(ImportJob.objects.filter(pk__in=[row.job for row in rows_page.rows]).values_list("pk", flat=True))
    return Table(
        tuple(_heading(name, view) for name in _shown(view)),
        _heading(view.sort.removeprefix("-"), view),
        tuple(_line(row, view, fastest, pages) for row in rows_page.rows),
        rows_page,
        tuple(_pages(rows_page, view)),
    )


def _shown(view: View) -> tuple[str, ...]:
    """The columns, without the table's name where all imports are into one table and nobody has chosen columns."""
    hidden = {"table"} if view.table and view.columns == USUAL else set()
    return tuple(each for each in view.columns if each not in hidden)


def _heading(name: str, view: View) -> Heading:
    about = FACTS[name]
    first = f"-{name}" if about.kind.is_number else name
    following = {f"-{name}": name, name: f"-{name}"}.get(view.sort, first)
    order = {f"-{name}": "descending", name: "ascending"}.get(view.sort, "")
    return Heading(name, title(name), about.title, order, view.but(sort=following), about.kind.is_number)


def _line(row: Row, view: View, fastest: set[int], pages: set[int]) -> Line:
    cells = (_cell(name, row.facts.get(name), _on_card(name, view)) for name in _shown(view) if name != "job")
    return Line(row.job, row.job in pages, tuple(cells), tuple(_badges(row, fastest)))


def _on_card(name: str, view: View) -> str:
    """The place of a value on a card; "" if the columns are not the usual ones."""
    return ON_A_CARD.get(name, "secondary") if view.columns == USUAL else ""


def _cell(name: str, value: Value | None, on_card: str) -> Cell:
    return Cell(title(name), short(name, value), in_words(name, value), FACTS[name].kind.is_number, on_card)


def _badges(row: Row, fastest: set[int]) -> Iterable[Badge]:
    rejected, restored = int(row.facts.get("rejected_rows", 0)), bool(row.facts.get("restored"))
    status, problem = str(row.facts.get("status", "")), str(row.facts.get("problem", ""))
    ended = look_of(words_of(status, rejected, problem, restored=restored))
    if ended is RESTORED:
        yield Badge(
            ended.words, "It was taken back: the old table, or the old rows, are there again.", ended.colour.css
        )
    elif ended is WITH_REJECTS:
        yield Badge(ended.words, f"{rejected:,} of its rows are not in the table.", ended.colour.css)
    elif ended is PREVIEWED:
        yield Badge(ended.words, "It compared the file with the table, and changed nothing.", ended.colour.css)
    elif "status" in row.facts and ended is not SUCCEEDED:
        yield Badge(ended.words, "It did not load the whole file.", ended.colour.css)
    if row.facts.get("slower_than_like"):
        yield Badge("slower than similar imports", _compared_with_peers(row.facts), "yellow")
    if row.job in fastest:
        yield Badge("best", "The most rows a second of all imports into this table on this target.", "green")


def _compared_with_peers(facts: dict[str, Value]) -> str:
    rate, median = (in_words(name, facts.get(name)) for name in (RATE, "like_rows_per_second"))
    peers = count_of(int(facts.get("like_imports") or 0), "import")
    return f"{rate} against {median}, the median of {peers} like it before."


def _fastest(table: str) -> set[int]:
    """For each target with several imports into `table`, the one with most rows per second; none without a table."""
    if not table:
        return set()
    imports = matching(Query((Condition("table", Op.IS, table),)))
    rates, targets = column(RATE, imports), column("target", imports)
    by_target: dict[Value | None, list[int]] = defaultdict(list)
    for job in rates:
        by_target[targets.get(job)].append(job)
    return {max(jobs, key=lambda job: rates[job]) for jobs in by_target.values() if len(jobs) > 1}


def _pages(shown: Page, view: View) -> Iterable[tuple[int, str] | None]:
    """The first page, the last, and the neighbours of this one; None marks a gap."""
    last = 0
    for number in range(1, shown.pages + 1):
        if number in (1, shown.pages) or abs(number - shown.number) < 2:
            if number > last + 1:
                yield None
            last = number
            yield number, view.but(page=number)


def chooser() -> list[tuple[Group, list[Fact]]]:
    """All facts by group."""
    return [(group, [each for each in FACTS.values() if each.group is group]) for group in Group]

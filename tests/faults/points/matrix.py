"""The matrix of points and faults with its results, as a table in Markdown; docs/faults.md holds it."""

import re
from collections.abc import Mapping
from pathlib import Path

from importer.engine.failpoints import POINTS
from tests.faults.points.table import FAULTS, REASONS, WITHOUT_TARGET, Case, cases
from tests.stack import ROOT

PAGE = ROOT / "docs" / "faults.md"
BEGIN, END = "<!-- the matrix, written by make faults -->\n", "<!-- the end of the matrix -->\n"
HELD, SKIPPED, BROKEN = "held", "not run", "broken"
# The result of a case: its server, point and fault; HELD, SKIPPED or BROKEN.
Results = Mapping[tuple[str, str, str], str]


def written(results: Results, flavours: list[str]) -> str:
    """The matrix: a line for each point, a column for each fault."""
    lines = [f"| point | what is true there | {' | '.join(FAULTS)} |", f"|---|---|{'---|' * len(FAULTS)}"]
    for point, meaning in POINTS.items():
        cells = [_cell(each, results, flavours) for each in cases([point])]
        lines.append(f"| `{point}` | {meaning} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _cell(case: Case, results: Results, flavours: list[str]) -> str:
    if case.why_left_out:
        return REASONS[case.why_left_out]
    tried = flavours[:1] if case.group in WITHOUT_TARGET else flavours
    found = [results.get((flavour, case.point, case.fault), SKIPPED) for flavour in tried]
    if BROKEN in found:
        return "**broken**"
    return str(found.count(HELD)) if HELD in found else SKIPPED


def legend() -> str:
    """What the faults do, which imports reach the points, and what the letters mean."""
    faults = "".join(f"- **{fault}**: {does}.\n" for fault, does in FAULTS.items())
    letters = "".join(f"- **{letter}**: {why}.\n" for why, letter in REASONS.items())
    return f"{faults}\nNot tried:\n\n{letters}"


def everything_held(flavours: list[str]) -> Results:
    """The results of a run without a failure."""
    return {(flavour, each.point, each.fault): HELD for flavour in flavours for each in cases(list(POINTS))}


def shown(page: Path = PAGE) -> str:
    """The part of the page that is written here."""
    found = re.search(f"{BEGIN}(.*){END}", page.read_text(), re.DOTALL)
    assert found, f"{page} has no place for the matrix"
    return found[1]


def show(text: str, page: Path = PAGE) -> None:
    """Write the part of the page."""
    page.write_text(page.read_text().replace(shown(page), text))

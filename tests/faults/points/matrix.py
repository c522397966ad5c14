"""The matrices of points with faults and with other hands, in Markdown with results; docs/faults.md holds them."""

import re
from collections.abc import Mapping
from pathlib import Path

from importer.engine.failpoints import POINTS
from tests.faults.points.hands import ACTIONS
from tests.faults.points.hands_table import EXPECTED, LEFT_OUT, MOMENTS, OUTCOMES, hand_cases
from tests.faults.points.table import FAULTS, REASONS, WITHOUT_TARGET, Case, cases
from tests.stack import ROOT

PAGE = ROOT / "docs" / "faults.md"
FAULTS_PART, HANDS_PART = "matrix", "matrix of hands"
BEGIN, END = "<!-- the {}, written by make faults -->\n", "<!-- the end of the {} -->\n"
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
    tried = [*((each.point, each.fault) for each in cases(list(POINTS))), *hand_cases()]
    return {(flavour, *each): HELD for flavour in flavours for each in tried}


def written_hands(results: Results, flavours: list[str]) -> str:
    """The matrix of other hands: a line for each action, a column for each moment, and a letter for each import."""
    lines = [f"| another session | {' | '.join(MOMENTS)} |", f"|---|{'---|' * len(MOMENTS)}"]
    for action in ACTIONS:
        cells = []
        for moment in MOMENTS:
            found = {results.get((flavour, moment, action), SKIPPED) for flavour in flavours}
            letters = EXPECTED[action][moment].strip("-")
            cells.append("**broken**" if BROKEN in found else SKIPPED if letters and SKIPPED in found else letters)
        lines.append(f"| {action} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def legend_of_hands() -> str:
    """What the letters mean, which imports are held where, and which points are left out."""
    letters = "".join(f"- **{letter}**: {what}.\n" for letter, what in OUTCOMES.items())
    moments = "".join(
        f"- **{name}**: {each.meaning} ({', '.join(f'`{point}`' for point in each.points[-1:])};"
        f" {', '.join(each.imports).replace('_', ' ')}).\n"
        for name, each in MOMENTS.items()
    )
    left_out = "".join(f"- {', '.join(f'`{each}`' for each in points)}: {why}.\n" for why, points in LEFT_OUT.items())
    return f"{letters}\nThe moments, with their points and imports:\n\n{moments}\nLeft out:\n\n{left_out}"


def shown(part: str = FAULTS_PART, page: Path = PAGE) -> str:
    """The part of the page that is written here."""
    found = re.search(f"{BEGIN.format(part)}(.*){END.format(part)}", page.read_text(), re.DOTALL)
    assert found, f"{page} has no place for the {part}"
    return found[1]


def show(text: str, part: str = FAULTS_PART, page: Path = PAGE) -> None:
    """Write the part of the page."""
    begin, end = BEGIN.format(part), END.format(part)
    page.write_text(page.read_text().replace(f"{begin}{shown(part, page)}{end}", f"{begin}{text}{end}"))

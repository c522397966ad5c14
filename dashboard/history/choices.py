"""What the page offers to choose from: tables, facts for each axis, comparisons and values for a condition."""

from dataclasses import dataclass

from dashboard.history.url_state import View
from importer.history.facts import FACTS, TIMINGS, Fact, Group, Kind, fact
from importer.history.query import UNKNOWN, Condition, Op, written
from importer.history.search import values_of

# A fact with more values than that is one to type.
MOST_VALUES = 200
WORDS = {Op.IS: "is", Op.IS_NOT: "is not", Op.CONTAINS: "contains"}
# Digests are to find imports that are alike, not to be read.
DIGESTS = ("settings_digest", "server_digest")


def facts(*groups: Group) -> tuple[Fact, ...]:
    """The facts of these groups, or of all."""
    return tuple(each for each in FACTS.values() if each.name not in DIGESTS and each.group in (groups or Group))


def timings() -> tuple[Fact, ...]:
    """What is drawn upwards."""
    return tuple(each for each in facts(Group.TIMING, Group.CHUNKS) if each in TIMINGS)


@dataclass(frozen=True)
class ComparisonChoice:
    """What a fact can be compared by, and with; `value` is what the form has had so far."""

    fact: Fact
    ops: list[tuple[str, str]]
    values: list[str]
    kind: str
    value: str = ""


def comparison_choice(name: str, value: str = "") -> ComparisonChoice:
    """Raises Problem if there is no fact of that name."""
    about = fact(name)
    ops = [op for op in Op if about.kind.is_number or op in WORDS]
    if about.kind.is_number:
        ops.remove(Op.CONTAINS)
    if about.kind is Kind.SWITCH:
        ops = [Op.IS, Op.IS_NOT]
    return ComparisonChoice(
        about, [(op.value, WORDS.get(op, op.value)) for op in ops], _values(about), _kind(about), value
    )


def _kind(about: Fact) -> str:
    """The type of the field."""
    return "date" if about.kind is Kind.MOMENT else "text"


def _values(about: Fact) -> list[str]:
    """Those that it has had, as a condition is written with them, and unknown."""
    if about.kind is Kind.MOMENT:
        return []
    offered = values_of(about.name)
    return [*(written(about.name, value) for value in offered[:MOST_VALUES]), UNKNOWN]


def chips(view: View) -> list[tuple[str, str]]:
    """Each condition in words, and the address without it."""
    return [
        (_condition_words(each), view.but(conditions=tuple(other for other in view.conditions if other != each)))
        for each in view.conditions
    ]


def _condition_words(condition: Condition) -> str:
    op = WORDS.get(condition.op, condition.op.value)
    return f"{FACTS[condition.name].title} {op} {condition.text}"

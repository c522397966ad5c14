"""The choices that the history page offers: facts for each axis, comparisons and values for a condition."""

from dataclasses import dataclass

from dashboard.history.url_state import View
from importer.history.facts import FACTS, TIMINGS, Fact, Group, Kind, fact
from importer.history.query import UNKNOWN, Condition, Op, written
from importer.history.search import values_of

# At most this many values are offered to choose from; others can be typed.
MOST_VALUES = 200
WORDS = {Op.IS: "is", Op.IS_NOT: "is not", Op.CONTAINS: "contains"}
# Digests serve to find similar imports; people do not read them.
DIGESTS = ("settings_digest", "server_digest")


def facts(*groups: Group) -> tuple[Fact, ...]:
    """The facts of these groups, or of all groups without an argument; digests are left out."""
    return tuple(each for each in FACTS.values() if each.name not in DIGESTS and each.group in (groups or Group))


def timings() -> tuple[Fact, ...]:
    """The facts for the vertical axis."""
    return tuple(each for each in facts(Group.TIMING, Group.CHUNKS) if each in TIMINGS)


@dataclass(frozen=True)
class ComparisonChoice:
    """The operators and values for a condition on a fact; `value` is the form's current one, `kind` its field type."""

    fact: Fact
    ops: list[tuple[str, str]]
    values: list[str]
    kind: str
    value: str = ""


def comparison_choice(name: str, value: str = "") -> ComparisonChoice:
    """The choices for a condition on the fact `name`. Raises Problem if there is no such fact."""
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
    """The HTML type of the field."""
    return "date" if about.kind is Kind.MOMENT else "text"


def _values(about: Fact) -> list[str]:
    """The stored values of the fact as a condition spells them, and UNKNOWN; none for moments."""
    if about.kind is Kind.MOMENT:
        return []
    offered = values_of(about.name)
    return [*(written(about.name, value) for value in offered[:MOST_VALUES]), UNKNOWN]


def chips(view: View) -> list[tuple[str, str]]:
    """Each condition in words, with the address of the view without it."""
    return [
        (_condition_words(each), view.but(conditions=tuple(other for other in view.conditions if other != each)))
        for each in view.conditions
    ]


def _condition_words(condition: Condition) -> str:
    op = WORDS.get(condition.op, condition.op.value)
    return f"{FACTS[condition.name].title} {op} {condition.text}"

"""A query of the history as a value, which URLs and command lines can write and read."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from operator import eq, ge, gt, le, lt, ne
from typing import Any

from importer.engine.errors import Problem
from importer.engine.units import parse_size, short_size
from importer.history.facts import FACTS, Fact, Kind, Value, fact

# The default columns.
USUAL = (
    "job",
    "ended",
    "table",
    "target",
    "flavour",
    "status",
    "method",
    "parallelism",
    "chunk_bytes",
    "indexes",
    "rows",
    "rows_per_second",
    "bytes_per_second",
    "total_seconds",
    "slower_than_like",
)
NEWEST_FIRST = "-ended"
ALL = "all"  # instead of the names of columns
PAGE_ROWS = 50
UNKNOWN = "unknown"
# Each import has a fixed cost, so that smaller ones load fewer rows per second. Within a factor of SIMILAR_SIZE the
# loss is less than a third of this cost.
SIMILAR_SIZE = 1.5


class Op(Enum):
    """Comparison operators: numbers by value, texts by code points; ~ finds a text within a text."""

    IS = "="
    IS_NOT = "!="
    LESS = "<"
    AT_MOST = "<="
    MORE = ">"
    AT_LEAST = ">="
    CONTAINS = "~"


_COMPARE: dict[Op, Callable[[Any, Any], bool]] = {
    Op.IS: eq,
    Op.IS_NOT: ne,
    Op.LESS: lt,
    Op.AT_MOST: le,
    Op.MORE: gt,
    Op.AT_LEAST: ge,
    Op.CONTAINS: lambda value, part: str(part).lower() in str(value).lower(),
}


@dataclass(frozen=True)
class Condition:
    """A fact compared with a value. None stands for unknown, which only equals unknown and has no order.

    `after`: of a day, of which `value` is the first moment, the first moment of the next one: each moment of the day
    equals it. None for other values.
    """

    name: str
    op: Op
    value: Value | None
    after: float | None = None

    @classmethod
    def read(cls, name: str, op: str, text: str) -> "Condition":
        """Read a condition such as `chunk_bytes >= 32M`, `ended >= 2026-11-01`, `lock_table = yes`, `status = failed`.

        Raises Problem if the fact or the operator does not exist, or if the fact cannot have the value.
        """
        about = fact(name)
        try:
            compared = Op(op)
        except ValueError:
            known = " ".join(each.value for each in Op)
            raise Problem(f"There is no comparison {op!r}.", advice=f"Choose one of {known}.") from None
        if compared is Op.CONTAINS and about.kind.is_number:
            raise Problem(f"{name} is a number, which ~ cannot search.", advice="Compare it with another one.")
        value = None if text.strip().lower() == UNKNOWN else _value(about, text.strip())
        if value is None and compared not in (Op.IS, Op.IS_NOT):
            raise Problem(
                f"Unknown values have no order, so {op} unknown never holds.", advice="Ask for = unknown or != unknown."
            )
        after = _moment(text.strip(), days=1) if value is not None and about.kind is Kind.MOMENT else None
        return cls(name, compared, value, after)

    @property
    def text(self) -> str:
        """The value as read() takes it."""
        text = UNKNOWN if self.value is None else written(self.name, self.value)
        return text if self.after is None else text.partition("T")[0]

    def holds(self, value: Value | None) -> bool:
        """Whether the condition holds for a fact's value; None: unknown."""
        if self.value is None:
            return (value is None) is (self.op is Op.IS)
        return value is not None and _COMPARE[self.op](self._same_day(value), self.value)

    def _same_day(self, value: Value) -> Value:
        """The value; of a moment on the condition's day, the first of that day."""
        if self.after is None or self.value is None:
            return value
        return self.value if float(self.value) <= float(value) < self.after else value

    @property
    def needs_all(self) -> bool:
        """Whether the condition holds for imports without the fact, so that all imports must be read."""
        return self.value is None and self.op is Op.IS

    @property
    def limits(self) -> tuple[Value | None, Value | None]:
        """The least and the greatest value for which it can hold; None: no limit. Texts have limits only for =."""
        text = isinstance(self.value, str)
        least = self.op is Op.IS or (self.op in (Op.MORE, Op.AT_LEAST) and not text)
        most = self.op is Op.IS or (self.op in (Op.LESS, Op.AT_MOST) and not text)
        return self.value if least else None, (self.after or self.value) if most else None


def of_similar_size(facts: Mapping[str, Value]) -> tuple[Condition, Condition]:
    """The conditions on imports whose rates may be compared with that of the import with these facts."""
    size = float(facts.get("data_bytes", 0))
    return (
        Condition("data_bytes", Op.AT_LEAST, size / SIMILAR_SIZE),
        Condition("data_bytes", Op.AT_MOST, size * SIMILAR_SIZE),
    )


def columns_of(names: Sequence[str]) -> tuple[str, ...]:
    """The columns of these names: the usual ones for none, and each fact for ALL."""
    return tuple(FACTS) if list(names) == [ALL] else tuple(names) or USUAL


@dataclass(frozen=True)
class Query:
    """Which imports, in which order, with which facts. `sort`: a fact's name, with "-" in front for descending order.

    Unknown values come last in both orders, and among equal values the newest import first. `page` counts from 1.
    """

    conditions: tuple[Condition, ...] = ()
    columns: tuple[str, ...] = USUAL
    sort: str = NEWEST_FIRST
    page: int = 1
    rows: int = PAGE_ROWS

    def __post_init__(self) -> None:
        for name in (*self.columns, self.sorted_by):
            fact(name)

    @property
    def sorted_by(self) -> str:
        return self.sort.removeprefix("-")

    @property
    def descending(self) -> bool:
        return self.sort.startswith("-")


def _value(about: Fact, text: str) -> Value:
    """A text as a value of the fact's kind."""
    value: Value | None
    match about.kind:
        case Kind.WORD | Kind.TEXT:
            return text
        case Kind.SWITCH:
            value = {"yes": True, "no": False}.get(text.lower())
        case Kind.BYTES:
            value = parse_size(text)
            value = _number(text) if value is None else value
        case Kind.MOMENT:
            value = _moment(text)
        case _:
            value = _number(text)
    if value is None:
        raise Problem(f"{about.name} cannot be {text!r}.", advice=f"Give {_WANTED.get(about.kind, 'a number')}.")
    return value


def written(name: str, value: Value) -> str:
    """A fact's value as conditions write it: 8388608 bytes as 8M."""
    match fact(name).kind:
        case Kind.WORD | Kind.TEXT:
            return str(value)
        case Kind.SWITCH:
            return "yes" if value else "no"
        case Kind.BYTES if float(value).is_integer():
            return short_size(int(value))
        case Kind.MOMENT:
            from django.utils import timezone  # Here, because the client of the API reads what stands above.

            moment = datetime.fromtimestamp(float(value), timezone.get_current_timezone()).replace(tzinfo=None)
            return moment.isoformat()
    return f"{value:.15g}"


_WANTED = {
    Kind.SWITCH: "yes or no",
    Kind.BYTES: "a size such as 512K, 32M or 1G",
    Kind.MOMENT: "a day such as 2026-11-20, or a time such as 2026-11-20T18:30",
}


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    # inf and nan cannot be written as JSON.
    return number if abs(number) < float("inf") else None


def _moment(text: str, days: int = 0) -> float | None:
    """Seconds since 1970, in the current time zone where the text names none; for a day, its first moment.

    `days` is added to a day. With `days`, a text that is not a day is None.
    """
    from django.utils import timezone  # Here, because the client of the API reads what stands above.
    from django.utils.dateparse import parse_date, parse_datetime

    try:
        day = parse_date(text)
        moment = datetime(day.year, day.month, day.day) + timedelta(days) if day else parse_datetime(text)
    except (ValueError, OverflowError):
        return None
    if not moment or (days and not day):
        return None
    return (timezone.make_aware(moment) if timezone.is_naive(moment) else moment).timestamp()

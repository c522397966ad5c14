"""Reads stored facts by column. No other module of the history reads them from the database."""

from collections.abc import Collection, Iterable, Sequence
from typing import TypeVar

from django.db.models import Count, Model, QuerySet

from importer.access.policy import seen, sees_everything
from importer.history.facts import FACTS, Kind, Value, fact
from importer.models import JobFact, JobRecord

# Up to this number of records, facts are looked up by record; above it, whole columns are read.
FEW = 500
_WHOLE = (Kind.NUMBER, Kind.BYTES)

Column = dict[int, Value]
Fact = TypeVar("Fact", bound=Model)


def recorded() -> list[int]:
    """The ids of all imports that have a record and that the acting person may see."""
    return list(_seen(JobRecord.objects.all(), "pk").values_list("pk", flat=True))


def _seen(facts: QuerySet[Fact], job: str) -> QuerySet[Fact]:
    """The facts of imports that the acting person may see. `job`: the field with the import's id."""
    if sees_everything():
        return facts
    return facts.filter(**{f"{job}__in": seen(JobRecord.objects.all()).values("pk")})


def column(name: str, among: Collection[int] | None = None) -> Column:
    """The known values of one fact, by import; limited to `among` if these are few. Raises Problem as fact() does."""
    return _column(name, among)


def _column(name: str, among: Collection[int] | None, **limits: Value) -> Column:
    kind = fact(name).kind
    rows = _seen(JobFact.objects.filter(name=name, **limits), "record_id")
    if among is not None and len(among) <= FEW:
        rows = rows.filter(record_id__in=among)
    pairs = rows.values_list("record_id", "number" if kind.is_number else "text")
    if kind is Kind.SWITCH:
        return {job: bool(value) for job, value in pairs}
    if kind in _WHOLE:
        return {job: int(value) if value.is_integer() else value for job, value in pairs}
    return dict(pairs)


def narrowed(name: str, at_least: Value | None, at_most: Value | None, among: Collection[int] | None) -> Column:
    """The known values of one fact as column() returns them, without most values outside the two limits.

    Texts that the collation of the database considers equal are all included, also in another case.
    """
    about = "number" if fact(name).kind.is_number else "text"
    limits = {f"{about}__gte": at_least, f"{about}__lte": at_most}
    return _column(name, among, **{limit: value for limit, value in limits.items() if value is not None})


def counted(name: str) -> dict[str, int]:
    """The number of imports for each value of a text fact, the most frequent first."""
    counts = (
        _seen(JobFact.objects.filter(name=name), "record_id").values_list("text").annotate(imports=Count("record_id"))
    )
    return dict(counts.order_by("-imports", "text"))


def columns(names: Iterable[str], among: Collection[int] | None = None) -> dict[str, Column]:
    """The known values of several facts, each as column() returns them."""
    return {name: column(name, among) for name in names}


def rows(jobs: Sequence[int], names: Collection[str] | None = None) -> dict[int, dict[str, Value]]:
    """The known facts of these imports, in their order; `names` None: all facts."""
    wanted = FACTS if names is None else names
    known: dict[int, dict[str, Value]] = {job: {} for job in jobs}
    stored = _seen(JobFact.objects.filter(name__in=list(wanted), record_id__in=jobs), "record_id")
    for job, name, number, text in stored.values_list("record_id", "name", "number", "text"):
        known[job][name] = _value(FACTS[name].kind, number, text)
    return known


def _value(kind: Kind, number: float | None, text: str) -> Value:
    if number is None:
        return text
    if kind is Kind.SWITCH:
        return bool(number)
    return int(number) if kind in _WHOLE and number.is_integer() else number

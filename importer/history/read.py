"""The facts as they are kept, read by column: the only place of the history that asks the database for them."""

from collections.abc import Collection, Iterable, Sequence

from django.db.models import Count

from importer.history.facts import FACTS, Kind, Value, fact
from importer.models import JobFact, JobRecord

# So few records are looked up one by one; of more, whole columns are read.
FEW = 500
_WHOLE = (Kind.NUMBER, Kind.BYTES)

Column = dict[int, Value]


def recorded() -> list[int]:
    """The ids of all imports that have a record."""
    return list(JobRecord.objects.values_list("pk", flat=True))


def column(name: str, among: Collection[int] | None = None) -> Column:
    """What is known of one fact, by import; of those `among` only, where these are few. Raises Problem as fact()."""
    return _column(name, among)


def _column(name: str, among: Collection[int] | None, **limits: Value) -> Column:
    kind = fact(name).kind
    rows = JobFact.objects.filter(name=name, **limits)
    if among is not None and len(among) <= FEW:
        rows = rows.filter(record_id__in=among)
    found = rows.values_list("record_id", "number" if kind.is_number else "text")
    if kind is Kind.SWITCH:
        return {job: bool(value) for job, value in found}
    if kind in _WHOLE:
        return {job: int(value) if value.is_integer() else value for job, value in found}
    return dict(found)


def narrowed(name: str, at_least: Value | None, at_most: Value | None, among: Collection[int] | None) -> Column:
    """The same as column(), without most of what lies outside of the two values, if they are given.

    Texts that the database takes for equal are all there, whatever their case.
    """
    about = "number" if fact(name).kind.is_number else "text"
    limits = {f"{about}__gte": at_least, f"{about}__lte": at_most}
    return _column(name, among, **{limit: value for limit, value in limits.items() if value is not None})


def counted(name: str) -> dict[str, int]:
    """How many imports have each value of a fact that is a text, the most first."""
    found = JobFact.objects.filter(name=name).values_list("text").annotate(imports=Count("record_id"))
    return dict(found.order_by("-imports", "text"))


def columns(names: Iterable[str], among: Collection[int] | None = None) -> dict[str, Column]:
    """The same of several facts."""
    return {name: column(name, among) for name in names}


def rows(jobs: Sequence[int], names: Collection[str] | None = None) -> dict[int, dict[str, Value]]:
    """What is known of these imports, in their order: of the facts with those names, None for all that there are."""
    wanted = FACTS if names is None else names
    found: dict[int, dict[str, Value]] = {job: {} for job in jobs}
    kept = JobFact.objects.filter(name__in=list(wanted), record_id__in=jobs)
    for job, name, number, text in kept.values_list("record_id", "name", "number", "text"):
        found[job][name] = _value(FACTS[name].kind, number, text)
    return found


def _value(kind: Kind, number: float | None, text: str) -> Value:
    if number is None:
        return text
    if kind is Kind.SWITCH:
        return bool(number)
    return int(number) if kind in _WHOLE and number.is_integer() else number

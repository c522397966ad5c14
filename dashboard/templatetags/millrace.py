"""How pages write numbers, sizes, rates and times. `{% load millrace %}`; a value that is None shows as nothing."""

import re
from collections import Counter
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from django import template
from django.template import Context

from importer.models import ImportJob, Lab, Run
from importer.preparation.plan_sql import plan_sql as statements_of

register = template.Library()

_SIZES = ((10**12, "TB"), (10**9, "GB"), (10**6, "MB"), (10**3, "kB"))
_COMPACT = ((10**9, "G"), (10**6, "M"), (10**3, "k"))
_BINARY_SIZES = ((2**20, "MiB"), (2**30, "GiB"))
_STATEMENTS = re.compile(r"((?:\b(?:SET|GRANT|REVOKE|CREATE|ALTER|DROP) [^;]+;\s*)+)")
_FINDING_NAMES = {"tls": "TLS", "sign_in": "Sign-in", "local_infile": "local_infile", "sql_mode": "sql_mode"}
_STATUS_COLOUR: dict[str, str] = {
    ImportJob.Status.SUCCEEDED: "green",
    ImportJob.Status.FAILED: "red",
    ImportJob.Status.FAILING: "red",
    ImportJob.Status.PAUSED: "yellow",
    ImportJob.Status.LOADING: "azure",
    ImportJob.Status.FINISHING: "azure",
    ImportJob.Status.INDEXING: "azure",
    ImportJob.Status.VERIFYING: "azure",
    Lab.Status.PREPARING: "azure",
    Lab.Status.RUNNING: "azure",
    Lab.Status.ENDING: "azure",
    Lab.Status.DONE: "green",
    Run.Status.FINDING: "azure",
}


@register.filter
def number(value: int | None) -> str:
    """1234567 -> "1,234,567"."""
    return "" if value is None else f"{value:,}"


@register.filter
def size(value: int | None) -> str:
    """Bytes: whole gibibytes or mebibytes as such ("32 MiB": what people set), all else decimal ("3.70 GB")."""
    if value is None:
        return ""
    for unit, name in _BINARY_SIZES:
        if 0 < value < 1024 * unit and value % unit == 0:
            return f"{value // unit} {name}"
    for unit, name in _SIZES:
        if value >= unit:
            return f"{_three_digits(value / unit)} {name}"
    return f"{value} bytes"


@register.filter
def rate(value: float | None) -> str:
    """Rows per second, short: 950 -> "950", 41234 -> "41.2k", 1240000 -> "1.24M"."""
    if value is None:
        return ""
    for unit, name in _COMPACT:
        if value >= unit:
            return f"{_three_digits(value / unit)}{name}"
    return _three_digits(value)


@register.filter
def megabytes_per_second(value: float | None) -> str:
    """31.72 -> "31.7 MB/s"."""
    return "" if value is None else f"{_three_digits(value)} MB/s"


@register.filter
def duration(value: float | timedelta | None) -> str:
    """Seconds: 0.42 -> "0.42 s", 12.34 -> "12.3 s", 113 -> "1 min 53 s", 3725 -> "1 h 2 min"."""
    if value is None:
        return ""
    seconds = value.total_seconds() if isinstance(value, timedelta) else value
    if seconds < 59.95:
        return f"{_three_digits(seconds)} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min"


@register.filter
def roughly(value: float | None) -> str:
    """Seconds that are only reckoned, or were chosen: 32.2 -> "32 s", 145 -> "2 min", 7300 -> "2 h 2 min"."""
    if value is None:
        return ""
    if value < 90:
        return f"{round(value)} s"
    hours, minutes = divmod(round(value / 60), 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"


@register.filter
def get(values: dict[Any, Any], key: object) -> Any:
    """What a dictionary has for a key that is not known to the template beforehand; None for nothing."""
    return values.get(key)


@register.filter
def seconds_until(start: datetime | None, end: datetime | None) -> float | None:
    """Seconds from one moment to another, for `duration`; None while one of them is not known."""
    return (end - start).total_seconds() if start and end else None


@register.filter
def percent(part: float | None, whole: float | None) -> int:
    """A part of a whole in whole percent, rounded down: 100 means all of it."""
    return int(100 * (part or 0) / whole) if whole else 0


@register.filter
def share(part: int, whole: int | None) -> str:
    """A part of a whole with what digits tell something: "12 %", "0.3 %", "< 0.1 %"."""
    if not whole:
        return ""
    percents = 100 * part / whole
    if percents < 0.1:
        return "< 0.1 %"
    return f"{percents:.1f} %" if percents < 10 else f"{percents:.0f} %"


@register.filter
def factor(value: float | None) -> str:
    """How many times something is of something else: 1.8 -> "1.80", 0.471 -> "0.47"."""
    return "" if value is None else _three_digits(value)


@register.filter
def method_name(method: str) -> str:
    """The engine's name of a method as people know it: "load_data_local" -> "LOAD DATA LOCAL"."""
    return method.replace("_", " ").upper()


@register.filter
def status_colour(status: str) -> str:
    """Tabler's colour for the status of a job, a lab or a schedule's run; azure for what is under way."""
    return _STATUS_COLOUR.get(status, "secondary")


@register.filter
def outcome(findings: list[dict[str, str]]) -> Counter[str]:
    """How many findings of a target's check there are of each status: "ok", "warn", "fail"."""
    return Counter(each["status"] for each in findings)


@register.filter
def worst_first(findings: list[dict[str, str]]) -> list[dict[str, str]]:
    """The same findings, what has to be mended before what is as it should be."""
    return sorted(findings, key=lambda each: ("fail", "warn", "ok").index(each["status"]))


@register.filter
def finding_name(name: str) -> str:
    """A finding's name as a heading: "buffer_pool" -> "Buffer pool"; the server's own settings as they are."""
    return _FINDING_NAMES.get(name, name.replace("_", " ").capitalize())


@register.filter
def fix_parts(fix: str) -> list[dict[str, str]]:
    """A finding's fix in pieces: {"sql": statements to copy} or {"text": what to do besides}, in their order."""
    pieces = enumerate(_STATEMENTS.split(fix))
    return [{"sql" if number % 2 else "text": piece.strip()} for number, piece in pieces if piece.strip()]


@register.filter
def plan_sql(plan: dict[str, Any]) -> list[tuple[str, str]]:
    """The exact SQL of a plan as JSON: when, and the statements that run then."""
    return list(statements_of(plan))


@register.simple_tag(takes_context=True)
def with_query(context: Context, **changes: Any) -> str:
    """This page's query string with some parameters changed; an empty value takes its parameter away."""
    query = {**context["request"].GET.dict(), **changes}
    return "?" + urlencode({name: value for name, value in query.items() if value not in ("", None)})


@register.inclusion_tag("dashboard/_sort.html", takes_context=True)
def sort_link(context: Context, name: str, label: str, first: str = "") -> dict[str, str]:
    """A column's heading that sorts by it and, once it does, the other way round. `first="-"`: greatest first."""
    now = context["sort"]
    following = {f"-{name}": name, name: f"-{name}"}.get(now, first + name)
    arrow = {f"-{name}": "↓", name: "↑"}.get(now, "")
    return {"label": label, "arrow": arrow, "query": with_query(context, sort=following, page="")}


def _three_digits(value: float) -> str:
    """Three significant digits without an exponent: 0.42, 3.7 -> "3.70", 31.7, 412."""
    if value >= 99.95:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 9.995 else f"{value:.2f}"

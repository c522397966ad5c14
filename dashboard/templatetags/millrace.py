"""Template filters and tags of all pages: `{% load millrace %}`."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from django import template
from django.template import Context

from dashboard import formatting
from dashboard.fields.advice import in_browser
from dashboard.fields.format_fields import FORMAT_FIELDS
from dashboard.fields.standings import standing_words
from importer.engine.errors import one_reason
from importer.engine.mapping.date_formats import format_words
from importer.engine.mysql.sign_in.reasons import shown
from importer.engine.plan.plan import ImportPlan
from importer.engine.plan.stored_plan import plan_from_json
from importer.jobs.same_table import SameTable, imports_under_way
from importer.models import ImportJob, Target
from importer.models.outcomes import words_of
from importer.models.outcomes.looks import look_of
from importer.models.outcomes.sequels import told, told_of_run
from importer.preparation.plan_sql import plan_sql as statements_of
from importer.sources.room import Disk, fullest_disk
from importer.worker.hosts.installation import State, state

register = template.Library()
for _format in (
    formatting.number,
    formatting.size,
    formatting.rate,
    formatting.byte_rate,
    formatting.duration,
    formatting.roughly,
    formatting.seconds_until,
    formatting.percent,
    formatting.share,
    formatting.factor,
    formatting.time_after,
    formatting.when,
):
    register.filter(_format)

register.filter(in_browser)
register.filter("date_format_words", format_words)
register.filter(standing_words)
register.filter("outcome_words", words_of)
register.filter("outcome_of_job", told)
register.filter("outcome_of_run", told_of_run)


@register.filter
def shown_problem(problem: Mapping[str, Any]) -> Mapping[str, Any]:
    """A stored problem, without the reason why there is no connection if the reader may not know it."""
    return shown(problem)


register.filter(one_reason)

_STATEMENTS = re.compile(r"((?:\b(?:SET|GRANT|REVOKE|CREATE|ALTER|DROP) [^;]+;\s*)+)")
_FINDING_NAMES = {"tls": "TLS", "sign_in": "Sign-in", "local_infile": "local_infile", "sql_mode": "sql_mode"}


@register.filter
def get(values: dict[Any, Any], key: object) -> Any:
    """The value for a key that is a variable in the template; None if the key is missing."""
    return values.get(key)


@register.filter
def those_with(values: Sequence[Mapping[str, Any]], key: str) -> list[Mapping[str, Any]]:
    """The values of which the key is true."""
    return [each for each in values if each.get(key)]


@register.filter
def at(values: Sequence[Any], number: int) -> Any:
    """The value at a position, from 0, that is a variable in the template; None behind the last one."""
    return values[number] if number < len(values) else None


@register.filter
def method_name(method: str) -> str:
    """The name of a method for people: "load_data_local" -> "LOAD DATA LOCAL"."""
    return method.replace("_", " ").upper()


@register.filter
def status_colour(status: str) -> str:
    """Tabler's colour for the word of a state or an outcome of an import, a lab or a schedule's run."""
    return look_of(status).colour.css


@register.filter
def status_icon(status: str) -> str:
    """The template of the icon for the word of a state or an outcome; "" for what is under way, which has a dot."""
    icon = look_of(status).icon
    return f"shared/icons/{icon}.html" if icon else ""


@register.filter
def outcome(findings: list[dict[str, str]]) -> Counter[str]:
    """The number of findings of each status: "ok", "warn", "fail"."""
    return Counter(each["status"] for each in findings)


@register.filter
def worst_first(findings: list[dict[str, str]]) -> list[dict[str, str]]:
    """The findings, failures first."""
    return sorted(findings, key=lambda each: ("fail", "warn", "ok").index(each["status"]))


@register.filter
def finding_name(name: str) -> str:
    """The name of a finding as a heading: "buffer_pool" -> "Buffer pool"; names of server settings stay unchanged."""
    return _FINDING_NAMES.get(name, name.replace("_", " ").capitalize())


@register.filter
def decision_name(decision: Mapping[str, Any]) -> str:
    """What a stored decision about a file is about, in the words of the form: "Skip last lines", "Column of price"."""
    name = decision["name"]
    label = FORMAT_FIELDS[name].label if name in FORMAT_FIELDS else finding_name(name)
    if name == "mapping":
        label = "Column"
    return f"{label} of {decision['field']}" if decision["field"] else label


@register.filter
def fix_parts(fix: str) -> list[dict[str, str]]:
    """A finding's fix in parts, in order: {"sql": statements to copy} or {"text": other advice}."""
    pieces = enumerate(_STATEMENTS.split(fix))
    return [{"sql" if number % 2 else "text": piece.strip()} for number, piece in pieces if piece.strip()]


@register.filter
def plan_sql(plan: ImportPlan | dict[str, Any]) -> list[tuple[str, str]]:
    """The exact SQL of a plan, also of a plan as JSON: pairs of the moment and the statements that run then."""
    return list(statements_of(plan if isinstance(plan, ImportPlan) else plan_from_json(plan)))


@register.simple_tag(takes_context=True)
def with_query(context: Context, **changes: Any) -> str:
    """The page's query string with some parameters changed; an empty value removes its parameter."""
    query = {**context["request"].GET.dict(), **changes}
    return "?" + urlencode({name: value for name, value in query.items() if value not in ("", None)})


@register.simple_tag
def installation() -> State:
    """Whether workers, queues and the store are well: every page says what stops imports."""
    return state()


@register.simple_tag
def low_disk() -> Disk | None:
    """The fullest disk that Millrace writes to, if admins are to be warned of it."""
    disk = fullest_disk()
    return disk if disk.is_low else None


@register.simple_tag
def imports_into(target: Target, schema: str, table: str, other_than: ImportJob | None = None) -> SameTable:
    """The imports under way into a table, without `other_than`."""
    return imports_under_way(target, schema, table, other_than)


@register.inclusion_tag("shared/_sort.html", takes_context=True)
def sort_link(context: Context, name: str, label: str, first: str = "") -> dict[str, str]:
    """A column's heading as a link that sorts by the column, then in reverse. `first="-"`: descending first."""
    now = context["sort"]
    following = {f"-{name}": name, name: f"-{name}"}.get(now, first + name)
    arrow = {f"-{name}": "↓", name: "↑"}.get(now, "")
    return {"label": label, "arrow": arrow, "sort": following, "query": with_query(context, sort=following, page="")}

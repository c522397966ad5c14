"""Decides the time zone of the loading sessions, in which the server reads and shows TIMESTAMP values."""

from collections.abc import Iterator

from importer.engine.mysql.connection import UTC
from importer.engine.plan.plan import Reason
from importer.engine.planner.context import PlanningContext
from importer.engine.schema.column_types import Family

# The server's time_zone if it follows its machine, whose zone is then in system_time_zone.
SYSTEM = "SYSTEM"
_OF_FILE = "the dump sets this zone (SET TIME_ZONE)"
_OF_SERVER = "the server's own zone, as LOAD DATA reads them"
_NAMES_OF_UTC = frozenset({"UTC", "GMT", "ETC/UTC", "ETC/GMT", "UCT", "UNIVERSAL", "ZULU", UTC})


def session_zone(context: PlanningContext) -> str:
    """The sessions' time_zone: as requested, otherwise as the file states, otherwise the server's own.

    UTC is +00:00, under any of its names.
    """
    variables = context.server.variables
    zone = context.options.time_zone or context.dialect.time_zone or variables.get("time_zone", SYSTEM)
    known_as = variables.get("system_time_zone", "") if zone.upper() == SYSTEM else zone
    return UTC if known_as.upper() in _NAMES_OF_UTC else zone


def time_zone_reasons(context: PlanningContext) -> Iterator[Reason]:
    """Says in which zone TIMESTAMP values are read, if any are loaded and the zone is stated or not UTC."""
    zone, requested, of_file = session_zone(context), context.options.time_zone, context.dialect.time_zone
    names = [each.column for each in context.mapping if each.column and _has_epoch(context, each.column)]
    if not names or (zone == UTC and not requested and not of_file):
        return
    shown = _shown(context, zone)
    why = "as requested" if requested else f"{_OF_FILE if of_file else _OF_SERVER}; another one: --time-zone"
    named = "" if zone[:1] in "+-" else "; an hour that the clocks skip is rejected, one that they repeat is the first"
    yield Reason(f"Times of {', '.join(names)} are read as times in {shown}", f"{why}{named}")


def _has_epoch(context: PlanningContext, name: str) -> bool:
    type_ = context.table.column(name).column_type
    return type_.family is Family.MOMENT and type_.has_epoch


def _shown(context: PlanningContext, zone: str) -> str:
    if zone == UTC:
        return "UTC"
    if zone.upper() != SYSTEM:
        return zone
    return f"the zone of the server's machine ({context.server.variables.get('system_time_zone', 'unknown')})"

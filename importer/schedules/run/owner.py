"""What a schedule's owner must be granted: when the schedule is saved, and again before a run uses the connection."""

from importer.access.acting import acting_as
from importer.access.policy import require
from importer.models import Level, Schedule


def require_grants(schedule: Schedule) -> None:
    """Raise Forbidden unless the acting person may load into the table, and use the connection."""
    require(Level.LOAD, schedule.target, schedule.schema_name, schedule.table_name)
    require(Level.LOAD, schedule.connection)


def require_grants_of_owner(schedule: Schedule) -> None:
    """Raise Forbidden unless the schedule's owner has the grants still: they may have ended since it was saved."""
    with acting_as(schedule.created_by):
        require_grants(schedule)

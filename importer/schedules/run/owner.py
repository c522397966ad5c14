"""What the owner of a schedule must be granted: when the schedule is saved, and again for each file of a run."""

from importer.access.policy import require
from importer.models import Level, Schedule


def require_grants(schedule: Schedule) -> None:
    """Raise Forbidden unless the acting person may load into the table, and use the connection."""
    require(Level.LOAD, schedule.target, schedule.schema_name, schedule.table_name)
    require(Level.LOAD, schedule.connection)

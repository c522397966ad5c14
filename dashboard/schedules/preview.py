"""The preview of a schedule while it is entered: when it would run, and the files that it would find now."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, tzinfo

from django.utils import timezone

from dashboard.formatting import entered_number
from importer import schedules
from importer.access.policy import require, seen
from importer.access.time_zones import zone_named
from importer.connections import operations
from importer.connections.listed_files import ListedFile
from importer.engine.errors import Problem
from importer.models import ImportJob, Level, Schedule, SourceConnection
from importer.schedules import recurrence

MOST_FILES = 8
TIMES = 5


@dataclass(frozen=True)
class When:
    """When the schedule would run: in words, and the next times in its zone; or the problem."""

    words: str = ""
    times: list[datetime] = field(default_factory=list)
    problem: Problem | None = None


@dataclass(frozen=True)
class Files:
    """The first matching files and their number, or the problem. `total` is None if nothing was searched.

    `connection`: whether one is chosen.
    `known`: by name, what the import that the schedule is made from has to do with a file.
    """

    first: list[ListedFile] = field(default_factory=list)
    total: int | None = None
    problem: Problem | None = None
    known: dict[str, str] = field(default_factory=dict)
    connection: bool = True

    @property
    def more(self) -> int:
        return (self.total or 0) - len(self.first)


def when(entered: Mapping[str, str]) -> When:
    """When a schedule with these form fields would run."""
    trigger = entered.get("trigger")
    if trigger == Schedule.Trigger.ARRIVAL:
        return When("As soon as a new file is there")
    cron = " ".join(entered.get("cron", "").split()) if trigger == Schedule.Trigger.CRON else ""
    minutes = entered.get("every_minutes", "") if trigger == Schedule.Trigger.EVERY else ""
    if not cron and entered_number(minutes) is None:
        return When()
    timing = recurrence.Timing(cron, None if cron else entered_number(minutes), entered.get("zone", "").strip())
    try:
        recurrence.check(timing)
        return When(recurrence.describe(timing), recurrence.next_due_times(timing, timezone.now(), TIMES))
    except Problem as problem:
        return When(problem=problem)


def files(entered: Mapping[str, str], job: ImportJob | None = None) -> Files:
    """The files that a schedule with these form fields would find now; lists the files of the connection.

    `job`: the import that the schedule would be made from.
    """
    chosen, pattern = entered_number(entered.get("connection", "")), entered.get("pattern", "").strip()
    connection_row = seen(SourceConnection.objects.filter(pk=chosen)).first() if chosen else None
    if not connection_row or not pattern:
        return Files(connection=bool(connection_row))
    try:
        require(Level.LOAD, connection_row)  # To look at a connection is to see its name.
        zone = zone_named(entered.get("zone", "").strip())
    except Problem as problem:
        return Files(problem=problem)
    found = matching_files(connection_row, pattern, zone, subfolders=bool(entered.get("subfolders")))
    if not job:
        return found
    known_by = entered.get("known_by", Schedule.KnownBy.CONTENT)
    told = {each.name: schedules.known_file_note(job, connection_row, each, known_by) for each in found.first}
    return replace(found, known={name: words for name, words in told.items() if words})


def matching_files(
    connection: SourceConnection, pattern: str, zone: tzinfo, *, subfolders: bool = False, most: int = MOST_FILES
) -> Files:
    """The first `most` files of a connection that match `pattern` now."""
    try:
        matches = operations.find_settled(connection, pattern, timezone.now(), zone, subfolders)
    except Problem as problem:
        return Files(problem=problem)
    return Files(matches[:most], len(matches))

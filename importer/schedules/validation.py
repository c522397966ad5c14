"""What a schedule may ask for, and what is worth a warning."""

from django.core.exceptions import ValidationError
from django.utils import timezone

from importer.connections import folder_below
from importer.connections.file_pattern import Pattern, fill_in_dates
from importer.engine.errors import Problem
from importer.models import Schedule
from importer.schedules import recurrence

# What each number may be, from the least to the most, and what it counts.
BOUNDS = {
    "tries": (1, 20, "tries"),
    "backoff_seconds": (1, 86_400, "seconds between tries"),
    "misfire_most": (1, 1000, "missed runs"),
    "deadline_minutes": (1, 525_600, "minutes until the deadline"),
    "lateness_minutes": (1, 525_600, "minutes until it is late"),
}


RECIPE = {"header", "columns_json", "dialect_json", "mapping_json", "fillings_json", "options_json"}


def check(schedule: Schedule) -> None:
    """Raise Problem, with `option` the field at fault, for what cannot be."""
    _check_fields(schedule)
    _check_when(schedule)
    pattern = _pattern(schedule)
    if schedule.afterwards == Schedule.Afterwards.MOVE:
        _check_move(schedule, pattern)


def _check_fields(schedule: Schedule) -> None:
    """Name and choices, as the model says."""
    for name, (least, most, counts) in BOUNDS.items():
        number = getattr(schedule, name)
        if number is not None and not least <= number <= most:
            raise Problem(f"{number:,} {counts} are not possible.", "", f"Choose {least:,} to {most:,}.", option=name)
    try:
        schedule.full_clean(exclude=RECIPE)
    except ValidationError as error:
        field, said = next(iter(error.message_dict.items()))
        raise Problem(f"{field.replace('_', ' ').capitalize()}: {said[0]}", "", "Change it.", option=field) from error


def _check_when(schedule: Schedule) -> None:
    try:
        recurrence.zone_named(schedule.zone)
    except Problem as problem:
        problem.option = "zone"
        raise
    if schedule.trigger == Schedule.Trigger.ARRIVAL:
        return
    option = "cron" if schedule.trigger == Schedule.Trigger.CRON else "every_minutes"
    if option == "cron" and not schedule.cron.strip():
        raise Problem("There is no cron text.", "", recurrence.CRON_ADVICE, option=option)
    try:
        recurrence.check(recurrence.Timing(schedule.cron, schedule.every_minutes, schedule.zone))
    except Problem as problem:
        problem.option = option
        raise


def _pattern(schedule: Schedule) -> Pattern:
    """As it is now. Raises Problem for one that cannot be read, or that can match nothing."""
    try:
        return fill_in_dates(
            schedule.pattern, timezone.now(), recurrence.zone_named(schedule.zone), schedule.subfolders
        )
    except Problem as problem:
        problem.option = "pattern"
        raise


def _check_move(schedule: Schedule, pattern: Pattern) -> None:
    """Moved files must not be found again."""
    try:
        folder = folder_below(schedule.move_to)
    except Problem as problem:
        problem.option = "move_to"
        raise
    name = pattern.parts[-1].replace("*", "x").replace("?", "x")
    if pattern.matches(f"{folder}/{name}"):
        raise Problem(
            f"The pattern also matches files in {folder}, so what is moved there would be found again.",
            schedule.pattern,
            "Choose a folder that the pattern does not reach.",
            option="move_to",
        )


def warnings(schedule: Schedule) -> list[str]:
    """What is allowed and may not be meant, in sentences."""
    said = []
    same_table = {"target": schedule.target_id, "schema_name": schedule.schema_name, "table_name": schedule.table_name}
    others = Schedule.objects.filter(**same_table).exclude(pk=schedule.pk)
    names = ", ".join(others.values_list("name", flat=True)[:5])
    if names:
        said.append(f"{names} loads into {schedule.table} as well; one import has the table at a time, a second waits.")
        if schedule.options.mode == "replace":
            said.append(f"This one replaces the whole table, with what {names} has put into it.")
    if schedule.drift == Schedule.Drift.ADD and schedule.options.mode == "replace":
        said.append("New columns are added to the table before it is replaced by one like it.")
    if schedule.afterwards == Schedule.Afterwards.KEEP and schedule.trigger == Schedule.Trigger.ARRIVAL:
        said.append("Files stay where they are, so each look goes over all of them; moved ones make looks quicker.")
    return said

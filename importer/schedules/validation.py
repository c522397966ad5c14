"""Checks a schedule's values, and warns of combinations that are valid but perhaps not intended."""

from django.core.exceptions import ValidationError
from django.utils import timezone

from importer.access.time_zones import zone_named
from importer.connections.file_pattern import Pattern, fill_in_dates
from importer.connections.operations import folder_at
from importer.engine.errors import Problem
from importer.models import Schedule
from importer.schedules import recurrence

# For each number: the least and the greatest value, and what it counts.
BOUNDS = {
    "most_attempts": (1, 20, "attempts"),
    "backoff_seconds": (1, 86_400, "seconds between attempts"),
    "misfire_most": (1, 1000, "missed runs"),
    "deadline_minutes": (1, 525_600, "minutes until the deadline"),
    "lateness_minutes": (1, 525_600, "minutes until it is late"),
}


RECIPE = {"header", "columns_json", "dialect_json", "mapping_json", "fillings_json", "options_json"}


def check(schedule: Schedule) -> None:
    """Raise Problem for an invalid value, with `option` set to its field."""
    _check_fields(schedule)
    _check_when(schedule)
    pattern = _pattern(schedule)
    if schedule.afterwards == Schedule.Afterwards.MOVE:
        _check_move(schedule, pattern)


def _check_fields(schedule: Schedule) -> None:
    """Check numbers against BOUNDS, and the other fields by the model's validators."""
    for name, (least, most, counts) in BOUNDS.items():
        number = getattr(schedule, name)
        if number is not None and not least <= number <= most:
            raise Problem(f"{number:,} {counts} are not possible.", "", f"Choose {least:,} to {most:,}.", option=name)
    try:
        schedule.full_clean(exclude=RECIPE)
    except ValidationError as error:
        field, texts = next(iter(error.message_dict.items()))
        raise Problem(f"{field.replace('_', ' ').capitalize()}: {texts[0]}", "", "Change it.", option=field) from error


def _check_when(schedule: Schedule) -> None:
    try:
        zone_named(schedule.zone)
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
    """The pattern with the present date. Raises Problem if it is invalid."""
    try:
        return fill_in_dates(schedule.pattern, timezone.now(), zone_named(schedule.zone), schedule.subfolders)
    except Problem as problem:
        problem.option = "pattern"
        raise


def _check_move(schedule: Schedule, pattern: Pattern) -> None:
    """Raise Problem if the pattern would match files after they were moved."""
    try:
        folder = folder_at(schedule.move_to, timezone.now(), zone_named(schedule.zone))
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
    """Warnings about valid but perhaps unintended settings, as sentences."""
    sentences = []
    same_table = {"target": schedule.target_id, "schema_name": schedule.schema_name, "table_name": schedule.table_name}
    others = Schedule.objects.filter(**same_table).exclude(pk=schedule.pk)
    names = ", ".join(others.values_list("name", flat=True)[:5])
    if names:
        sentences.append(
            f"{names} loads into {schedule.table} as well; one import has the table at a time, a second waits."
        )
        if schedule.options.mode == "replace":
            sentences.append(f"This one replaces the whole table, with what {names} has put into it.")
    if schedule.drift == Schedule.Drift.ADD and schedule.options.mode == "replace":
        sentences.append("New columns are added to the table before it is replaced by one like it.")
    if schedule.afterwards == Schedule.Afterwards.KEEP and schedule.trigger == Schedule.Trigger.ARRIVAL:
        sentences.append("Files stay in place, so each search lists all of them; moving them makes it faster.")
    return sentences

"""Which requests are errands: they wait for servers of others or read files, so a process of their own answers them."""

from collections.abc import Mapping

from django.conf import settings
from django.contrib.auth.models import User
from django.http import HttpRequest

from config.serving.errands import ERRAND, Errand, NoAnswer
from importer.access import limits, places
from importer.engine.errors import Problem
from importer.engine.units import human_bytes

# Seconds for one that may read or copy a whole file, as long as a worker has for a copy.
WHOLE_FILE = 2400.0

GETS, POSTS, EDITS = ("GET", "HEAD"), ("POST",), ("POST", "PATCH", "PUT")
# The methods of each URL, by its name: those that only look end when their client is gone.
LOOKING: Mapping[str, tuple[str, ...]] = {
    "target_check": POSTS,
    "connection_check": POSTS,
    "connection_files": GETS,
    "channel_test": POSTS,
    "new_tables": GETS,
    "new_from": GETS,
    "new_from_lines": GETS,
    "new_source": (*GETS, *POSTS),
    "job_table_rows": GETS,
    "schedule_preview": (*GETS, *POSTS),
    "schedule_header": GETS,
    "lab_new": GETS,
    "api_target_check": POSTS,
    "api_target_tables": GETS,
    "api_target_columns": GETS,
    "api_connection_check": POSTS,
    "api_connection_files": GETS,
    "api_connection_lines": GETS,
    "api_channel_test": POSTS,
    "api_import_rows": GETS,
    "api_plans": POSTS,
    "api_checks": POSTS,
    "api_schedule_plan": POSTS,
    "api_schedule_header": GETS,
    "api_lab_plan": POSTS,
}
CHANGING: Mapping[str, tuple[str, ...]] = {
    "target_new": POSTS,
    "target": POSTS,
    "connection_new": POSTS,
    "connection": POSTS,
    "connection_confirm": POSTS,
    "new_places": POSTS,
    "new_from": POSTS,
    "new_together": POSTS,
    "save_preset": POSTS,
    "start_import": POSTS,
    "job_run_again": POSTS,
    "lab_new": POSTS,
    "api_targets": POSTS,
    "api_target": EDITS,
    "api_connections": POSTS,
    "api_connection": EDITS,
    "api_connection_confirm": POSTS,
    "api_imports": POSTS,
    "api_import_run_again": POSTS,
    "lab_experiment_start": POSTS,
    "api_labs": POSTS,
    "api_experiments": POSTS,
}
READ_WHOLE_FILES = (
    *("new_places", "new_from", "new_together", "start_import", "job_run_again"),
    *("api_plans", "api_checks", "api_imports", "api_import_run_again"),
)


class TookTooLong(Problem):
    """The request took all the time that one may take."""


class TookTooMuch(Problem):
    """The request needed more memory than one may take, or its process ended by a fault."""


def begin(request: HttpRequest, name: str) -> bool:
    """Whether the request is an errand that the server is to have answered.

    It holds a place of its person then. Raises TooManyAtOnce, or the problem of an errand that has ended without an
    answer.
    """
    errand: Errand | None = request.META.get(ERRAND)
    looks, changes = (request.method in each.get(name, ()) for each in (LOOKING, CHANGING))
    if errand is None or not (looks or changes):
        return False
    seconds = WHOLE_FILE if name in READ_WHOLE_FILES else settings.ERRAND_SECONDS
    if errand.ended:
        raise why(errand.ended, seconds)
    assert isinstance(request.user, User)
    if place := places.take(limits.ERRANDS, request.user):
        errand.held.enter_context(place)
    errand.seconds, errand.ends_with_client = seconds, looks
    return True


def why(ended: NoAnswer, seconds: float) -> Problem:
    """The problem of an errand that has ended without an answer."""
    if ended.late:
        what = f"This has taken {seconds:,.0f} seconds, as long as it may."
        return TookTooLong(what, advice="Check that the server answers and the file has the format that is stated.")
    return too_much()


def too_much() -> Problem:
    """The problem of an errand that needed more memory than it may take."""
    what = f"This needed more memory than {human_bytes(settings.ERRAND_BYTES)}, or failed."
    return TookTooMuch(what, advice="Check that the file has the format, and above all the delimiter, that is stated.")

"""One run of the deletion: a bounded amount of each kind, so that it never holds a worker or the database for long."""

import logging
from collections.abc import Callable, Mapping
from datetime import datetime

from importer.access import idempotency
from importer.retention import ended_jobs, files, kept_rows, ledgers, rows
from importer.sources.store.file_store import StoreAway
from importer.worker import working_copies

log = logging.getLogger(__name__)

MOST_JOBS = 100
MOST_ROWS = 1_000

# The parts of the deletion by the name of what they delete: the most that one run deletes, and the function, which
# returns the number that it has deleted.
PARTS: Mapping[str, tuple[int, Callable[[datetime, int], int]]] = {
    "files": (MOST_JOBS, files.remove_files),
    "files without a row": (MOST_JOBS, files.remove_orphans),
    "working copies in the store": (MOST_JOBS, lambda now, _most: working_copies.remove_stored(now)),
    "unfinished files in the store": (MOST_JOBS, files.remove_parts),
    "rows of deleted files": (MOST_ROWS, files.forget_old_rows),
    "staged rows of imports": (MOST_JOBS, ended_jobs.drop_staged),
    "rejected rows of imports": (MOST_JOBS, files.remove_rejects),
    "rejected rows of earlier attempts in the store": (MOST_JOBS, files.remove_unknown_rejects),
    "ledger rows of imports": (MOST_JOBS, ledgers.remove_rows),
    "old rows of imports": (MOST_JOBS, kept_rows.remove_kept_rows),
    "chunks of imports": (MOST_JOBS, ended_jobs.remove_chunks),
    "imports": (MOST_JOBS, ended_jobs.remove_jobs),
    "facts of imports": (MOST_JOBS, ended_jobs.remove_history),
    "runs of schedules": (MOST_ROWS, rows.remove_runs),
    "notifications": (MOST_ROWS, rows.remove_notifications),
    "sessions": (MOST_ROWS, rows.remove_sessions),
    "events of the audit log": (MOST_ROWS, rows.remove_events),
    "answers of the API": (MOST_ROWS, idempotency.remove_old),
}


def run(now: datetime) -> dict[str, int]:
    """Delete a bounded amount of what is no longer kept at this moment. Returns how many of each kind.

    A part that fails is logged, and does not hold up the others.
    """
    deleted = {}
    for what, (most, part) in PARTS.items():
        try:
            deleted[what] = part(now, most)
        except StoreAway as problem:
            log.warning("%s could not be deleted: %s", what, problem)
            deleted[what] = 0
        except Exception:
            log.exception("%s could not be deleted", what)
            deleted[what] = 0
    return deleted


def run_and_log(now: datetime) -> None:
    """Do one run, for the workers; their log says what was deleted."""
    if words := ", ".join(f"{count:,} {what}" for what, count in run(now).items() if count):
        log.info("deleted: %s", words)


def run_to_the_end(now: datetime) -> dict[str, int]:
    """Repeat run() until nothing is left to delete. Returns how many of each kind."""
    total = dict.fromkeys(PARTS, 0)
    while any((deleted := run(now)).values()):
        total = {what: total[what] + count for what, count in deleted.items()}
    return total

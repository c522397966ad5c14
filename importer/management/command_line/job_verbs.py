"""The verbs of `job` that follow and steer an import, as the buttons of its page do."""

import sys
import time
from argparse import ArgumentParser
from collections.abc import Callable, Mapping
from typing import Any

from config.contracts.documents import JOBS, REPORT
from importer import jobs, queue
from importer.access.acting import acting_user
from importer.access.policy import seen
from importer.engine.units import count_of
from importer.jobs.rejects import downloads
from importer.management.terminal import by_url
from importer.management.terminal.follow.following import LOOK_EVERY, follow
from importer.management.terminal.follow.progress import Progress
from importer.management.terminal.follow.waiting import in_words
from importer.management.terminal.new_file import write_rejects
from importer.management.terminal.one_document import DocumentCommand
from importer.management.terminal.output import problem_and_ways_out
from importer.management.terminal.report_text import kind_lines, rejects_line
from importer.management.terminal.words import PROGRAM
from importer.models import ImportJob
from importer.models.outcomes import UNKNOWN, exit_code, outcome_words
from importer.worker import local_pool

Verb = Callable[[DocumentCommand, ImportJob, Mapping[str, Any]], None]


def add_retry_arguments(verb: ArgumentParser) -> None:
    """Add the options of `retry` that say where it loads, and how it signs in there."""
    verb.add_argument("--in-process", action="store_true", default=True, help="load in this process (default)")
    verb.add_argument("--workers", dest="in_process", action="store_false", help="hand it to the running workers")
    by_url.add_password_flags(verb)


def write_list(command: DocumentCommand, options: Mapping[str, Any]) -> None:
    """Write the latest imports, the newest first."""
    found = seen(ImportJob.objects.select_related("target", "source").filter(trial=None)).order_by("-pk")
    found = found[: max(0, options["most"])]
    if options["as_json"]:
        command.give(JOBS, {"jobs": [_as_json(each) for each in found]})
        return
    command.write_list(
        f"{_line(job)}, {count_of(job.accounted_rows, 'row')}, {job.created_at:%Y-%m-%d %H:%M} UTC" for job in found
    )


def show(command: DocumentCommand, job: ImportJob, options: Mapping[str, Any]) -> None:
    """Write the import's state, its rows and its problem, with the way to its rejected rows and to the missing ones."""
    if options["as_json"]:
        from importer.diagnosis.why import known_causes  # Here: the other verbs need none of it.

        command.give(REPORT, jobs.report(job, why=known_causes(job)))
        return
    command.stdout.write(f"{_line(job)}: {jobs.equation(job)}")
    for line in kind_lines(job.reject_reasons, job.notices):
        command.stdout.write(line)
    if job.rejected_rows:
        command.stdout.write(rejects_line(job.pk, PROGRAM))
    for line in problem_and_ways_out(job):
        command.stdout.write(line)
    if not job.ended:
        from importer.diagnosis.watch import last_seen  # Here, as above.
        from importer.diagnosis.why import for_reader, why

        for each in for_reader(job, why(job, seen=last_seen(job.target)).explanations):
            command.stdout.write(in_words(each))


def wait(command: DocumentCommand, job: ImportJob, options: Mapping[str, Any]) -> None:
    """Wait until the import has ended, or waits for another person; end with its exit code. Ctrl-C ends the waiting."""
    progress = Progress(options["as_json"])
    until = float("inf") if options["at_most"] is None else time.monotonic() + options["at_most"]
    try:
        while not local_pool.is_over(job := ImportJob.objects.select_related("target", "source").get(pk=job.pk)):
            if time.monotonic() >= until:
                raise KeyboardInterrupt
            progress.show(job)
            time.sleep(LOOK_EVERY)
    except KeyboardInterrupt:
        progress.write(f"Import {job.pk} continues. millrace job wait {job.pk} waits for it again.")
        if options["as_json"]:
            show(command, job, options)
        sys.exit(UNKNOWN)
    finally:
        progress.close()
    show(command, job, options)
    _end(job)


def retry(command: DocumentCommand, job: ImportJob, options: Mapping[str, Any]) -> None:
    """Load the missing rows of an import that failed or was cancelled; end with its exit code.

    One that is still ending is run to its end first, and what one has left on its server is dropped: the process that
    was ending it may have been killed.
    """
    by_url.hold_password_again(job.target, options)
    in_process = options["in_process"]
    if in_process and (job.status in ImportJob.ENDING or (job.ended and job.leftover)):
        follow(job, in_process=True, quiet=options["as_json"])
    with queue.dropped(in_process):
        jobs.retry(job.pk, leave_out=options["on_error"] is not None, started_by=acting_user())
    job.refresh_from_db()
    show(command, follow(job, in_process=in_process, quiet=options["as_json"]), options)
    _end(job)


def pause(command: DocumentCommand, job: ImportJob, _options: Mapping[str, Any]) -> None:
    """Start no more chunks."""
    jobs.pause(job.pk)
    command.stdout.write(f"{job} is paused: chunks under way finish. To continue: millrace job resume {job.pk}")


def resume(command: DocumentCommand, job: ImportJob, _options: Mapping[str, Any]) -> None:
    """Continue after a pause."""
    jobs.resume(job.pk)
    where = " in the command that loads it" if job.target.lacks_password else ""
    ended = f" If that has ended: millrace job run {job.pk}" if where else ""
    command.stdout.write(f"{job} continues{where}.{ended}")


def priority(command: DocumentCommand, job: ImportJob, options: Mapping[str, Any]) -> None:
    """Change which of several imports gets workers first."""
    jobs.set_priority(job.pk, options["priority"])
    command.stdout.write(f"{job} has the priority {options['priority']} now.")


def rejects(_command: DocumentCommand, job: ImportJob, options: Mapping[str, Any]) -> None:
    """Write the rejected rows, in the form of the file, or why each was rejected."""
    pieces = downloads.reasons_file(job) if options["reasons"] else downloads.reject_file(job)
    write_rejects(pieces, options["out"], as_json=options["as_json"])


def _line(job: ImportJob) -> str:
    return f"{job.pk}: {outcome_words(job)}, {job.source.name} into {job.table} of {job.target}"


def _as_json(job: ImportJob) -> dict[str, Any]:
    return {
        "job": job.pk,
        "outcome": outcome_words(job),
        "file": job.source.name,
        "target": job.target.name,
        "table": job.table,
        "rows": job.accounted_rows,
        "created": job.created_at.isoformat(),
    }


def _end(job: ImportJob) -> None:
    """End the command with the exit code of the import, as it is now."""
    job.refresh_from_db()
    if code := exit_code(job):
        sys.exit(code)


VERBS: dict[str, Verb] = {
    "show": show,
    "wait": wait,
    "retry": retry,
    "pause": pause,
    "resume": resume,
    "priority": priority,
    "rejects": rejects,
}

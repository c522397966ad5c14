"""`millrace job`: lists, follows and steers imports, and what people decide about one that waits for them."""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone

from importer import queue
from importer.access import audit
from importer.access.acting import acting_user
from importer.access.policy import seen
from importer.engine.errors import Problem
from importer.jobs import approval, lifecycle
from importer.jobs import report as job_report
from importer.jobs.actions import applying, commands
from importer.jobs.actions.obstacles import end_without, try_now
from importer.jobs.rejects import downloads
from importer.jobs.steps.table_backup import restore_backup
from importer.management.base_command import PreparedCommand
from importer.management.terminal import by_url
from importer.management.terminal.follow.following import LOOK_EVERY, follow
from importer.management.terminal.words import PROGRAM
from importer.management.verbs.jobs import JOB, VERBS, Body, end, followed, tell, undo, undone
from importer.management.verbs.verb import Context, Here, Json, Run, Verb, option
from importer.models import ImportJob
from importer.models.outcomes.sequels import told
from importer.retention import ended_jobs
from importer.worker import local_pool


def _seen() -> QuerySet[ImportJob]:
    return seen(ImportJob.objects.select_related("target", "source"))


def _read(number: int) -> ImportJob:
    job = _seen().filter(pk=number).first()
    if job is None:
        raise Problem(f"There is no import {number}.", advice="`job list` has the latest.")
    audit.about(job)
    return job


def _list() -> Iterator[Json]:
    from importer.diagnosis.facts import silent_since  # Here, as below.

    for job in _seen().filter(trial=None).order_by("-pk").iterator():
        yield {
            "job": job.pk,
            "outcome": told(job),
            "file": job.source.name,
            "target": job.target.name,
            "table": job.table,
            "rows": job.accounted_rows,
            "created_at": job.created_at.isoformat(),
            "is_silent": silent_since(job, timezone.now()) is not None,
        }


def _report(job: int) -> Json:
    """The report of an import. If nobody loads it any more, its rows are read from its target."""
    from importer.diagnosis.facts import silent_since  # Here: the other verbs need none of it.
    from importer.diagnosis.why import known_causes
    from importer.worker.verify import read_committed

    shown = _read(job)
    counted = read_committed(shown) if silent_since(shown, timezone.now()) else ""
    report = job_report.report(shown, why=known_causes(shown))
    report["debug"]["left"] += [counted] if counted else []
    return report


def _act(act: Callable[..., object]) -> Callable[..., Json]:
    """The operation that does this to an import, and answers with its report. Its body has the other arguments."""

    def operation(job: int, **body: Any) -> Json:
        act(_read(job).pk, *body.values())
        return job_report.report(_read(job))

    return operation


def _approval(job: int) -> Json:
    asked = _read(job)
    return {"sentence": approval.sentence(asked), "digest": approval.digest_of(asked)}


class _JobsHere(Here):
    """Looks at imports until they are over, and at their servers."""

    def wait(self, job: int, look: Callable[[Json], None], seconds: float = float("inf")) -> Json:
        """The report of an import once it is over, or as it is after this time. `look` gets figures until then."""
        until = time.monotonic() + seconds
        while not local_pool.is_over(now := _read(job)) and time.monotonic() < until:
            look(job_report.figures(now))
            time.sleep(LOOK_EVERY)
        return _report(job)

    def report_within(self, job: int, seconds: float) -> Json:
        """The report of an import once it is over, or as it is after this time."""
        return self.wait(job, lambda _: None, seconds)

    def causes(self, job: int) -> Json:
        """Why the import waits or is slow, after two looks at its server."""
        from importer.diagnosis.watch import look_twice  # Here: the other verbs need none of it.
        from importer.diagnosis.why import causes_document, why

        shown = _read(job)
        return causes_document(shown, why(shown, seen=look_twice(shown.target)))


def _goes_on(operation: str, body: Body) -> Run:
    """One that is still ending is run to its end first, and what one has left on its server is dropped: the process
    that was ending it may have been killed.
    """

    def run(context: Context) -> int:
        options, job = context.options, _read(context.options.job)
        by_url.hold_password_again(job.target, vars(options))
        in_process = options.in_process
        if in_process and (job.status in ImportJob.ENDING or (job.ended and job.leftover)):
            follow(job, in_process=True, quiet=options.as_json)
        with queue.dropped(in_process):
            context.api.call(operation, body(options), job=job.pk)
        follow(_read(job.pk), in_process=in_process, quiet=options.as_json)
        return end(context, _report(job.pk))

    return run


def _drop(context: Context) -> None:
    job = _read(context.options.job)
    by_url.hold_password_again(job.target, {**vars(context.options), "in_process": True})
    with queue.dropped(True):
        applying.drop(job.pk)
    follow(_read(job.pk), in_process=True, quiet=True)
    tell(context, _report(job.pk))


def _undo(context: Context) -> int:
    """In this process: there may be no workers. One that another process has begun and not ended is continued."""
    from importer.worker.stage_and_finish import taken_back_here  # Here: the other verbs need none of it.

    job = _read(context.options.job)
    by_url.hold_password_again(job.target, {**vars(context.options), "in_process": True})
    if not job.undo_asked:
        with queue.dropped():
            restore_backup(job.pk, context.options.overwrite)
    taken_back_here(job.pk)
    return undone(context, _report(job.pk))


def _run(context: Context) -> int:
    job = _read(context.options.job)
    by_url.hold_password_again(job.target, {**vars(context.options), "in_process": True})
    lifecycle.advance(job.pk)  # One that waited for an approval may need none any more.
    follow(job, in_process=True, quiet=context.options.as_json)
    return end(context, _report(job.pk))


def _with_hint(name: str, hint: Callable[[ImportJob], str]) -> Verb:
    """The verb, which also says how to continue where no worker does; "" for nothing."""

    def run(context: Context) -> int | None:
        code = VERBS[name].run(context)
        if said := hint(_read(context.options.job)):
            context.output.say(f"{said}: {PROGRAM} job run {context.options.job}")
        return code

    return replace(VERBS[name], run=run)


def _if_unloaded(job: ImportJob) -> str:
    return "If the command that loads it has ended" if job.target.lacks_password else ""


class Command(PreparedCommand):
    help = "List, show, follow and steer imports, and decide what one waits for."
    api = _JobsHere
    verbs = {
        **VERBS,
        **followed(
            _goes_on,
            option("--in-process", action="store_true", default=True, help="load in this process (default)"),
            option("--workers", dest="in_process", action="store_false", help="hand it to the running workers"),
            by_url.add_password_flags,
        ),
        "drop": replace(VERBS["drop"], run=_drop, options=(JOB, by_url.add_password_flags)),
        "undo": undo(_undo, by_url.add_password_flags),
        "approve": _with_hint("approve", lambda _: "Without workers"),
        "resume": _with_hint("resume", _if_unloaded),
        "run": Verb(
            "run an import to its end in this process; for one that no worker takes",
            _run,
            (JOB, by_url.add_password_flags),
        ),
    }
    operations = {
        "list_imports": _list,
        "show_import": _report,
        "import_approval": _approval,
        "pause_import": _act(commands.pause),
        "resume_import": _act(commands.resume),
        "set_priority": _act(commands.set_priority),
        "cancel_import": _act(commands.cancel),
        "retry_import": _act(lambda job, out: commands.retry(job, leave_out=out, started_by=acting_user())),
        "apply_import": _act(lambda job, all_the_same: applying.apply(job, all_the_same=all_the_same)),
        "compare_import": _act(applying.compare),
        "approve_import": _act(commands.approve),
        "refuse_import": _act(commands.refuse),
        "restore_now_import": _act(try_now),
        "end_without_import": _act(end_without),
        "delete_import": lambda job: ended_jobs.remove_by_hand(_read(job).pk),
        "reject_file": lambda job: downloads.reject_file(_read(job)),
        "reasons_file": lambda job: downloads.reasons_file(_read(job)),
    }

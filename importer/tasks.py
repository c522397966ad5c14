"""Celery tasks, one call each. importer/worker/ does the work, importer/jobs/ decides whether it may be done."""

from collections.abc import Sequence

from celery import shared_task
from django.utils import timezone

from config.telemetry import flushing
from importer import lab, queue, schedules
from importer.jobs import lifecycle
from importer.notifications import delivery
from importer.notifications.delivery import LONGEST_SEND
from importer.preparation.examine import examine as examine_file
from importer.queue import FollowUp, Message
from importer.retention import run as retention
from importer.worker import shutdown
from importer.worker.hosts import placement, presence, releases, warm_store
from importer.worker.steps import IMPORT_STEPS
from importer.worker.sweep import sweep_jobs

# Seconds, for work under a lease: files of any size are fetched, copied and loaded. Above the longest silence of a
# server, which ends a step with a message. Other workers take over by the lease, also while Redis delivers it again.
LONGEST_WORK = 24 * 3600

presence.connect_signals()
warm_store.connect_signals()
flushing.connect_signals()


@shared_task(time_limit=LONGEST_WORK)
def scan(job_id: int) -> None:
    _take("scan", job_id)


@shared_task(time_limit=LONGEST_WORK)
def load_run(chunk_id: int) -> None:
    _take("load_run", chunk_id, _advance_and_verify)


@shared_task
def examine(source_id: int) -> None:
    examine_file(source_id, queue.send, shutdown.requested)


@shared_task(time_limit=LONGEST_WORK)
def verify(job_id: int) -> None:
    _take("verify", job_id)


@shared_task(time_limit=LONGEST_WORK)
def arrange(job_id: int) -> None:
    _take("arrange", job_id)


@shared_task(time_limit=LONGEST_WORK)
def restore(job_id: int) -> None:
    _take("restore", job_id)


@shared_task(time_limit=LONGEST_WORK)
def stage(job_id: int) -> None:
    _take("stage", job_id)


@shared_task(time_limit=LONGEST_WORK)
def finish(job_id: int) -> None:
    _take("finish", job_id)


@shared_task(time_limit=LONGEST_WORK)
def clean(job_id: int) -> None:
    _take("clean", job_id)


@shared_task(time_limit=LONGEST_WORK)
def undo(job_id: int) -> None:
    _take("undo", job_id)


@shared_task
def advance(job_id: int) -> None:
    _advance(job_id)


@shared_task(time_limit=LONGEST_WORK)
def take_lab(lab_id: int) -> None:
    lab.take(lab_id, queue.send)


@shared_task(time_limit=LONGEST_SEND)
def tell(notice_id: int) -> None:
    delivery.send(notice_id)


@shared_task(time_limit=LONGEST_WORK)
def take_run(run_id: int) -> None:
    schedules.advance(run_id, queue.send)


@shared_task
def look_for_files(schedule_id: int) -> None:
    if run := schedules.look_for_files(schedule_id):
        queue.send([Message("take_run", run.pk)])


@shared_task
def tick() -> None:
    schedules.tick(queue.send)


@shared_task
def sweep() -> None:
    sweep_jobs(_advance)
    queue.send([Message("take_lab", lab_id) for lab_id in lab.unended()])
    lab.remove_orphans()
    queue.send([Message("tell", notice_id) for notice_id in delivery.due()])


@shared_task
def retain() -> None:
    retention.run_and_log(timezone.now())


def _advance(job_id: int, later: Sequence[Message] = ()) -> None:
    queue.send(placement.place([*later, *lifecycle.advance(job_id)]))


def _advance_and_verify(job_id: int, later: Sequence[Message] = ()) -> None:
    """As _advance(), but verify the job at once: this worker has loaded its last chunk, and reaches its target."""
    following = lifecycle.advance(job_id)
    queue.send(placement.place([*later, *(each for each in following if each.task != "verify")]))
    for each in following:
        if each.task == "verify":
            IMPORT_STEPS[each.task](each.id, _advance)


def _take(task: str, id: int, then: FollowUp = _advance) -> None:
    """Do the step, unless it is for workers of a newer release."""
    if not releases.pass_on(task, id):
        IMPORT_STEPS[task](id, then)

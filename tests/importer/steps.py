"""The worker's steps, taken one by one in the test's own process: the messages for a broker, and their effect."""

from pathlib import Path
from typing import Any

from django.contrib.auth.models import User

from importer.engine.plan.options import Options
from importer.jobs import lifecycle
from importer.jobs.actions import commands
from importer.models import Chunk, ImportJob, SourceFile, Target
from importer.models.outcomes.step_kinds import STEPS
from importer.preparation.prepare import ImportRequest, prepare
from importer.queue import Message
from importer.sources import uploads
from importer.worker.steps import IMPORT_STEPS


def import_of(
    file: Path | SourceFile,
    target: Target,
    table: str = "t",
    request: ImportRequest | None = None,
    *,
    user: User | None = None,
    **asked: Any,
) -> ImportJob:
    """A new import of the file into the table, before its first step; `asked`: the fields of the request."""
    source = file if isinstance(file, SourceFile) else uploads.register(file)
    return commands.create(prepare(source, target, table, request or ImportRequest(**asked)), user)


def created(target: Target, file: Path | SourceFile, **options: object) -> ImportJob:
    """An import of the file into table t with these options: in small chunks, two at a time, unless they differ."""
    return import_of(file, target, options=Options(**{"chunk_bytes": 8000, "parallelism": 2, **options}))


def take(step: Message) -> None:
    IMPORT_STEPS[step.task](step.id, lambda _job_id, _later: None)


def queued(job: ImportJob) -> list[Message]:
    """What a broker would hold for the job."""
    own: dict[str, Message] = {kind.queued: Message(task, job.pk) for task, kind in STEPS.items()}
    chunks = Chunk.objects.filter(job=job, status=Chunk.Status.QUEUED).values_list("pk", flat=True)
    step = ImportJob.objects.values_list("step", flat=True).get(pk=job.pk)
    return [*([own[step]] if step in own else []), *(Message("load_run", pk) for pk in chunks)]


def advance(job: ImportJob) -> None:
    """Advance the job, again if it says so."""
    while Message("advance", job.pk) in lifecycle.advance(job.pk):
        pass


def run(job: ImportJob) -> ImportJob:
    """Take every step that is queued, until none is."""
    advance(job)
    while steps := queued(job):
        for step in steps:
            take(step)
        advance(job)
    return now(job)


def until(job: ImportJob, task: str) -> None:
    """Take steps until the job's next step is this one."""
    while not (steps := lifecycle.advance(job.pk)) or steps[0].task != task:
        assert steps
        for step in steps:
            take(step)


def now(job: ImportJob) -> ImportJob:
    return ImportJob.objects.get(pk=job.pk)

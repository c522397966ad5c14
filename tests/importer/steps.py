"""The worker's steps, taken one by one in the test's own process: what a broker would hold, and what becomes of it."""

from importer import arranging, finishing, jobs, runs, work
from importer.models import Chunk, ImportJob
from importer.wake import Step

TAKE = {
    "scan": work.scan_job,
    "load_run": runs.load,
    "verify": work.verify_job,
    "arrange": arranging.arrange_job,
    "restore": arranging.restore_job,
    "stage": finishing.stage_job,
    "finish": finishing.finish_job,
    "clean": finishing.clean_job,
}


def take(step: Step) -> None:
    TAKE[step.task](step.id, lambda _job_id, _later: None)


def queued(job: ImportJob) -> list[Step]:
    """What a broker would hold for the job."""
    own = {
        f"{task} queued": Step(task, job.pk)
        for task in ("scan", "verify", "arrange", "restore", "stage", "finish", "clean")
    }
    chunks = Chunk.objects.filter(job=job, status=Chunk.Status.QUEUED).values_list("pk", flat=True)
    step = ImportJob.objects.get(pk=job.pk).step
    return [*([own[step]] if step in own else []), *(Step("load_run", pk) for pk in chunks)]


def run(job: ImportJob) -> ImportJob:
    """Take every step that is queued, until none is."""
    jobs.advance(job.pk)
    while steps := queued(job):
        for step in steps:
            take(step)
        jobs.advance(job.pk)
    return ImportJob.objects.get(pk=job.pk)

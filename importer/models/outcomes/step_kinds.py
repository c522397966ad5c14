"""The steps of an import that workers take, each declared once."""

from dataclasses import dataclass

from importer.models.job import ImportJob

JobStep = ImportJob.Step


@dataclass(frozen=True)
class StepKind:
    """A step that workers take: the name of its task, and the job's step while it is queued and while it runs.

    `reads_file`: a host that does not see the file gets no message for it. `delays_end`: a failing or cancelling job
    does not end while a worker has the step, because the worker uses the target or the file.
    """

    task: str
    queued: ImportJob.Step
    running: ImportJob.Step
    reads_file: bool = False
    delays_end: bool = True


_KINDS = (
    StepKind("scan", JobStep.SCAN_QUEUED, JobStep.SCANNING, reads_file=True),
    StepKind("arrange", JobStep.ARRANGE_QUEUED, JobStep.ARRANGING),
    StepKind("stage", JobStep.STAGE_QUEUED, JobStep.STAGING, reads_file=True),
    StepKind("finish", JobStep.FINISH_QUEUED, JobStep.FINISHING),
    StepKind("restore", JobStep.RESTORE_QUEUED, JobStep.RESTORING),
    # The verification only reads. A job that it fails ends although its worker has not released the step.
    StepKind("verify", JobStep.VERIFY_QUEUED, JobStep.VERIFYING, delays_end=False),
    StepKind("clean", JobStep.CLEAN_QUEUED, JobStep.CLEANING),
    StepKind("undo", JobStep.UNDO_QUEUED, JobStep.UNDOING),
)
# By their tasks; and by the job's step while they are queued, and while they run.
STEPS = {each.task: each for each in _KINDS}
QUEUED: dict[str, StepKind] = {each.queued: each for each in _KINDS}
RUNNING: dict[str, StepKind] = {each.running: each for each in _KINDS}

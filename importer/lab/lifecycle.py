"""The life of a lab: a worker advances it one step at a time, under the lab's lease."""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone

from importer.access.policy import is_admin
from importer.engine.errors import Cancelled, Problem
from importer.engine.mysql.sign_in.reasons import KINDS, REASON_HIDDEN
from importer.jobs import lifecycle
from importer.jobs.actions import commands
from importer.jobs.actions.obstacles import is_stuck
from importer.jobs.permission import why_forbidden
from importer.jobs.steps.lease_recovery import expired_runs
from importer.lab import approval, published, trials
from importer.lab.cleanup import leave, remove_sample
from importer.lab.setup import prepare_lab
from importer.lab.transitions import Status, backoff, change, change_held, claim, connected, end, lease_keeper, release
from importer.lease import shorten
from importer.models import ImportJob, Lab, Target, Trial
from importer.queue import Message
from importer.worker import local_pool, sweep
from importer.worker.errors import problem_of

log = logging.getLogger(__name__)

LOOK_EVERY = 0.5  # seconds
GONE = Problem("The command that ran the experiment is gone.", advice="Start it again.")

BEFORE_RUNNING = (Status.WAITING, Status.PREPARING)
Then = Callable[[Sequence[Message]], None]
State = Trial.Status


def take(lab_id: int, then: Then) -> None:
    """Advance the lab by one step, unless another worker has its lease; `then` gets the messages that follow."""
    lab = claim(lab_id)
    if not lab:
        return
    try:
        again = _step(lab)(lab)
    except Exception as error:
        then(_failed(lab, error))
        return
    release(lab)
    # A trial's import may have ended and sent its message while this worker still held the lab.
    if again or _is_due(lab):
        then([Message("take_lab", lab_id)])


def unended() -> list[int]:
    """The ids of labs that have not ended, oldest first."""
    return list(Lab.objects.exclude(status__in=Lab.ENDED).order_by("pk").values_list("pk", flat=True))


def _step(lab: Lab) -> Callable[[Lab], bool]:
    if lab.status != Status.ENDING:
        if lab.experiment and lab.status == Status.RUNNING:
            return _give_up
        if problem := why_forbidden(lab):
            return lambda each: end(each, Status.FAILED, problem.as_json())
    if lab.experiment and lab.status == Status.PREPARING:
        return published.run
    return STEPS[Status(lab.status)]


def _give_up(lab: Lab) -> bool:
    """End an experiment whose process is gone: a running command holds the lease, so no worker could claim it."""
    return end(lab, Status.FAILED, GONE.as_json())


def _admit(lab: Lab) -> bool:
    """Claim the target: one lab at a time for each target, in the order of creation. One that needs approval waits."""
    if approval.is_needed(lab):
        approval.ask(lab)
        return False
    before = Lab.objects.filter(target=lab.target, status=Status.WAITING, pk__lt=lab.pk)
    if before.exclude(approval_asked_at__isnull=False, approved_digest="").exists():
        return False
    try:
        with transaction.atomic():
            started = {"target_claim": lab.target_id, "started_at": timezone.now(), "waits_for": ""}
            admitted = change(lab.pk, [Status.WAITING], status=Status.PREPARING, **started)
            if admitted:
                approval.record_release(lab)
            return admitted
    except IntegrityError:
        return False


def _prepare(lab: Lab) -> bool:
    prepare_lab(lab)
    return True


def _end(lab: Lab) -> bool:
    """Remove everything that the lab has made, once none of its imports runs, and set the final state."""
    running = ImportJob.objects.filter(trial__lab=lab).exclude(status__in=ImportJob.ENDED).first()
    if running:
        with suppress(Problem):  # It is ending already.
            commands.cancel(running.pk)
        waits_for = f"its import cannot end: {_words(lab, running.obstacle)}" if is_stuck(running) else ""
        change_held(lab, waits_for=waits_for[:200])
        return False
    left = {"status": State.LEFT_OUT, "problem": {"what": "the lab was ended before"}}
    lab.trials.filter(status__in=(State.PENDING, State.RUNNING)).update(**left)
    keeper = lease_keeper(lab)
    with keeper, connected(lab, keeper) as connection:
        leave(lab, connection)
    remove_sample(lab)
    becomes, problem = _becomes(lab)
    change_held(
        lab, status=becomes, problem=problem, target_claim=None, finished_at=timezone.now(), waits_for="", lease=None
    )
    return False


def _becomes(lab: Lab) -> tuple[str, dict[str, object]]:
    """The final state and problem: failed with the first trial's problem if no trial was measured."""
    if lab.becomes != Status.DONE or lab.trials.filter(status=State.DONE).exclude(round=0).exists():
        return lab.becomes, lab.problem
    first = lab.trials.filter(status=State.FAILED).first()
    nothing = Problem("The budget ended before a trial that counts.", advice="Give more, or take a smaller sample.")
    return Status.FAILED, first.problem if first else nothing.as_json()


def _failed(lab: Lab, error: Exception) -> list[Message]:
    """Retry later, or end the lab as failed. The clean-up is retried without limit."""
    if isinstance(error, Cancelled):
        release(lab)
        return [Message("take_lab", lab.pk)]
    problem = problem_of(error, lab)
    ending = lab.status == Status.ENDING
    if not ending and not (problem.retryable and lab.failures < settings.MAX_ATTEMPTS):
        end(lab, Status.FAILED, problem.as_json())
        release(lab)
        return [Message("take_lab", lab.pk)]
    change_held(lab, waits_for=_words(lab, problem.as_json())[:200])
    return [Message("take_lab", lab.pk, delay=backoff(lab))]


def _words(lab: Lab, problem: Mapping[str, Any]) -> str:
    """What happened, by a problem as JSON, as the lab's owner may know it: only admins see why a connection failed."""
    hidden = problem["kind"] in KINDS and lab.created_by and not is_admin(lab.created_by)
    return REASON_HIDDEN if hidden else f"{problem['where']}: {problem['what']}".removeprefix(": ")


def _is_due(lab: Lab) -> bool:
    own = ImportJob.objects.filter(trial__lab=lab, trial__status=State.RUNNING, status__in=ImportJob.ENDED)
    cancelled = Lab.objects.filter(pk=lab.pk, status=Status.ENDING).exclude(status=lab.status)
    return own.exists() or cancelled.exists()


STEPS: dict[Status, Callable[[Lab], bool]] = {
    Status.WAITING: _admit,
    Status.PREPARING: _prepare,
    Status.RUNNING: trials.advance,
    Status.ENDING: _end,
}


def finish(
    lab: Lab,
    becomes: Lab.Status = Status.DONE,
    problem: Problem | None = None,
    tell: Callable[[str], object] = lambda _: None,
) -> Lab:
    """Drop everything that the experiment has made, waiting as long as that takes; return the ended lab.

    `tell` is called with each obstacle. A lab that was ending already, by a cancel for example, ends as was decided
    then, not as `becomes`.
    """
    end(lab, becomes, problem.as_json() if problem else None)
    release(lab)
    obstacle = ""
    while not (now := Lab.objects.select_related("target").get(pk=lab.pk)).ended:
        if now.waits_for != obstacle:
            obstacle = now.waits_for
            tell(obstacle)
        take(lab.pk, lambda _steps: None)
        _end_imports(lab)
        if Lab.objects.filter(pk=lab.pk, status=Status.ENDING).exists():
            time.sleep(LOOK_EVERY)
    return now


def end_abandoned(target: Target) -> None:
    """End the experiments on the target whose process is gone: the lease has expired or was released too early."""
    shorten(Lab.objects.filter(target=target), "lease")
    unclaimed = Q(lease=None) | Q(lease__lte=timezone.now())
    # One that was ordered from the workers has no process yet.
    left = Lab.objects.filter(unclaimed, target=target).exclude(status__in=(*Lab.ENDED, *BEFORE_RUNNING))
    for lab in left:
        if lab.experiment and (claimed := claim(lab.pk)):
            finish(claimed, Status.FAILED, GONE)


def _end_imports(lab: Lab) -> None:
    """Finish the cancelled imports of the lab's trials here, because no worker may be running."""
    for job in ImportJob.objects.filter(trial__lab=lab, status=ImportJob.Status.CANCELLING):
        sweep.expire_runs(expired_runs(job))
        for step in lifecycle.advance(job.pk):
            local_pool.run_step(step)

"""The ways out for a lab that cannot end, because what it has made on the target cannot be dropped.

The lab tries again without limit. A person who has removed the obstacle need not wait for that, and one who cannot may
end the lab without the clean-up: what is left over is listed, with the SQL that drops it.
"""

from collections.abc import Iterator

from django.db.models import F
from django.utils import timezone

from importer.engine.errors import NotDropped, Problem
from importer.engine.mysql.quoting import quote_table
from importer.engine.target import scratch_tables, staging, write_modes
from importer.jobs.actions import obstacles
from importer.lab.cleanup import remove_sample
from importer.lab.setup import scratch_of
from importer.lab.transitions import LEASE, Status
from importer.lease import change
from importer.models import ImportJob, Lab
from importer.queue import Message, send


def is_stuck(lab: Lab) -> bool:
    """Whether the lab waits to drop what it has made, and could not."""
    return lab.status == Status.ENDING and bool(lab.waits_for)


def is_not_dropped(lab: Lab) -> bool:
    """Whether the lab was ended without the clean-up, so that its scratch tables may still be there."""
    return lab.ended and lab.problem.get("kind") == NotDropped.__name__


def try_now(lab_id: int) -> None:
    """Try at once to drop what the lab has made, instead of after the pause."""
    lab = _stuck(lab_id)
    # A worker that is dropping them now has a connection, and keeps its lease.
    change(Lab.objects.filter(pk=lab.pk, status=Status.ENDING, connection_id=None), failures=0, lease=None)
    for job in _unended(lab):
        if obstacles.is_stuck(job):
            obstacles.try_now(job.pk)
    send([Message("take_lab", lab.pk)])


def end_without(lab_id: int) -> None:
    """End the lab although its scratch tables may still be there; its problem lists them, with the SQL.

    Raises Problem if nothing is in the lab's way, or while an import of the lab is still under way.
    """
    lab = _stuck(lab_id)
    left = sorted(set(_left_over(lab)))
    for job in _unended(lab):
        if obstacles.is_stuck(job):
            obstacles.end_without(job.pk)
        raise Problem("An import of the lab is still ending.", str(job), "Try again in a moment.")
    ended = change(
        LEASE.held(lab).filter(status=Status.ENDING),
        status=lab.becomes,
        problem=_not_dropped(lab, left).as_json(),
        target_claim=None,
        finished_at=timezone.now(),
        waits_for="",
        lease=None,
        connection_id=None,
        # The next attempt's number: a worker that is still dropping them records nothing.
        attempt=F("attempt") + 1,
    )
    if not ended:
        raise Problem("A worker is trying just now to drop them.", str(lab), "Its page shows whether that succeeds.")
    ImportJob.objects.filter(trial__lab=lab).delete()
    remove_sample(lab)


def _stuck(lab_id: int) -> Lab:
    lab = Lab.objects.select_related("target").get(pk=lab_id)
    if not is_stuck(lab):
        raise Problem(
            "Nothing keeps this lab from dropping what it has made.", str(lab), "Its page shows its present state."
        )
    return lab


def _unended(lab: Lab) -> Iterator[ImportJob]:
    yield from ImportJob.objects.filter(trial__lab=lab).exclude(status__in=ImportJob.ENDED)


def _left_over(lab: Lab) -> Iterator[str]:
    """The quoted names of the tables that the lab may have left on the target."""
    for job in ImportJob.objects.filter(trial__lab=lab):
        names = [job.table_name]
        if write_modes.stages(job.options.mode):
            names += staging.names_of_job(str(job.key))
        yield from (quote_table(job.schema_name, name) for name in names)
    last = lab.trials.filter(begun__gt=0).order_by("-number").first()
    if last and not lab.experiment:
        yield scratch_of(lab, last.number).quoted


def _not_dropped(lab: Lab, left: list[str]) -> NotDropped:
    pattern = scratch_tables.scratch_name(str(lab.key), 0).removesuffix("0").replace("_", r"\_") + "%"
    find = f"SELECT table_schema, table_name FROM information_schema.tables WHERE table_name LIKE '{pattern}';"
    drop = f"DROP TABLE IF EXISTS {', '.join(left)}; " if left else ""
    before = f" Before that: {lab.problem['what']}" if lab.problem else ""
    return NotDropped(
        f"The lab was ended before its scratch tables could be dropped: {lab.waits_for.rstrip('.')}.{before}",
        where=f"{lab.scratch_schema} on {lab.target.name}",
        advice=f"When the server answers, millrace lab sweep --target {lab.target.name} drops them. By hand: {drop}All"
        f" that are left: {find}",
    )

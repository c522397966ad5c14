"""Drops the tables with the old rows that imports have kept on the targets, to be taken back."""

import logging
from datetime import datetime, timedelta

from importer.engine.errors import Problem
from importer.jobs.steps.table_backup import drop_backup
from importer.jobs.transitions import step_is_free
from importer.models import ImportJob
from importer.retention.policies import before

log = logging.getLogger(__name__)

# Between two tries on a target that cannot be reached, or does not let its table go.
AGAIN_AFTER = timedelta(hours=1)
_rests: dict[int, datetime] = {}  # until then, by the target's key: of this process


def remove_kept_rows(now: datetime, most: int) -> int:
    """Drop the kept rows of at most `most` imports. Returns their number."""
    cutoff = before("kept-rows", now)
    if cutoff is None:
        return 0
    resting = [target for target, until in _rests.items() if until > now]
    due = ImportJob.objects.filter(step_is_free(), options_json__undo="keep", finished_at__lt=cutoff)
    due = due.filter(status__in=ImportJob.ENDED, table_claim=None).exclude(kept_table="").exclude(target__in=resting)
    removed = 0
    for job in due.order_by("finished_at")[:most]:
        if _rests.get(job.target_id, now) > now:
            continue
        try:
            drop_backup(job.pk)
            removed += 1
        except Problem as problem:
            log.info("%s: its old rows stay: %s", job, problem)
            _rests[job.target_id] = now + AGAIN_AFTER
    return removed

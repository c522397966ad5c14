"""Deletes the ledger rows of old imports on the targets.

A ledger row makes a message that comes a second time harmless, so it stays for 30 days at least, and as long as its
import can be retried. A target that cannot be reached is tried again later.
"""

import logging
from datetime import datetime, timedelta

import MySQLdb
from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet

from importer.engine.errors import Problem
from importer.engine.load import ledger
from importer.engine.mysql.connection import Connection, connect
from importer.engine.mysql.error_messages import is_lost
from importer.models import ImportJob, JobRecord, Target
from importer.retention.needed import CHUNK_OBSTACLES, any_of, can_be_retried
from importer.retention.policies import before

log = logging.getLogger(__name__)

# Between two connections to one target.
AGAIN_AFTER = timedelta(hours=1)
LONGEST_PROBLEM = 255  # characters, as Target.ledger_problem


def remove_rows(now: datetime, most: int) -> int:
    """Delete the rows of at most `most` imports on one target, the one that was swept longest ago.

    Returns the number of imports.
    """
    cutoff = before("ledger", now)
    if cutoff is None:
        return 0
    due = _due(now, cutoff)
    rested = Q(ledger_swept_at=None) | Q(ledger_swept_at__lte=now - AGAIN_AFTER)
    targets = Target.objects.filter(rested, Exists(due.filter(target=OuterRef("pk"))))
    target = targets.order_by(F("ledger_swept_at").asc(nulls_first=True), "pk").first()
    if target is None or not targets.filter(pk=target.pk).update(ledger_swept_at=now):
        return 0
    records = list(due.filter(target=target).order_by("ended_at")[:most])
    try:
        with connect(target.address) as connection:
            for record in records:
                if _claimed(record, due):
                    _delete(connection, record)
    except Problem as problem:
        log.info("%s: the ledger rows of old imports stay: %s", target, problem)
        Target.objects.filter(pk=target.pk).update(ledger_problem=str(problem)[:LONGEST_PROBLEM])
        return 0
    more = len(records) == most
    Target.objects.filter(pk=target.pk).update(ledger_problem="", ledger_swept_at=None if more else now)
    return len(records)


def _claimed(record: JobRecord, due: QuerySet[JobRecord]) -> bool:
    """Mark the rows as deleted, so that a retry is refused from now on. False: the import was retried since."""
    with transaction.atomic():
        ImportJob.objects.select_for_update().filter(pk=record.pk).first()  # A retry locks it, too.
        return bool(due.filter(pk=record.pk, key=record.key).update(ledger_removed=True))


def _delete(connection: Connection, record: JobRecord) -> None:
    """Delete the rows. If the server refuses that they are tried again later; after a lost connection some may stay."""
    try:
        for key in (*record.past_keys, str(record.key)):
            ledger.delete(connection, key)
    except MySQLdb.Error as error:
        if not is_lost(error):
            JobRecord.objects.filter(pk=record.pk, key=record.key).update(ledger_removed=False)
        raise


def _due(now: datetime, cutoff: datetime) -> QuerySet[JobRecord]:
    """The records of old imports whose rows may be there, and which nothing continues from."""
    needed = ImportJob.objects.filter(any_of(CHUNK_OBSTACLES) | can_be_retried(now))
    old = JobRecord.objects.filter(ended_at__lt=cutoff, ledger_removed=False, key__isnull=False)
    return old.exclude(Exists(needed.filter(pk=OuterRef("pk"))))

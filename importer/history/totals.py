"""Totals since the installation, for monitoring: counted in the transaction of what they count, and never lowered.

They cannot be read from the tables of imports and chunks: retention deletes rows there, and to a monitor, a sum that
falls looks like a restart.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass

from django.db import connection

from importer.engine.load.outcome import Outcome
from importer.models import ImportJob, Total
from importer.models.outcomes import outcome

Name = Total.Name
# What was tried again, or lost its worker.
CHUNK, STEP, IMPORT = "chunk", "step", "import"


@dataclass(frozen=True, order=True)
class Counted:
    """What an amount is added to: the fields of a Total."""

    name: str
    target: str = ""
    kind: str = ""


def add(amounts: Mapping[Counted, float]) -> None:
    """Add the amounts in one statement, in one order everywhere, so that two transactions do not lock each other out.

    Call it late in a transaction: the rows are locked until its end.
    """
    rows = [(each.name, each.target, each.kind, amounts[each]) for each in sorted(amounts) if amounts[each]]
    if rows:
        places = ", ".join(["(%s, %s, %s, %s)"] * len(rows))
        with connection.cursor() as cursor:
            cursor.execute(
                f"INSERT INTO {Total._meta.db_table} (name, target, kind, amount) VALUES {places} {_or_increase()}",
                [value for row in rows for value in row],
            )


def _or_increase() -> str:
    """The clause that adds the amount to a total that exists."""
    if connection.features.supports_update_conflicts_with_target:
        return "ON CONFLICT (name, target, kind) DO UPDATE SET amount = amount + excluded.amount"
    # MariaDB knows no alias of the new row, and MySQL still takes VALUES() (both manuals, ON DUPLICATE KEY UPDATE).
    return "ON DUPLICATE KEY UPDATE amount = amount + VALUES(amount)"


def count_loaded(job: ImportJob, loaded: Iterable[tuple[Outcome, int]]) -> None:
    """Count committed chunks: the outcome and the bytes of each. Those of a lab are not counted.

    `job.target` must have been read already.
    """
    if job.trial_id:
        return
    target = job.target.name
    amounts: dict[Counted, float] = {}

    def plus(counted: Counted, amount: float) -> None:
        amounts[counted] = amounts.get(counted, 0) + amount

    for each, length in loaded:
        for kind, rows in asdict(each.tally).items():
            plus(Counted(Name.ROWS, target, kind), rows)
        plus(Counted(Name.BYTES, target), length)
        plus(Counted(Name.CHUNKS, target), 1)
        for phase, seconds in each.timings.items():
            plus(Counted(Name.CHUNK_SECONDS, kind=phase), seconds)
    add(amounts)


def count_end(job_id: int) -> None:
    """Count the end of an attempt of an import by its outcome."""
    # Without the plan and the profile, which are large.
    read = ("status", "balanced", "rejected_rows", "problem", "restored_at", "previewed_at", "target__name")
    job = ImportJob.objects.select_related("target").only(*read).filter(pk=job_id, trial=None).first()
    if job and job.ended:
        add({Counted(Name.ENDED, job.target.name, str(outcome(job))): 1})


def count_retry(kind: str) -> None:
    """Count that a chunk, a step or an import is tried again."""
    add({Counted(Name.RETRIES, kind=kind): 1})


def count_expired(kind: str) -> None:
    """Count that a chunk or a step has lost its worker."""
    add({Counted(Name.EXPIRED, kind=kind): 1})

"""The approval of a lab by another person, where its target needs one: for the whole lab, before it makes anything."""

from django.db import transaction
from django.utils import timezone

from importer.access import approval, audit
from importer.access.approval import checked_digest, checked_reason
from importer.engine.errors import ApprovalRefused, Problem
from importer.lab.transitions import Status, change
from importer.lease import change as change_rows
from importer.models import ImportJob, Lab, Target
from importer.notifications.import_events import lab_approval_wanted
from importer.queue import Message, send

WAITS_FOR = "another person's approval"
RECIPE = ("mapping_json", "fillings_json", "dialect_json", "options_json", "grid_json", "sample_json", "budget_json")


def digest_of(lab: Lab) -> str:
    """SHA-256 of everything that decides what the lab writes."""
    file = [lab.source_name, lab.source.path, lab.source.size, lab.source.fingerprint] if lab.source else []
    names = (*RECIPE, "combinations_json", "repeats", "scratch_schema")
    return approval.digest(lab, [file, *(getattr(lab, name) for name in names)])


def is_needed(lab: Lab) -> bool:
    """Whether another person must approve the lab as it is now."""
    return lab.target.needs_approval and lab.approved_digest != digest_of(lab)


def is_asked_for(lab: Lab) -> bool:
    """Whether the lab does nothing until somebody approves or refuses it."""
    return lab.status == Status.WAITING and lab.approval_asked_at is not None and is_needed(lab)


def sentence(lab: Lab) -> str:
    """What the lab does, in a sentence."""
    return (
        f"Rows of {lab.source_name} are loaded into copies of {lab.table} in {lab.scratch_schema} on {lab.target.name},"
        f" with {len(lab.combinations)} combinations of settings ({lab.grid.about}). The copies are dropped at the end."
    )


def ask(lab: Lab) -> None:
    """From now on the lab waits for approval. Those who want to know are notified, in one transaction with that."""
    if lab.approval_asked_at is not None:
        return
    with transaction.atomic():
        if change(lab.pk, [Status.WAITING], approval_asked_at=timezone.now(), waits_for=WAITS_FOR):
            lab_approval_wanted(lab, sentence(lab))


def record_release(lab: Lab) -> None:
    """Record that a lab that waited for approval continues without, because its target needs none any more."""
    if lab.approval_asked_at is not None and not lab.approved_digest:
        audit.record("approval_released", lab, plan=digest_of(lab))


def approve(lab_id: int, digest: str) -> None:
    """Let the lab begin. `digest` is that of what the approving person has seen.

    Raises Forbidden for who may not approve it, and Problem if it does not wait for that, or has changed since.
    """
    lab = _asked_for(lab_id)
    user = approval.require_other(lab)
    now = checked_digest(lab, digest_of(lab), digest)
    audit.note(approved=now)
    _decide(lab, approved_digest=now, approved_by=user, approved_at=timezone.now(), waits_for="")


def refuse(lab_id: int, reason: str) -> None:
    """End a lab that waits for approval. Raises Problem without a reason, and otherwise as approve() does."""
    lab = _asked_for(lab_id)
    user, reason = approval.require_other(lab), checked_reason(reason)
    audit.note(refused=digest_of(lab), why=reason)
    problem = ApprovalRefused(
        f"{user.get_username()} refused this lab: {reason}",
        where=lab.table,
        advice="It has written nothing. Start another lab.",
    )
    _decide(lab, status=Status.ENDING, becomes=Status.FAILED, problem=problem.as_json(), waits_for="")


def release_unmarked(target: Target) -> None:
    """Let what waits for approval continue, if the target needs none any more. Each import and lab records that."""
    if not target.needs_approval:
        imports = ImportJob.objects.filter(target=target, status=ImportJob.Status.UNAPPROVED)
        send([Message("advance", pk) for pk in imports.values_list("pk", flat=True)])
        labs = Lab.objects.filter(target=target, status=Status.WAITING)
        send([Message("take_lab", pk) for pk in labs.values_list("pk", flat=True)])


def _asked_for(lab_id: int) -> Lab:
    lab = Lab.objects.select_related("target", "source").get(pk=lab_id)
    if not is_asked_for(lab):
        raise Problem(
            "The lab does not wait for an approval.", where=str(lab), advice="Its page shows its present state."
        )
    return lab


def _decide(lab: Lab, **values: object) -> None:
    """Change the lab that waits for approval. Raises Problem if somebody else has decided before."""
    if not change_rows(
        Lab.objects.filter(pk=lab.pk, status=Status.WAITING, approved_digest=lab.approved_digest), **values
    ):
        raise Problem("Somebody else has decided just now.", str(lab), "Its page shows how.")
    send([Message("take_lab", lab.pk)])

"""What a button confirms: what its page has shown of a thing, and nothing that came up later.

Each address whose button depends on such facts is declared here once. Its form has them in a hidden field
(`{% confirms %}`), and a press is refused if one of them has changed, with what it was and is.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib.auth.models import Group, User
from django.http import HttpRequest
from django.utils import timezone
from django.utils.dateformat import format as date_format

from importer.access.acting import acting_user
from importer.engine.errors import Problem
from importer.engine.mysql.sign_in.reasons import shown as shown_problem
from importer.jobs.actions import applying, fixes, obstacles
from importer.jobs.steps.table_backup import imports_since_load
from importer.models import Channel, DiscoveredFile, ImportJob, MappingPreset
from importer.notifications.channels import waiting
from importer.preparation.presets import RECIPE
from importer.retention.needed import can_be_retried
from importer.schedules import HeaderChange

Facts = Mapping[str, object]
FIELD = "confirmed"
_RETRIED = (ImportJob.Status.FAILED, ImportJob.Status.CANCELLED)


def _comparison(job: ImportJob) -> Facts:
    compared = job.compared_json or {}
    counts = {f"{each} rows": compared.get(each, 0) for each in ("new", "changed", "deleted", "marked")}
    return {**counts, "the attempt that compared them": job.attempts} if applying.can_apply(job) else {}


def _failure(job: ImportJob) -> Facts:
    if job.status not in _RETRIED:
        return {}
    why = shown_problem(job.problem).get("what", "") if job.problem else ""
    return {"why it ended": why, "rejected rows": job.rejected_rows}


def _kept(job: ImportJob) -> Facts:
    return {"what is kept": job.kept_table, "its rows": job.kept_rows} if job.kept_table else {}


def _backup(job: ImportJob) -> Facts:
    """With the imports whose rows would be overwritten or put aside."""
    since = ", ".join(map(str, imports_since_load(job)))
    return {**_kept(job), "imports into the table since": since} if job.kept_table else {}


@dataclass(frozen=True)
class Version:
    """A state that is too long to show: what has it, a digest of it, and who gave it to it, when (None: not known)."""

    what: str
    digest: str
    by: User | None
    at: datetime | None

    @classmethod
    def of(cls, what: str, state: object, by: User | None, at: datetime | None) -> "Version":
        digest = hashlib.sha256(json.dumps(state, default=str, sort_keys=True).encode()).hexdigest()[:12]
        return cls(what, digest, by, at)

    def __str__(self) -> str:
        return f"{self.at.isoformat() if self.at else ''} {self.digest}"

    def told(self, before: str) -> str:
        """What has changed since the version of this text. What was taken back has left no time."""
        who = "you" if self.by == acting_user() else str(self.by or "somebody")
        changed = f"{self.what}, changed by {who}"
        then = _moment_of(before)
        if not self.at or (then and self.at <= then):
            return changed
        local = timezone.localtime(self.at)
        if local.date() == timezone.localtime().date():
            return f"{changed} at {date_format(local, 'H:i')}"
        return f"{changed} on {date_format(local, 'j M, H:i')}"


def _moment_of(text: str) -> datetime | None:
    """The moment of a Version, from its text, which a form has sent."""
    try:
        moment = datetime.fromisoformat(text.partition(" ")[0])
    except ValueError:
        return None
    return moment if moment.tzinfo else None


def _drafts(job: ImportJob) -> Facts:
    person = acting_user()
    found = fixes.fixes_of(job, person) if person else None
    if not found or not found.own:
        return {}
    what = f"your corrected rows (now {len(found.own)})"
    return {"drafts": Version.of(what, sorted(found.own.items()), person, found.changed_at)}


def _preset(preset: MappingPreset | None) -> Facts:
    if preset is None:
        return {}
    recipe = [getattr(preset, name) for name in RECIPE]
    return {"preset": Version.of(f"the preset {preset.name}", recipe, preset.changed_by, preset.changed_at)}


def _waiting(channel: Channel) -> Facts:
    return {"messages that wait": waiting(channel)}


def _undone(job: ImportJob) -> Facts:
    changes = job.temporary_changes if job.unrestored else None
    return {"what is not put back": changes.description if changes else ""} if obstacles.is_stuck(job) else {}


def _lost(job: ImportJob) -> Facts:
    retried = ImportJob.objects.filter(can_be_retried(timezone.now()), pk=job.pk).exists()
    rows = job.rejected_rows + job.skipped_rows
    return {"rejected or skipped rows": rows, "whether it can be retried": retried}


def _doubled(file: DiscoveredFile) -> Facts:
    """Of all attempts with the file, since all of them are forgotten."""
    tried = ImportJob.objects.filter(picked__schedule=file.schedule_id, picked__name=file.name).distinct()
    return {"rows of it that are in the table": sum(job.rows_in_table for job in tried)}


def _header(change: HeaderChange) -> Facts:
    names = ", ".join(each.name for each in change.fields)
    return {"the file": change.file.name, "its header": names, "changes of the table": "; ".join(change.table_changes)}


def _grants(group: Group) -> Facts:
    return {"its grants": "; ".join(sorted(map(str, group.grants.all())))}


# The facts that each address depends on; none where its button is not offered, which the action then says itself.
CONFIRMED: Mapping[str, Callable[[Any], Facts]] = {
    "job_apply": _comparison,
    "job_retry": _failure,
    "job_restore": _backup,
    "job_drop_backup": _kept,
    "job_load_fixed": _drafts,
    "job_end_without": _undone,
    "job_delete": _lost,
    "schedule_forget": _doubled,
    "schedule_header": _header,
    "group_delete": _grants,
    "save_preset": _preset,
    "channel_delete": _waiting,
    "channel_discard": _waiting,
}


def shown(name: str, thing: Any) -> str:
    """The facts of an address as the form's field has them."""
    return json.dumps({fact: str(value) for fact, value in CONFIRMED[name](thing).items()})


def check_confirmed(request: HttpRequest, thing: Any) -> None:
    """Raise Problem if what the page of the request has shown is no longer so. A program has no page."""
    assert request.resolver_match
    facts = CONFIRMED.get(request.resolver_match.url_name or "")
    if facts is None or FIELD not in request.POST:
        return
    before = _sent(request.POST[FIELD])
    changed = [
        _told(fact, before.get(fact), value) for fact, value in facts(thing).items() if before.get(fact) != str(value)
    ]
    if changed:
        what = f"It has changed since the page showed it: {'; '.join(changed)}."
        raise Problem(what, advice="Nothing was done. Look at it as it is now, then press again.")


def _told(fact: str, before: object, now: object) -> str:
    """What has changed of a fact, in words."""
    if isinstance(now, Version):
        return now.told(str(before or ""))
    return f"{fact} (then {before or 'none'}, now {str(now) or 'none'})"


def _sent(text: str) -> Mapping[str, object]:
    try:
        sent = json.loads(text)
    except ValueError:
        return {}
    return sent if isinstance(sent, dict) else {}

"""The policies: what is deleted after how many days. Each is declared once, in POLICIES.

A setting in days has the default; an admin can change the value in force, which is then stored in the database.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from django.conf import settings

from config.environment import MOST_DAYS, DaysSetting, days_settings
from importer.access import audit
from importer.access.acting import acting
from importer.access.policy import require_admin
from importer.engine.errors import Problem
from importer.models import RetentionPolicy

KEEP = "keep"
AT_ONCE = "at once"


@dataclass(frozen=True)
class Policy:
    """What is deleted, and since when its days count (`deletes`).

    `group`: the heading above it on the page Storage. `setting`: the setting with the default.
    """

    group: str
    name: str
    title: str
    deletes: str
    setting: str

    @property
    def declared(self) -> DaysSetting:
        return days_settings[self.setting]

    @property
    def least(self) -> int:
        """The fewest days that may be chosen."""
        return self.declared.least


@dataclass(frozen=True)
class InForce:
    """The days of a policy that are in force, None for ever; and where they come from, in words."""

    policy: Policy
    days: int | None
    source: str

    @property
    def words(self) -> str:
        if self.days is None:
            return "for ever"
        return AT_ONCE if self.days == 0 else f"{self.days} day{'s' if self.days > 1 else ''}"

    @property
    def text(self) -> str:
        """The value as one enters it."""
        return KEEP if self.days is None else str(self.days)

    def before(self, now: datetime) -> datetime | None:
        """What ended before this moment is deleted; None: nothing is."""
        return None if self.days is None else now - timedelta(days=self.days)


POLICIES = {
    each.name: each
    for each in (
        Policy(
            "Files",
            "imported-files",
            "Files that were imported",
            "After their last import has balanced.",
            "IMPORTED_FILES_DAYS",
        ),
        Policy(
            "Files",
            "other-files",
            "Other files",
            "After their last use, once no retry needs them.",
            "OTHER_FILES_DAYS",
        ),
        Policy(
            "Files",
            "retry",
            "Time to retry",
            "After an import failed or was cancelled.",
            "RETRY_DAYS",
        ),
        Policy("Files", "rejects", "Rejected rows", "After their import.", "REJECTS_DAYS"),
        Policy(
            "On the targets",
            "staged",
            "Staged rows on the targets",
            "After a comparison that was not applied.",
            "STAGED_DAYS",
        ),
        Policy("On the targets", "ledger", "Ledgers on the targets", "After their import.", "LEDGER_DAYS"),
        Policy(
            "On the targets",
            "kept-rows",
            "Old rows on the targets",
            "After their import. Old tables of mode replace stay.",
            "KEPT_ROWS_DAYS",
        ),
        Policy("Records", "chunks", "Chunks", "After their import. Its page keeps its charts.", "CHUNKS_DAYS"),
        Policy(
            "Records",
            "jobs",
            "Imports",
            "After their end. Performance keeps their facts.",
            "JOBS_DAYS",
        ),
        Policy("Records", "history", "History", "After the import, once its page is deleted.", "HISTORY_DAYS"),
        Policy("Records", "runs", "Runs of schedules", "After a run without an import.", "RUNS_DAYS"),
        Policy("Records", "notifications", "Notifications", "After they were sent or given up.", "NOTIFICATIONS_DAYS"),
        Policy("Records", "sessions", "Sessions", "After they have ended.", "SESSIONS_DAYS"),
        Policy("Records", "audit", "Audit log", "After each event.", "AUDIT_DAYS"),
    )
}


def policy(name: str) -> Policy:
    """The policy of this name. Raises Problem for an unknown one."""
    if name not in POLICIES:
        raise Problem(f"There is no policy {name}.", advice=f"Policies: {', '.join(POLICIES)}.")
    return POLICIES[name]


def in_force(name: str) -> InForce:
    """The days of a policy that are in force."""
    return _in_force(policy(name), RetentionPolicy.objects.filter(pk=name).select_related("changed_by").first())


def all_in_force() -> list[InForce]:
    """All policies in their order, each with the days that are in force."""
    stored = {each.name: each for each in RetentionPolicy.objects.select_related("changed_by")}
    return [_in_force(each, stored.get(each.name)) for each in POLICIES.values()]


def _in_force(about: Policy, stored: RetentionPolicy | None) -> InForce:
    if stored:
        by = f" by {stored.changed_by.get_username()}" if stored.changed_by else ""
        days = None if stored.days is None else max(stored.days, about.least)
        return InForce(about, days, f"changed{by} on {stored.changed_at:%Y-%m-%d}")
    source = f"the setting {about.setting}" if about.declared.stated else "the default"
    return InForce(about, getattr(settings, about.setting), source)


def before(name: str, now: datetime) -> datetime | None:
    """What ended before this moment is deleted by the policy; None: nothing is."""
    return in_force(name).before(now)


def change(name: str, text: str) -> InForce:
    """Change the days of a policy: a number, `keep`, or "" for the setting's value again. Returns what is in force.

    Raises Forbidden unless an admin acts, and Problem for an unknown policy or a wrong number.
    """
    require_admin("change what is kept")
    about = policy(name)
    old = in_force(name)
    store = partial(RetentionPolicy.objects.update_or_create, name=name)
    if text == "":
        RetentionPolicy.objects.filter(pk=name).delete()
    else:
        user = acting()
        changed_by = user if user is not None and user.is_authenticated else None
        store(defaults={"days": _days(about, text), "changed_by": changed_by})
    new = in_force(name)
    audit.note(policy=name, days={"old": old.text, "new": new.text})
    return new


def _days(about: Policy, text: str) -> int | None:
    if text == KEEP:
        return None
    if text.isascii() and text.isdigit() and about.least <= int(text) <= MOST_DAYS:
        return int(text)
    raise Problem(
        f"{about.title}: “{text[:20]}” is not possible.",
        advice=f"Write a number of days from {about.least} to {MOST_DAYS}, or {KEEP} to delete none.",
    )

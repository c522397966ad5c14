"""The rule of each URL: what a person needs to see it, and to change something by it. A URL without one is refused."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.contrib.auth.models import Group, User
from django.db import models
from django.http import Http404

from importer.access import limits, policy
from importer.access.acting import acting_user
from importer.models import (
    Channel,
    Grant,
    ImportJob,
    Lab,
    Level,
    MappingPreset,
    Notification,
    Schedule,
    ScheduleRun,
    Scope,
    SourceConnection,
    SourceFile,
    Target,
)

CHANGES = ("POST", "PUT", "PATCH", "DELETE")
_READ_BY_OWN_SCOPE = (Scope.PEOPLE, Scope.METRICS)


@dataclass(frozen=True)
class Rule:
    """What a person needs to use a URL.

    - `thing`: the kind of the thing that the URL names by pk or key. Without one, the page lists what its reader may
      see, and only operators and admins change something by it.
    - `look`, `change`: the level on the thing for reading it, and for everything else.
    - `owner`: the person who made the thing needs no level on it.
    - `admin`: what only admins may do, to complete "Only admins may". `operator`: viewers may not even read.
    - `public`: for everybody, signed in or not. `account`: about the person's own account. A thing that the URL
      names must be the person's.
    - `machines`: programs on the machines of this setting (networks) may read it without an account.
    - `no_token`: only for somebody who is signed in with a browser: accounts, people, and approvals.
    - `scope`: what a token needs to change something by it; to read, it needs Scope.READ, except for people and
      metrics, which have scopes of their own.
    - `rate`: how often a person may change something by it. `places`: how many of its answers a person may be getting
      at a time.
    - `recorded`: the methods whose requests are in the audit log: those that change something or hand out rows.
    - `shows_rows`: reading it is in the audit log, too, as often as Entry.seldom says: it has pages of rows.
    """

    thing: type[models.Model] | None = None
    look: Level = Level.LOOK
    change: Level = Level.LOAD
    owner: bool = False
    admin: str = ""
    operator: bool = False
    public: bool = False
    account: bool = False
    machines: str = ""
    no_token: bool = False
    scope: Scope = Scope.IMPORT
    rate: limits.Rate | None = None
    places: limits.Places | None = None
    recorded: tuple[str, ...] = CHANGES
    shows_rows: bool = False

    @property
    def in_log(self) -> tuple[str, ...]:
        """The methods whose requests are in the audit log, all or some."""
        return (*self.recorded, "GET") if self.shows_rows else self.recorded

    def check(self, reads: bool, named: Mapping[str, Any]) -> None:
        """Raise Http404 for what the acting person may not see, and Forbidden for what the person may not do.

        Then the use is counted. Raises TooOften, which is a Forbidden, if there were too many.

        `reads`: the request changes nothing. `named`: the values in the URL.
        """
        if self.account and self.thing:
            self._own(named)
        if self.public or self.account:
            return
        if self.admin:
            policy.require_admin(self.admin)
        self._require(reads, self._named(named) if self.thing else None)
        if self.rate and not reads:
            limits.use(self.rate)

    def allows(self, reads: bool, thing: models.Model | None = None) -> bool:
        """Whether check() lets the acting person pass, apart from the rate; `thing` is what the URL names."""
        try:
            if self.admin:
                policy.require_admin(self.admin)
            self._require(reads, thing)
        except policy.Forbidden:
            return False
        return True

    def _require(self, reads: bool, thing: models.Model | None) -> None:
        if thing:
            policy.require(self.look if reads else self.change, thing, owner=self.owner)
        elif self.operator or not reads:
            policy.require_operator()

    def scope_for(self, reads: bool) -> Scope:
        """The scope that a token needs for a request."""
        return Scope.READ if reads and self.scope not in _READ_BY_OWN_SCOPE else self.scope

    def _own(self, named: Mapping[str, Any]) -> None:
        assert self.thing
        if not self.thing._default_manager.filter(user=acting_user(), **identifying(named)).exists():
            raise Http404

    def _named(self, named: Mapping[str, Any]) -> models.Model:
        assert self.thing
        things = policy.seen(policy.narrow(self.thing._default_manager.all()))
        if thing := things.filter(**identifying(named)).first():
            return thing
        raise Http404


# The values in a URL that say which thing it names, with the field of the model that each is in.
_IDENTIFIERS = {"pk": "pk", "key": "key", "id": "pk", "job": "pk", "file": "key"}


def identifying(named: Mapping[str, Any]) -> dict[str, Any]:
    """The condition that finds the thing which a URL names; empty if it names none."""
    return {_IDENTIFIERS[name]: value for name, value in named.items() if name in _IDENTIFIERS}


PUBLIC, ACCOUNT = Rule(public=True, recorded=()), Rule(account=True, no_token=True)
SIGN_IN = Rule(public=True, no_token=True, recorded=())
# Names of allauth's pages, which are all about the person's own account.
ACCOUNT_NAMES = ("account_", "mfa_", "usersessions_", "socialaccount_", "openid_connect_")
LISTED = Rule()
SEARCHED = Rule(places=limits.SEARCHES)
OPERATORS = Rule(operator=True)
JOB, OWN_JOB = Rule(ImportJob), Rule(ImportJob, owner=True)
# Approving and refusing what others have started: by a person with a browser, or a token that is for it.
JOB_DECISION, LAB_DECISION = (Rule(each, no_token=True, scope=Scope.APPROVE) for each in (ImportJob, Lab))
# The rows of a file: more than the page of its import.
ROWS = Rule(ImportJob, look=Level.LOAD, owner=True)
ROW_FILE = Rule(ImportJob, look=Level.LOAD, owner=True, recorded=("GET",), places=limits.EXPORTS)
FILE = Rule(SourceFile, look=Level.LOAD)
SCHEDULE = Rule(Schedule, scope=Scope.SCHEDULE)
SCHEDULE_FORM = replace(SCHEDULE, look=Level.LOAD)
LAB = Rule(Lab, owner=True)
PRESET = Rule(MappingPreset, owner=True)
TARGET = Rule(Target, change=Level.ADMINISTER, scope=Scope.MANAGE)
CONNECTION = Rule(SourceConnection, look=Level.ADMINISTER, change=Level.ADMINISTER, scope=Scope.MANAGE)
FROM_CONNECTION = Rule(SourceConnection, look=Level.LOAD)
CHANNEL = Rule(Channel, look=Level.ADMINISTER, change=Level.ADMINISTER, scope=Scope.MANAGE)
# A token that leaks must not make passwords that somebody gets to see, factors or further tokens.
PEOPLE = Rule(admin="see and change people", no_token=True, scope=Scope.PEOPLE)
PERSON, GROUP, GRANT = (replace(PEOPLE, thing=each) for each in (User, Group, Grant))

RULES: dict[str, Rule] = {
    "healthz": PUBLIC,
    "readyz": PUBLIC,
    "metrics": Rule(admin="read the metrics", scope=Scope.METRICS, machines="METRICS_FROM"),
    "login": SIGN_IN,
    "logout": SIGN_IN,
    "signed_in": SIGN_IN,
    "invitation": SIGN_IN,
    "home": LISTED,
    "jobs": LISTED,
    "jobs_bulk": LISTED,
    "job": JOB,
    "job_live": JOB,
    "job_rates": JOB,
    "job_why": JOB,
    "job_problem_chunks": JOB,
    "job_chunks": JOB,
    "job_table_rows": Rule(ImportJob, look=Level.LOAD, recorded=("GET",)),
    "job_timings": JOB,
    "job_pause": OWN_JOB,
    "job_resume": OWN_JOB,
    "job_cancel": OWN_JOB,
    "job_approve": replace(JOB_DECISION, rate=limits.STARTS),
    "job_refuse": JOB_DECISION,
    **dict.fromkeys(("job_retry", "job_apply", "job_compare_again"), replace(JOB, rate=limits.STARTS)),
    "job_drop_staged": JOB,
    "job_dismiss": JOB,
    "job_restore_now": replace(JOB, rate=limits.STARTS),
    "job_end_without": JOB,
    "job_restore": JOB,
    "job_drop_backup": JOB,
    "job_parallelism": JOB,
    "job_priority": JOB,
    "job_reject_file": ROW_FILE,
    "job_reasons_file": ROW_FILE,
    "job_rejected": replace(ROWS, shows_rows=True),
    # A draft of the person; what is loaded of it is recorded.
    "job_fix_row": replace(ROWS, recorded=(), shows_rows=True),
    "job_fixed_rows": ROWS,
    "job_load_fixed": replace(ROWS, rate=limits.STARTS),
    "job_edit": ROWS,
    "job_run_again": replace(JOB, rate=limits.STARTS),
    "job_again": replace(ROWS, rate=limits.UPLOADS),
    "job_preset": JOB,
    "job_delete": Rule(ImportJob, look=Level.ADMINISTER, change=Level.ADMINISTER, owner=True),
    "new": OPERATORS,
    "new_tables": OPERATORS,
    "new_places": replace(OPERATORS, rate=limits.UPLOADS),
    "new_from": replace(FROM_CONNECTION, rate=limits.UPLOADS),
    "new_from_lines": FROM_CONNECTION,
    "new_together": replace(OPERATORS, rate=limits.UPLOADS),
    # A post of changed choices is a question, and a patch is a part of a file.
    "new_source": Rule(SourceFile, look=Level.LOAD, recorded=()),
    "new_findings": Rule(SourceFile, look=Level.LOAD),
    "start_import": replace(FILE, rate=limits.STARTS),
    "remove_source": FILE,
    "save_preset": FILE,
    "uploads": replace(OPERATORS, rate=limits.UPLOADS),
    "upload": Rule(SourceFile, look=Level.LOAD, recorded=("DELETE",)),
    "direct_uploads": replace(OPERATORS, rate=limits.UPLOADS),
    "direct_upload": Rule(SourceFile, look=Level.LOAD, recorded=()),
    "direct_part": Rule(SourceFile, look=Level.LOAD, recorded=()),
    "schedules": LISTED,
    "schedule_new": replace(OPERATORS, scope=Scope.SCHEDULE),
    "schedule_preview": replace(OPERATORS, scope=Scope.SCHEDULE),
    "schedule": SCHEDULE,
    "schedule_edit": SCHEDULE_FORM,
    "schedule_subscriptions": Rule(Schedule, scope=Scope.SCHEDULE, admin="choose who is notified about a schedule"),
    "schedule_pause": SCHEDULE,
    "schedule_resume": SCHEDULE,
    "schedule_run": replace(SCHEDULE, rate=limits.STARTS),
    "schedule_forget": SCHEDULE,
    "schedule_delete": SCHEDULE,
    "schedule_backfill": replace(SCHEDULE, rate=limits.STARTS),
    "schedule_header": replace(SCHEDULE_FORM, rate=limits.STARTS),
    "run_cancel": Rule(ScheduleRun, scope=Scope.SCHEDULE),
    "run_dismiss": Rule(ScheduleRun, scope=Scope.SCHEDULE),
    "run_again": Rule(ScheduleRun, scope=Scope.SCHEDULE, rate=limits.STARTS),
    "history": SEARCHED,
    "history_compare": SEARCHED,
    "history_chart": SEARCHED,
    "history_values": SEARCHED,
    "history_csv": replace(LISTED, places=limits.EXPORTS),
    "history_json": replace(LISTED, places=limits.EXPORTS),
    "labs": LISTED,
    "lab_new": replace(OPERATORS, rate=limits.STARTS),
    "lab_experiments": LISTED,
    "lab_experiment_start": replace(OPERATORS, rate=limits.STARTS),
    "lab_report": LAB,
    "lab": LAB,
    "lab_live": LAB,
    "lab_charts": LAB,
    "lab_cancel": LAB,
    "lab_clean_now": replace(LAB, rate=limits.STARTS),
    "lab_end_without": LAB,
    "lab_approve": replace(LAB_DECISION, rate=limits.STARTS),
    "lab_refuse": LAB_DECISION,
    "lab_preset": LAB,
    "presets": LISTED,
    "preset": PRESET,
    "preset_rename": PRESET,
    "preset_delete": PRESET,
    "targets": LISTED,
    "target_new": Rule(admin="add targets", scope=Scope.MANAGE, rate=limits.CHECKS),
    "target": replace(TARGET, rate=limits.CHECKS),
    "target_check": Rule(Target, scope=Scope.MANAGE, rate=limits.CHECKS),
    "target_delete": TARGET,
    "connections": LISTED,
    "connection_new": Rule(admin="add connections", scope=Scope.MANAGE, rate=limits.CHECKS),
    "connection": replace(CONNECTION, rate=limits.CHECKS),
    "connection_files": CONNECTION,
    "connection_check": replace(CONNECTION, rate=limits.CHECKS),
    "connection_confirm": CONNECTION,
    "connection_delete": CONNECTION,
    "channels": LISTED,
    "channel_new": Rule(admin="add channels", scope=Scope.MANAGE),
    "channel": CHANNEL,
    "channel_switch": CHANNEL,
    "channel_test": replace(CHANNEL, rate=limits.CHECKS),
    "channel_send_now": CHANNEL,
    "channel_discard": CHANNEL,
    "channel_delete": CHANNEL,
    "people": PEOPLE,
    "person_new": PEOPLE,
    "person": PERSON,
    "person_active": PERSON,
    "person_link": PERSON,
    "person_factors": PERSON,
    "person_groups": PERSON,
    "person_grant": PERSON,
    "groups": PEOPLE,
    "group": GROUP,
    "group_members": GROUP,
    "group_grant": GROUP,
    "group_delete": GROUP,
    "grant_revoke": GRANT,
    "notice_again": Rule(Notification, scope=Scope.MANAGE, change=Level.ADMINISTER),
    "workers": OPERATORS,
    "storage": OPERATORS,
    "storage_policy": Rule(admin="change what is kept", scope=Scope.MANAGE),
    "storage_file_delete": Rule(SourceFile, look=Level.ADMINISTER, change=Level.ADMINISTER),
    "api_docs": LISTED,
    "api_schema": PUBLIC,
    "audit": Rule(admin="read the audit log"),
    "audit_csv": Rule(admin="read the audit log", recorded=("GET",), places=limits.EXPORTS),
}


def rule_of(name: str) -> Rule | None:
    """The rule of a URL by its name; None for one without."""
    return RULES.get(name) or (ACCOUNT if name.startswith(ACCOUNT_NAMES) else None)

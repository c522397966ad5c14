"""The rule of each command and verb: what a person needs to run it with `--as`. A command without one is refused.

The rules are those of the pages that do the same (dashboard/access/rules.py). A thing that the person may not see is
left to the command, which looks it up among the seen ones and says that it does not exist.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.db import models

from importer.access import limits, policy
from importer.models import Channel, ImportJob, Lab, Level, MappingPreset, Schedule, SourceConnection, Target


@dataclass(frozen=True)
class Named:
    """A thing that the command line names, and the level that the command needs on it.

    `option` has its name or number, and `by` is the field that this is in. `owner`: who made the thing needs no level.
    """

    model: type[models.Model]
    level: Level
    option: str = "name"
    by: str = "name"
    owner: bool = False

    def find(self, options: Mapping[str, Any]) -> models.Model | None:
        """The thing, if the options name one that the acting person may see."""
        wanted = options.get(self.option)
        if wanted in (None, ""):
            return None
        things = policy.seen(policy.narrow(self.model._default_manager.all()))
        return things.filter(**{self.by: wanted}).first()

    def check(self, thing: models.Model) -> None:
        """Raise Forbidden unless the acting person has the level on the thing, or made it."""
        policy.require(self.level, thing, owner=self.owner)


@dataclass(frozen=True)
class Rule:
    """What a person needs to run a command: levels on `things`, or a role.

    - `admin`: what only admins may do, to complete "Only admins may".
    - `rate`: how often the person may run it.
    - `replaces`: with --replace, a level on the thing that exists is enough.
    - `operator`: viewers may not.

    A command without any of these lists what its reader may see.
    """

    things: tuple[Named, ...] = ()
    operator: bool = False
    admin: str = ""
    replaces: Named | None = None
    rate: limits.Rate | None = None

    def check(self, options: Mapping[str, Any]) -> None:
        """Raise Forbidden, with the reason, for what the acting person may not do, or not so often: TooOften."""
        if self.operator:
            policy.require_operator()
        replaced = self.replaces.find(options) if self.replaces and options.get("replace") else None
        if self.replaces and replaced:
            self.replaces.check(replaced)
        elif self.admin:
            policy.require_admin(self.admin)
        for each in self.things:
            if thing := each.find(options):
                each.check(thing)
        if self.rate:
            limits.use(self.rate)


LISTED = Rule()
INSTALLATION = Rule(admin="change the installation")
PEOPLE = Rule(admin="see and change people")


def _on(model: type[models.Model], level: Level, option: str = "name", by: str = "name") -> Rule:
    return Rule((Named(model, level, option, by),), operator=level > Level.LOOK)


def _adds(model: type[models.Model], several: str) -> Rule:
    return Rule(admin=f"add {several}", replaces=Named(model, Level.ADMINISTER))


_INTO_TARGET = Named(Target, Level.LOAD, "target")
_LIKE_IMPORT = Named(ImportJob, Level.LOAD, "job", "pk")
_OF_IMPORT = _on(ImportJob, Level.LOAD, "job", "pk")
_SCHEDULE = _on(Schedule, Level.LOAD)
_PRESET = Rule((Named(MappingPreset, Level.LOAD, owner=True),), operator=True)
_SUBSCRIBES = Rule(admin="choose who is notified about a schedule")
_RETENTION = Rule(admin="change what is kept")
_EXPERIMENT = Rule((_INTO_TARGET,), operator=True, rate=limits.STARTS)

RULES: dict[str, Rule] = {
    "import_csv": Rule(
        (
            _INTO_TARGET,
            Named(MappingPreset, Level.LOOK, "preset"),
            Named(ImportJob, Level.LOOK, "like", "pk"),
            Named(SourceConnection, Level.LOAD, "from_connection"),
        ),
        operator=True,
        rate=limits.STARTS,
    ),
    "job cancel": Rule((Named(ImportJob, Level.LOAD, "job", "pk", owner=True),), operator=True),
    "job delete": Rule((Named(ImportJob, Level.ADMINISTER, "job", "pk", owner=True),), operator=True),
    "job plan": _on(ImportJob, Level.LOOK, "job", "pk"),
    "job why": _on(ImportJob, Level.LOOK, "job", "pk"),
    "job list": LISTED,
    "job show": _on(ImportJob, Level.LOOK, "job", "pk"),
    "job wait": _on(ImportJob, Level.LOOK, "job", "pk"),
    **dict.fromkeys(("job retry", "job apply", "job compare"), replace(_OF_IMPORT, rate=limits.STARTS)),
    "job drop": _OF_IMPORT,
    "job pause": Rule((Named(ImportJob, Level.LOAD, "job", "pk", owner=True),), operator=True),
    "job resume": Rule((Named(ImportJob, Level.LOAD, "job", "pk", owner=True),), operator=True),
    "job priority": _OF_IMPORT,
    "job rejects": Rule((Named(ImportJob, Level.LOAD, "job", "pk", owner=True),)),
    "job approve": _OF_IMPORT,
    "job refuse": _OF_IMPORT,
    "job run": replace(_OF_IMPORT, rate=limits.STARTS),
    "job undo": _OF_IMPORT,
    "job restore-now": replace(_OF_IMPORT, rate=limits.STARTS),
    "job end-without": _OF_IMPORT,
    "kept_table restore": _OF_IMPORT,
    "kept_table drop": _OF_IMPORT,
    "history": LISTED,
    "target add": replace(_adds(Target, "targets"), rate=limits.CHECKS),
    "target check": replace(_on(Target, Level.LOAD), rate=limits.CHECKS),
    "target restore": _on(Target, Level.ADMINISTER),
    "target list": LISTED,
    "target remove": _on(Target, Level.ADMINISTER),
    "connection add": replace(_adds(SourceConnection, "connections"), rate=limits.CHECKS),
    "connection check": replace(_on(SourceConnection, Level.ADMINISTER), rate=limits.CHECKS),
    "connection list": LISTED,
    "connection remove": _on(SourceConnection, Level.ADMINISTER),
    "channel add": _adds(Channel, "channels"),
    "channel list": LISTED,
    "channel subscribe": _SUBSCRIBES,
    "channel test": replace(_on(Channel, Level.ADMINISTER), rate=limits.CHECKS),
    "channel send-now": _on(Channel, Level.ADMINISTER),
    "channel discard": _on(Channel, Level.ADMINISTER),
    "channel remove": _on(Channel, Level.ADMINISTER),
    "schedule list": LISTED,
    "schedule show": _on(Schedule, Level.LOOK),
    "schedule create-from-job": Rule(
        (_LIKE_IMPORT, Named(SourceConnection, Level.LOAD, "connection")),
        operator=True,
    ),
    "schedule run": replace(_SCHEDULE, rate=limits.STARTS),
    "schedule run-again": replace(_SCHEDULE, rate=limits.STARTS),
    "schedule backfill": replace(_SCHEDULE, rate=limits.STARTS),
    "schedule pause": _SCHEDULE,
    "schedule resume": _SCHEDULE,
    "schedule forget": _SCHEDULE,
    "lab run": Rule((_INTO_TARGET, _LIKE_IMPORT), operator=True, rate=limits.STARTS),
    "lab list": LISTED,
    "lab show": _on(Lab, Level.LOOK, "lab", "pk"),
    "lab cancel": Rule((Named(Lab, Level.LOAD, "lab", "pk", owner=True),), operator=True),
    "lab clean-now": Rule((Named(Lab, Level.LOAD, "lab", "pk", owner=True),), operator=True, rate=limits.STARTS),
    "lab end-without": Rule((Named(Lab, Level.LOAD, "lab", "pk", owner=True),), operator=True),
    "lab approve": _on(Lab, Level.LOAD, "lab", "pk"),
    "lab refuse": _on(Lab, Level.LOAD, "lab", "pk"),
    "lab sweep": _on(Target, Level.ADMINISTER, "target"),
    "experiment list": LISTED,
    "experiment run": _EXPERIMENT,
    "retention show": LISTED,
    "retention set": _RETENTION,
    "retention run": _RETENTION,
    "prepare": INSTALLATION,
    "ensure_admin": INSTALLATION,
    "rotate_keys": INSTALLATION,
    # Each change has the rule of the command that makes it alone.
    "apply": Rule(operator=True, rate=limits.CHECKS),
    "backup create": INSTALLATION,
    "preset list": LISTED,
    "preset show": _on(MappingPreset, Level.LOOK),
    "preset export": _on(MappingPreset, Level.LOOK),
    "preset rename": _PRESET,
    "preset delete": _PRESET,
    "preset import": Rule((_INTO_TARGET,), operator=True),
    "serve": INSTALLATION,
    "backup check": INSTALLATION,
    "backup restore": INSTALLATION,
    "user list": PEOPLE,
    "user show": PEOPLE,
    "user add": PEOPLE,
    "user role": PEOPLE,
    "user deactivate": PEOPLE,
    "user activate": PEOPLE,
    "user reset": PEOPLE,
    "user email": PEOPLE,
    "user groups": PEOPLE,
    "user forget-factors": PEOPLE,
    "user token": PEOPLE,
    "user revoke-token": PEOPLE,
    "user grant": PEOPLE,
    "user revoke": PEOPLE,
    "group list": PEOPLE,
    "group add": PEOPLE,
    "group rename": PEOPLE,
    "group remove": PEOPLE,
}


def rule_of(name: str) -> Rule | None:
    """The rule of a command, with its verb if it has one; None for one without."""
    return RULES.get(name)

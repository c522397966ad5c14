"""`millrace retention`: shows and changes how long things are kept, and deletes what is kept no longer."""

from argparse import ArgumentParser
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from django.utils import timezone

from config.contracts.documents import RETENTION
from importer.access import audit
from importer.management.base_command import PreparedCommand
from importer.retention import policies
from importer.retention.policies import InForce
from importer.retention.run import run_to_the_end


class Command(PreparedCommand):
    help = "Show and change how long files, imports and other things are kept; delete what is kept no longer."

    def add_arguments(self, parser: ArgumentParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True, metavar="show|set|run")
        verbs.add_parser("show", help="all policies, each with the days in force and where these come from")
        change = verbs.add_parser("set", help="change a policy; the pages and workers use it from now on")
        change.add_argument("policy", choices=policies.POLICIES, help=f"one of {', '.join(policies.POLICIES)}")
        change.add_argument("days", help="a number of days, keep (delete none), or default (what the setting says)")
        verbs.add_parser("run", help="delete all that is kept no longer now, instead of bit by bit")

    def handle(self, *_args: Any, verb: str, **options: Any) -> None:
        """Run one verb."""
        VERBS[verb](self, **options)

    def _show(self, *, as_json: bool, **_: Any) -> None:
        found = policies.all_in_force()
        if as_json:
            self.give(RETENTION, {"policies": [_as_json(each) for each in found]})
            return
        for each in found:
            self.stdout.write(f"{each.policy.name}: {each.words} ({each.source}). {each.policy.deletes}")

    def _set(self, *, policy: str, days: str, **_: Any) -> None:
        now = policies.change(policy, "" if days == "default" else days)
        self.stdout.write(f"{policy}: {now.words} ({now.source}).")

    def _run(self, **_: Any) -> None:
        deleted = {what: count for what, count in run_to_the_end(timezone.now()).items() if count}
        audit.note(deleted=deleted)
        for what, count in deleted.items():
            self.stdout.write(f"{count:,} {what}")
        if not deleted:
            self.stdout.write("Nothing is to be deleted.")


def _as_json(found: InForce) -> dict[str, Any]:
    about = asdict(found.policy)
    return {**about, "days": found.days, "least": found.policy.least, "source": found.source}


VERBS: dict[str, Callable[..., None]] = {"show": Command._show, "set": Command._set, "run": Command._run}

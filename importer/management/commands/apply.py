"""`millrace apply`: makes targets, connections, channels, presets and schedules what a file says (docs/apply.md)."""

import sys
from argparse import ArgumentParser
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from config.contracts.documents import APPLY
from importer.access import audit
from importer.access.policy import require_admin
from importer.engine.errors import Cancelled, Problem, WrongUsage
from importer.management.apply.carry_out import Outcome, Wanted, carry_out, described, read_file, tried
from importer.management.apply.export import exported
from importer.management.base_command import PreparedCommand
from importer.models.outcomes import CANCELLED, WRONG_USAGE

STANDARD_INPUT = "-"
NO_CHANGE = "no change"
YES = ("y", "yes")


class Command(PreparedCommand):
    help = "Make targets, connections, channels, presets and schedules what a file says (docs/apply.md)."
    showing_options = ("dry_run", "export")

    def add_arguments(self, parser: ArgumentParser) -> None:
        what = parser.add_mutually_exclusive_group(required=True)
        what.add_argument("-f", "--file", metavar="FILE", help="the file, or - for standard input")
        what.add_argument("--export", action="store_true", help="print what is there as such a file, without secrets")
        sure = parser.add_mutually_exclusive_group()
        sure.add_argument("--dry-run", action="store_true", help="show the differences, and change nothing")
        sure.add_argument("--yes", action="store_true", help="do it without asking")
        parser.add_argument(
            "--prune", action="store_true", help="delete what is not in the file, of the kinds that the file has"
        )

    def handle(self, *_args: Any, file: str | None, as_json: bool, **options: Any) -> None:
        """Show the differences, and make the changes once they are agreed to. Raises Problem."""
        if file is None:
            require_admin("export everything")
            self.stdout.write(exported(), ending="")
            return
        wanted = read_file(_text_of(file), file)
        outcome = tried(wanted, prune=options["prune"])
        if not as_json:
            for line in described(outcome):
                self.stdout.write(line)
        if not outcome.changes:
            audit.leave_out()
        done = bool(outcome.changes) and not options["dry_run"]
        if done:
            self._agree(outcome, yes=options["yes"], can_ask=not as_json and file != STANDARD_INPUT)
            carry_out(wanted, outcome, prune=options["prune"])
        self._say(outcome, wanted, done=done, as_json=as_json)

    def _agree(self, outcome: Outcome, *, yes: bool, can_ask: bool) -> None:
        """Raise CommandError unless the changes are agreed to."""
        if yes:
            return
        if not (can_ask and sys.stdin.isatty()):
            advice = "Add --yes to do it, or --dry-run to see the differences."
            problem: Problem = WrongUsage("There is no terminal to ask on. Nothing is done.", advice=advice)
            raise CommandError(str(problem), returncode=WRONG_USAGE.exit_code) from problem
        self.stdout.write(f"{_counted(outcome)}. Do it? [y/N] ", ending="")
        self.stdout.flush()
        if sys.stdin.readline().strip().lower() not in YES:
            problem = Cancelled("Nothing is done.")
            raise CommandError(str(problem), returncode=CANCELLED.exit_code) from problem

    def _say(self, outcome: Outcome, wanted: Wanted, *, done: bool, as_json: bool) -> None:
        if as_json:
            changes = [asdict(each) for each in outcome.changes]
            others = {name: [_thing(*each) for each in getattr(outcome, name)] for name in ("unchanged", "not_in_file")}
            self.give(APPLY, {"file": wanted.file, "done": done, "changes": changes, **others})
        elif not outcome.changes:
            self.stdout.write(f"{NO_CHANGE}: {len(outcome.unchanged)} as in the file")
        else:
            self.stdout.write(f"{'Done' if done else 'Nothing is done'}: {_counted(outcome)}")


def _text_of(file: str) -> str:
    try:
        return sys.stdin.read() if file == STANDARD_INPUT else Path(file).read_text(encoding="utf-8")
    except OSError as error:
        raise Problem(f"It cannot be read: {error.strerror}.", file, "Name a file as in docs/apply.md.") from error
    except UnicodeError as error:
        raise Problem("It is not in UTF-8.", file, "Save it in UTF-8.") from error


def _counted(outcome: Outcome) -> str:
    actions = [each.action for each in outcome.changes]
    counts = ", ".join(f"{actions.count(each)} to {each}" for each in dict.fromkeys(actions))
    return f"{counts}, {len(outcome.unchanged)} as in the file"


def _thing(kind: str, name: str) -> dict[str, str]:
    return {"kind": kind, "name": name}

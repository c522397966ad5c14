"""The base of all commands: they run on behalf of the person of `--as`, and each is checked by its rule.

They may run before `make run` has created the application's database.
"""

import argparse
import logging
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, NoReturn

from django.contrib.auth.models import User
from django.core.management.base import CommandError, CommandParser
from django.db import OperationalError, connection

from config.version import VERSION
from importer.access import audit
from importer.access.acting import acting, acting_as
from importer.access.policy import Forbidden
from importer.engine.errors import Problem, WrongUsage
from importer.management import checks
from importer.management.application_tables import require_tables
from importer.management.rules import rule_of
from importer.management.terminal.one_document import DocumentCommand
from importer.management.terminal.parsers import parsers
from importer.management.terminal.words import PROGRAM, WORDS
from importer.management.verbs.verb import Context, Here, Verb, Verbs, add_options, chosen
from importer.models.outcomes import REFUSED, WRONG_USAGE, outcome_of

log = logging.getLogger(__name__)

AS = "as_user"
# Verbs that only show something.
SHOWING = ("list", "show", "export", "plan", "why", "experiments", "wait")


class CheckedCommand(DocumentCommand):
    """A command with `--as USER`. A Problem is printed as one line, without a traceback."""

    # Django's own options work, and its help does not list them.
    suppressed_base_arguments: set[str] = {
        *("--version", "--verbosity", "--settings", "--pythonpath", "--traceback", "--no-color", "--force-color")
    }
    # The verbs, or the command itself if it has none. A command without them has a handle() of its own.
    verbs: Verbs | Verb = {}
    # What the verbs that also work by --server call, by the names of the API's operations: here on the records.
    operations: Mapping[str, Callable[..., Any]] = {}
    api = Here
    # Django's checks are about pages, and load all of them; execute() runs our own.
    requires_system_checks = ()

    def get_version(self) -> str:
        """Millrace's version, which --version prints, instead of Django's."""
        return VERSION

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        """The parser of the command; each of its verbs takes `--as` as well."""
        parser = super().create_parser(prog_name, subcommand, **kwargs)
        if examples := prog_name == PROGRAM and WORDS[subcommand].examples:
            parser.formatter_class = argparse.RawDescriptionHelpFormatter
            parser.epilog = "\n".join(("examples:", *(f"  {PROGRAM} {each}" for each in examples)))
        whole, *verbs = parsers(parser)
        about = "act on behalf of this person, who may do less than the system (docs/people.md)"
        whole.add_argument("--as", dest=AS, metavar="USER", help=about)
        for each in verbs:
            each.add_argument("--as", dest=AS, metavar="USER", default=argparse.SUPPRESS, help=about)
        return parser

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the verbs and their options."""
        add_options(parser, self.verbs)

    def handle(self, *_args: Any, **options: Any) -> None:
        """Run one verb. Ends with its exit code; raises Problem."""
        context = Context(self.api(self.operations), Namespace(**options), self, PROGRAM)
        if code := chosen(self.verbs, context.options).run(context):
            sys.exit(code)

    def run_checked(self, *args: Any, **options: Any) -> str | None:
        """Run the command on behalf of its person, if its rule allows that.

        Raises CommandError, with the exit code of its cause (docs/contracts.md).
        """
        name = options.pop(AS, None)
        person = _person(name) if name else acting()
        try:
            if not options.get("skip_checks"):
                self.check(tags=[checks.OWN])
            with acting_as(person), self.recording(options):
                self.check_rule(options)
                return super().run_checked(*args, **options)
        except Forbidden as forbidden:
            raise CommandError(str(forbidden), returncode=REFUSED.exit_code) from forbidden
        except Problem as problem:
            # One cause has one code, whichever command meets it.
            raise CommandError(str(problem), returncode=outcome_of(problem).exit_code) from problem

    def recording(self, _options: dict[str, Any]) -> AbstractContextManager[None]:
        """What records the command in the audit log while it runs; nothing, unless a subclass says otherwise."""
        return nullcontext()

    def check_rule(self, options: dict[str, Any]) -> None:
        """Raise Forbidden unless the acting person may run the command with these options."""
        name = self.words(options)
        rule = rule_of(name)
        if rule:
            rule.check(options)
        elif acting() is not None:
            raise Forbidden(f"The command {name} has no rule that says who may use it.", advice="Ask an admin.")


class PreparedCommand(CheckedCommand):
    """Creates the application's tables if there are none yet, and records in the audit log what changes something.

    `millrace prepare` updates existing tables.
    """

    # Whether the command changes nothing, with any of its verbs.
    only_shows = False
    # Options with which it changes nothing.
    showing_options: tuple[str, ...] = ()

    def run_checked(self, *args: Any, **options: Any) -> str | None:
        """Run the command, as CheckedCommand does, once there are tables."""
        try:
            require_tables()
        except Problem as problem:
            raise CommandError(str(problem)) from problem
        return super().run_checked(*args, **options)

    def recording(self, options: dict[str, Any]) -> AbstractContextManager[None]:
        """Records the command with its outcome, unless it only shows something."""
        name = self.words(options)
        showing = any(options.get(each) for each in self.showing_options)
        if self.only_shows or showing or name.rpartition(" ")[2] in SHOWING:
            return nullcontext()
        target = str(options.get("name" if name.startswith("target ") else "target") or "")
        return recorded(name, target)


@contextmanager
def recorded(name: str, target: str) -> Iterator[None]:
    """Record the command that runs in the block. Its other arguments are left out: some are secrets."""
    thing = audit.Thing("command", name=name, target=target)
    outcome = audit.Outcome.FAILED
    with audit.opened(audit.Entry("command", thing=thing, details={"command": name})) as entry:
        try:
            yield
            outcome = audit.Outcome.DONE
        except SystemExit as end:
            outcome = audit.Outcome.FAILED if end.code else audit.Outcome.DONE
            raise
        except (CommandError, Forbidden) as error:
            refused = isinstance(error, Forbidden) or isinstance(error.__cause__, Forbidden)
            outcome = audit.Outcome.REFUSED if refused else audit.Outcome.FAILED
            raise
        finally:
            failed = sys.exc_info()[0] is not None
            try:
                audit.write(entry, outcome)
            except OperationalError as error:
                if not failed:
                    raise
                log.warning("It could not be recorded that the command %s has ended: %s", name, error)


def _person(name: str) -> User:
    """The active user of this name. Raises CommandError, as for a wrong option, if there is none."""
    known = User._meta.db_table in connection.introspection.table_names()
    user = User.objects.filter(username=name).first() if known else None
    if user is None:
        _refuse(f"there is no user {name}.", "Admins see all: millrace user list.")
    if not user.is_active:
        _refuse(f"{name} is deactivated.", f"An admin can activate the person: millrace user activate {name}.")
    return user


def _refuse(why: str, advice: str) -> NoReturn:
    problem = WrongUsage(f"--as: {why}", advice=advice)
    raise CommandError(str(problem), returncode=WRONG_USAGE.exit_code) from problem

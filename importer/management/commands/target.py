"""`millrace target`: adds, checks, restores, lists and removes targets."""

from pathlib import Path
from typing import Any

from importer import targets
from importer.access.policy import seen
from importer.engine.errors import Problem
from importer.lab import release_unmarked
from importer.management.argument_types import from_environment
from importer.management.base_command import PreparedCommand
from importer.management.terminal.words import PROGRAM
from importer.management.verbs.targets import VERBS, target_named
from importer.management.verbs.verb import Context, Verb, named, option
from importer.models import Target


def _add(context: Context) -> None:
    options = context.options
    parsed = targets.parse_url(options.url)
    variable = options.password_env
    password = None if variable is None else from_environment(variable, "password")
    if parsed.password:
        context.output.warn(
            "Warning: others see a password in a command line (process list, history). Use --password-env."
        )
    target = targets.add_or_replace(
        options.name,
        parsed,
        password=parsed.password or None if password is None else password,
        protection=targets.Protection(
            options.tls, options.tls_ca, _server_key(options.server_key), options.clear_password
        ),
        terms=targets.Terms(
            options.ceiling, options.label, None if options.needs_approval is None else options.needs_approval == "yes"
        ),
        replace=options.replace,
        moved=options.moved,
    )
    release_unmarked(target)
    where, next_step = target.address_without_password, f"{PROGRAM} target check {target.name}"
    context.output.say(f"{target.name}: {where}, TLS {target.tls}. Next: {next_step}")


def _restore(context: Context) -> None:
    line = ""
    # At once, because an error for one import ends the command after others are done.
    for line in targets.restore(_named(context)):
        context.output.say(line)
    if not line:
        context.output.say("Nothing is to be restored.")


def _remove(context: Context) -> None:
    targets.remove(_named(context))
    context.output.say(f"{context.options.name} is forgotten. Nothing was changed on the server.")


def _server_key(path: str | None) -> str:
    if path is None:
        return ""
    try:
        return Path(path).read_text().strip()
    except (OSError, UnicodeError) as error:
        what = f"--server-key: no key can be read from {path}."
        raise Problem(what, advice="Name a PEM file on this machine.") from error


def _target(id: int) -> Target:
    return seen(Target.objects.filter(pk=id)).get()


def _named(context: Context) -> Target:
    """The target of the name, also one that a URL has made: the records of imports name it."""
    found = seen(Target.objects.filter(name=context.options.name)).first()
    return found or _target(target_named(context)["id"])


def _check(id: int) -> dict[str, Any]:
    target = _target(id)
    targets.check(target)
    return targets.document(target)


class Command(PreparedCommand):
    help = "Add, check, list and remove targets: the MySQL and MariaDB databases that imports go into."
    verbs = {
        "add": Verb(
            "save a target under a name",
            _add,
            (
                option("name", help="a name for it"),
                option("url", help="mysql://USER@HOST:PORT/DATABASE, or mysql://USER@localhost/DATABASE?socket=PATH"),
                option("--password-env", metavar="VAR", help="the environment variable that holds the password"),
                option("--tls", choices=Target.Tls.values, help="default: off on this machine, elsewhere verify"),
                option(
                    "--tls-ca", metavar="FILE", default="", help="the certificate authorities that --tls verify trusts"
                ),
                option(
                    "--server-key",
                    metavar="FILE",
                    help="the server's public RSA key (its public_key.pem): for a MySQL elsewhere with --tls off",
                ),
                option(
                    "--clear-password",
                    action="store_true",
                    help="with --tls verify, let the server ask for the readable password (PAM, LDAP)",
                ),
                option("--ceiling", type=int, metavar="N", help="max. parallel chunks, over all imports (1 to 64)"),
                option("--label", help="only workers with this label in LOADS load into it; '' for those without one"),
                option(
                    "--needs-approval",
                    choices=("yes", "no"),
                    help="whether another person must approve each import and lab before it writes anything",
                ),
                option("--replace", action="store_true", help="change the target of that name, if there is one"),
                option(
                    "--moved",
                    action="store_true",
                    help="with --replace: the server has moved with its tables, and unfinished imports continue there",
                ),
            ),
        ),
        **VERBS,
        "restore": Verb(
            "undo temporary changes, such as dropped indexes, of imports that are unknown here",
            _restore,
            (named("target"),),
        ),
        "remove": Verb("forget a target; nothing changes on the server", _remove, (named("target"),)),
    }
    operations = {
        "list_targets": lambda: map(targets.document, seen(Target.objects.registered())),
        "check_target": _check,
    }

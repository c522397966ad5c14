"""`millrace connection`: adds, checks, lists and removes the places that files are fetched from."""

from argparse import ArgumentParser
from getpass import getpass
from typing import Any

from config.contracts.documents import CONNECTION_CHECK, CONNECTIONS
from config.contracts.outcomes import UNKNOWN
from importer.access.policy import may_now, seen
from importer.connections import operations
from importer.connections.connection_kind import ConnectionField
from importer.connections.connection_kinds import KINDS, examples
from importer.connections.connection_settings import add_or_replace, remove
from importer.engine.errors import Problem
from importer.management.argument_types import from_environment
from importer.management.base_command import PreparedCommand
from importer.management.terminal.report_text import finding_lines
from importer.management.verbs.verb import Context, Verb, named
from importer.models import Level, SourceConnection
from importer.targets import passed


def _add(context: Context) -> None:
    options = context.options
    secrets = {key: from_environment(variable) for key, variable in map(_pair, options.secret_env)}
    secrets |= {each: _asked(each) for each in options.ask}
    connection = add_or_replace(
        options.name,
        options.place,
        dict(map(_pair, options.set_values)),
        secrets,
        private_allowed=options.allow_private,
        replace=options.replace,
    )
    context.output.say(f"{connection.name}: {connection.base}. Next: millrace connection check {connection.name}")


def _add_new(add: ArgumentParser) -> None:
    add.epilog = _known()
    add.add_argument("name", help="a name for it")
    add.add_argument("place", help=examples())
    # Not dest="settings": Django takes that for its own --settings, the name of a module, when run from a shell.
    add.add_argument(
        "--set",
        dest="set_values",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a setting of its kind, with a name listed below; may be repeated",
    )
    add.add_argument(
        "--secret-env", action="append", default=[], metavar="NAME=VAR", help="a secret from an environment variable"
    )
    add.add_argument("--ask", action="append", default=[], metavar="NAME", help="ask for a secret on the terminal")
    add.add_argument("--allow-private", action="store_true", help="it may have an address of a private network")
    add.add_argument("--replace", action="store_true", help="change the connection of that name, if there is one")


def _check(context: Context) -> int:
    checked = _connection(context.options.name)
    operations.check(checked)
    findings = operations.told_findings(checked)
    ok = passed(findings)
    context.output.give(CONNECTION_CHECK, {"connection": checked.name, "ok": ok, "findings": findings})
    for each in findings:
        for line in finding_lines(each):
            context.output.say(line)
    return 0 if ok else UNKNOWN


def _list(context: Context) -> None:
    rows = seen(SourceConnection.objects.order_by("name"))
    context.output.give(CONNECTIONS, {"connections": [_as_json(each) for each in rows]})
    context.output.write_list(map(_line, rows))


def _remove(context: Context) -> None:
    name = context.options.name
    remove(_connection(name))
    context.output.say(f"{name} is forgotten. Its files stay where they are.")


def _known() -> str:
    """The names of settings and secrets, for each kind that has some."""
    lines = []
    for kind in (each for each in KINDS if each.fields):
        fields = (f"{each.name}{' (secret)' if each.secret else ''}: {_about(each)}" for each in kind.fields)
        lines.append(f"{kind.label}: {'; '.join(fields)}.")
    return "Names. " + " ".join(lines)


def _about(field: ConnectionField) -> str:
    about = field.about.rstrip(".") or ", ".join(field.choices)
    return f"{field.label} ({about})" if about else field.label


def _pair(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not (name and sign):
        raise Problem(f"“{text}” has no name or no value.", advice="Write NAME=VALUE, and NAME=VARIABLE for a secret.")
    return name, value


def _asked(name: str) -> str:
    try:
        return getpass(f"{name}: ")
    except EOFError as error:
        what, advice = f"--ask {name}: there is no terminal to ask on.", f"Use --secret-env {name}=VARIABLE."
        raise Problem(what, advice=advice) from error


def _connection(name: str) -> SourceConnection:
    connection = seen(SourceConnection.objects.filter(name=name)).first()
    if connection is None:
        known = ", ".join(seen(SourceConnection.objects.order_by("name")).values_list("name", flat=True)) or "none yet"
        raise Problem(f"There is no connection {name}.", advice=f"Connections: {known}.")
    return connection


def _state(connection: SourceConnection) -> str:
    if connection.checked_at is None:
        return "not checked yet"
    ok = "ok" if passed(connection.findings) else "fails its check"
    return f"{ok} ({connection.checked_at:%Y-%m-%d %H:%M} UTC)"


def _line(connection: SourceConnection) -> str:
    place = f"{connection.base}, " if may_now(Level.ADMINISTER, connection) else ""
    return f"{connection.name}: {place}{_state(connection)}"


def _as_json(connection: SourceConnection) -> dict[str, Any]:
    whole = may_now(Level.ADMINISTER, connection)
    return {
        **{field: getattr(connection, field) for field in ("name", "kind", "private_allowed")},
        "base": connection.base if whole else "",
        "settings": connection.settings if whole else {},
        "ok": passed(connection.findings) if connection.checked_at else None,
        "checked_at": connection.checked_at.isoformat() if connection.checked_at else None,
    }


class Command(PreparedCommand):
    help = "Add, check, list and remove connections: the places that files are picked up from."
    verbs = {
        "add": Verb("save a connection under a name", _add, (_add_new,)),
        "check": Verb("connect, and report what works, what does not, and the fix", _check, (named("connection"),)),
        "list": Verb("all connections", _list),
        "remove": Verb("forget a connection; its files stay where they are", _remove, (named("connection"),)),
    }

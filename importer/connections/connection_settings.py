"""Adds and changes connections, and checks the values that are entered for them."""

from collections.abc import Collection, Mapping

from django.db.models import ProtectedError

from importer.access.policy import require_admin
from importer.connections.connection_address import parse_base
from importer.connections.connection_kind import ConnectionField, ParsedBase
from importer.connections.connection_kinds import BY_NAME
from importer.engine.errors import Problem, SourceProblem
from importer.engine.units import count_of
from importer.models import SourceConnection
from importer.models.checked_save import save_checked


def add_or_replace(
    name: str,
    place: str,
    settings: Mapping[str, str],
    secrets: Mapping[str, str],
    *,
    private_allowed: bool = False,
    replace: bool = False,
) -> SourceConnection:
    """Save a connection. With `replace` an existing connection of that name is updated and keeps its files.

    Raises Problem if the name is taken, if the kind does not know the address, a setting or a secret, or if a change
    would send a stored secret elsewhere and none is given; Forbidden as require_private() does.
    """
    connection = SourceConnection.objects.filter(name=name).first() or SourceConnection(name=name)
    if connection.pk and not replace:
        raise SourceProblem(f"There is a connection {name} already.", advice="Choose another name, or add --replace.")
    if connection.pk and not secrets and (why := wants_secret(connection, parse_base(place), settings)):
        raise SourceProblem(
            f"{name} signs in with a stored secret. {why}", advice="Use --ask NAME or --secret-env NAME=VARIABLE."
        )
    save(connection, place, settings, secrets, private_allowed=private_allowed)
    return connection


def save(
    connection: SourceConnection,
    place: str,
    settings: Mapping[str, str],
    secrets: Mapping[str, str],
    *,
    private_allowed: bool = False,
) -> None:
    """Save a new or an existing connection; a secret of "" is deleted.

    Stored secrets that are not given are kept only as goes_to_same() says, so that they are never sent to another
    server. Raises as add_or_replace() does, apart from the secret.
    """
    base = parse_base(place)
    require_known(base.kind, settings, secrets)
    if private_allowed:
        require_private(connection, base, settings)
    stored = connection.secrets if goes_to_same(connection, base, settings) else {}
    connection.kind, connection.base, connection.settings = base.kind, base.base, {**base.settings, **settings}
    connection.private_allowed = private_allowed
    connection.set_secrets({**stored, **secrets})
    # The findings are about the old address.
    connection.findings, connection.checked_at = [], None
    save_checked(connection, SourceProblem)


def remove(connection: SourceConnection) -> None:
    """Delete a connection. Raises SourceProblem, with what refers to it, if schedules or imported files do."""
    try:
        connection.delete()
    except ProtectedError as error:
        why, advice = _users(connection)
        raise SourceProblem(f"{connection.name} stays: {why}.", advice=advice) from error


def _users(used: SourceConnection) -> tuple[str, str]:
    """What refers to the connection, and what to do about it."""
    names = list(used.schedules.order_by("name").values_list("name", flat=True))
    if names:
        return f"the schedules {', '.join(names)} pick files up there", "Delete them first, or give them another one."
    return f"{count_of(used.files.count(), 'file')} of imports came from there, and are listed with it", ""


def goes_to_same(connection: SourceConnection, base: ParsedBase, settings: Mapping[str, str]) -> bool:
    """Whether the connection is stored with this address and these settings; only then may it keep its secrets.

    Each setting decides who gets them: the account, the store's endpoint, the certificates that are trusted. The first
    key of a server that a person confirms is no change: nothing was sent before.
    """
    if not connection.pk or (connection.kind, connection.base) != (base.kind, base.base):
        return False
    new = {**base.settings, **settings}
    for each in BY_NAME[base.kind].settings.values():
        before, now = (_value(each, values) for values in (connection.settings, new))
        if before != now and not (each.confirmed and not before):
            return False
    return True


def _value(field: ConnectionField, settings: Mapping[str, str]) -> str:
    return settings.get(field.name) or next(iter(field.choices), "")


def require_private(connection: SourceConnection, base: ParsedBase, settings: Mapping[str, str]) -> None:
    """Raise Forbidden if the connection may reach a private place that it could not reach before, unless an admin acts.

    Who may administer it could otherwise read servers inside the network.
    """
    stored = SourceConnection.objects.filter(pk=connection.pk, private_allowed=True).first()
    if not (stored and goes_to_same(stored, base, settings)):
        require_admin("let a connection reach private addresses, or change one that may")


def wants_secret(
    connection: SourceConnection, base: ParsedBase, settings: Mapping[str, str], forgotten: Collection[str] = ()
) -> str:
    """Why a secret must be given with this address and settings, as a sentence; "" if none must.

    `forgotten`: the names of stored secrets that are to be deleted.
    """
    kind = BY_NAME[base.kind]
    stored = connection.secrets if connection.pk else {}
    if stored and kind.signs_in(settings) and not goes_to_same(connection, base, settings):
        return "The place or a setting has changed. Enter it again."
    if kind.needs_secret(settings) and not set(stored) - set(forgotten):
        return "Enter it: that way of signing in needs it."
    return ""


def require_known(kind: str, settings: Mapping[str, str], secrets: Mapping[str, str]) -> None:
    """Raise Problem for a setting or a secret that the kind does not have, and for a value that it cannot have."""
    declared = BY_NAME[kind]
    for entered, known, word in ((settings, declared.settings, "setting"), (secrets, declared.secrets, "secret")):
        for name, value in entered.items():
            if name not in known:
                names = ", ".join(known) or "none"
                raise SourceProblem(f"A connection of kind {kind} has no {word} {name}.", advice=f"It has {names}.")
            _check_value(known[name], value)
            if known[name].choices and value not in known[name].choices:
                choices = ", ".join(known[name].choices)
                raise SourceProblem(
                    f"The setting {name} cannot be {value}.", advice=f"It is one of {choices}.", option=name
                )


def _check_value(field: ConnectionField, value: str) -> None:
    try:
        if field.check:
            field.check(value)
    except Problem as problem:
        problem.option = field.name
        raise

"""Connections as they are kept: added, changed, and what is wrong with what somebody wrote."""

from collections.abc import Mapping

from django.core.exceptions import ValidationError

from importer.connections.locations import Base, parse_base
from importer.connections.settings_schema import fields_of
from importer.engine.errors import SourceProblem
from importer.models import SourceConnection


def add_or_replace(
    name: str,
    place: str,
    settings: Mapping[str, str],
    secrets: Mapping[str, str],
    *,
    private_allowed: bool = False,
    replace: bool = False,
) -> SourceConnection:
    """Save a connection. With `replace` one of that name is changed in place, so that its files stay with it.

    Secrets that are not given stay, but only for the same place and user: they are never sent anywhere else.
    Raises Problem if the name is taken, or a place, a setting or a secret is not one that the kind knows.
    """
    connection = SourceConnection.objects.filter(name=name).first() or SourceConnection(name=name)
    if connection.pk and not replace:
        raise SourceProblem(f"There is a connection {name} already.", advice="Choose another name, or add --replace.")
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
    """Save a connection, new or known, as add_or_replace() says; a secret that is "" is forgotten."""
    base = parse_base(place)
    _require_known(base.kind, settings, secrets)
    kept = connection.secrets if leads_there(connection, base, settings) else {}
    connection.kind, connection.base, connection.settings = base.kind, base.base, {**base.settings, **settings}
    connection.private_allowed = private_allowed
    connection.set_secrets({**kept, **secrets})
    # What was found out is about the place as it was.
    connection.findings, connection.checked_at = [], None
    try:
        connection.full_clean()
    except ValidationError as error:
        what = "; ".join(f"{field}: {' '.join(texts)}" for field, texts in error.message_dict.items())
        raise SourceProblem(what, advice="Correct that and try again.") from error
    connection.save()


def leads_there(connection: SourceConnection, base: Base, settings: Mapping[str, str]) -> bool:
    """Whether the connection is kept and has that place and account: only then its secrets may stay."""
    names = ("user", "endpoint", "access_key")
    asked = {**base.settings, **settings}
    before = [connection.kind, connection.base, *(connection.settings.get(name, "") for name in names)]
    return bool(connection.pk) and before == [base.kind, base.base, *(asked.get(name, "") for name in names)]


def _require_known(kind: str, settings: Mapping[str, str], secrets: Mapping[str, str]) -> None:
    for given, secret, word in ((settings, False, "setting"), (secrets, True, "secret")):
        known = fields_of(kind, secret=secret)
        for name, value in given.items():
            if name not in known:
                names = ", ".join(known) or "none"
                raise SourceProblem(f"A connection of kind {kind} has no {word} {name}.", advice=f"It has {names}.")
            if known[name].choices and value not in known[name].choices:
                choices = ", ".join(known[name].choices)
                raise SourceProblem(f"The setting {name} cannot be {value}.", advice=f"It is one of {choices}.")

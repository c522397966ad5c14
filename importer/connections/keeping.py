"""Connections as they are kept: added, changed, and what is wrong with what somebody wrote."""

from collections.abc import Mapping

from django.core.exceptions import ValidationError

from importer.connections.bases import parse_base
from importer.connections.fields import fields_of
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
    base = parse_base(place)
    connection = SourceConnection.objects.filter(name=name).first() or SourceConnection(name=name)
    if connection.pk and not replace:
        raise SourceProblem(f"There is a connection {name} already.", advice="Choose another name, or add --replace.")
    _require_known(base.kind, settings, secrets)
    asked = {**base.settings, **settings}
    kept = connection.secrets if connection.pk and _same_account(connection, base.kind, base.base, asked) else {}
    connection.kind, connection.base, connection.settings = base.kind, base.base, asked
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
    return connection


def _same_account(connection: SourceConnection, kind: str, base: str, asked: Mapping[str, str]) -> bool:
    names = ("user", "endpoint", "access_key")
    before = [connection.kind, connection.base, *(connection.settings.get(name, "") for name in names)]
    return before == [kind, base, *(asked.get(name, "") for name in names)]


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

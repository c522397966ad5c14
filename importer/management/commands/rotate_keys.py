"""`millrace rotate-keys`: encrypts all stored passwords with the newest key, so that the old one can be removed."""

from typing import Any

from allauth.mfa.models import Authenticator
from cryptography.fernet import InvalidToken
from django.db import transaction
from django.db.models import Model

from importer.access import audit
from importer.engine.errors import Problem
from importer.management.base_command import CheckedCommand
from importer.models import Channel, SourceConnection, Target
from importer.security import encryption

# Every model with an encrypted field.
ENCRYPTED: tuple[tuple[type[Model], str], ...] = (
    (Target, "password_ciphertext"),
    (SourceConnection, "secrets_ciphertext"),
    (Channel, "secret_ciphertext"),
)


# In the JSON of a second factor: the secret of an app, and what recovery codes are made from.
SECOND_FACTOR_SECRETS = {"secret", "seed"}


class Command(CheckedCommand):
    help = (
        "Encrypt all stored passwords again with the first key of ENCRYPTION_KEYS. To change the key: put a new one "
        "in front of the old one, restart everything, run this, remove the old one, restart again."
    )

    def handle(self, *_args: Any, **_options: Any) -> None:
        """Encrypt all readable passwords again. Raises Problem with the unreadable ones: their key is still
        needed.
        """
        unread = [
            str(row)
            for model, field in ENCRYPTED
            for row in model._default_manager.exclude(**{field: ""}).order_by("name")
            if not _rotate(row, field)
        ]
        unread += [f"{row.user}'s {row}" for row in _second_factors() if not _rotate_second_factor(row)]
        if unread:
            raise Problem(
                f"No key fits the password of {', '.join(unread)}. All others are under the newest key now.",
                advice="Put its key back into ENCRYPTION_KEYS, or enter the password again.",
            )
        count = sum(model._default_manager.exclude(**{field: ""}).count() for model, field in ENCRYPTED)
        count += len(_second_factors())
        audit.record("command", command="rotate_keys", passwords=count)
        self.stdout.write(f"Passwords under the newest key: {count}.")


def _rotate(row: Model, field: str) -> bool:
    old = getattr(row, field)
    try:
        new = encryption.rotate(old)
    except InvalidToken:
        return False
    # Only if the password has not been changed in the meantime: a new one has the newest key anyway.
    type(row)._default_manager.filter(pk=row.pk, **{field: old}).update(**{field: new})
    return True


def _second_factors() -> list[Authenticator]:
    rows = Authenticator.objects.select_related("user").order_by("pk")
    return [row for row in rows if row.data.keys() & SECOND_FACTOR_SECRETS]


def _rotate_second_factor(row: Authenticator) -> bool:
    with transaction.atomic():
        # Again, and locked: a recovery code may have been used in the meantime.
        locked = Authenticator.objects.select_for_update().get(pk=row.pk)
        for name in locked.data.keys() & SECOND_FACTOR_SECRETS:
            try:
                locked.data[name] = encryption.rotate(locked.data[name])
            except InvalidToken:
                return False
        locked.save(update_fields=["data"])
    return True

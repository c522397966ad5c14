"""`manage.py rotate_keys`: passwords under the newest key, so that the old one can go."""

from typing import Any

from cryptography.fernet import InvalidToken
from django.core.management.base import BaseCommand, CommandError
from django.db.models import Model

from importer.models import Channel, SourceConnection, Target
from importer.security import encryption

# Whatever is encrypted: the rows and their field.
KEPT: tuple[tuple[type[Model], str], ...] = (
    (Target, "password_ciphertext"),
    (SourceConnection, "secrets_ciphertext"),
    (Channel, "secret_ciphertext"),
)


class Command(BaseCommand):
    help = (
        "Encrypt all passwords that are kept anew with the first key of ENCRYPTION_KEYS. To change the key: put a new "
        "one in front of the old one, restart everything, run this, take the old one out, restart again."
    )

    def handle(self, *_args: Any, **_options: Any) -> None:
        """Rotate all that can be read; name the rest and end with an error, so that no key is thrown away too early."""
        unread = [
            str(row)
            for model, field in KEPT
            for row in model._default_manager.exclude(**{field: ""}).order_by("name")
            if not _rotate(row, field)
        ]
        if unread:
            raise CommandError(
                f"No key fits the password of {', '.join(unread)}. Put its key back into ENCRYPTION_KEYS, or enter the "
                "password again. All other passwords are under the newest key now."
            )
        count = sum(model._default_manager.exclude(**{field: ""}).count() for model, field in KEPT)
        self.stdout.write(f"Passwords under the newest key: {count}.")


def _rotate(row: Model, field: str) -> bool:
    kept = getattr(row, field)
    try:
        fresh = encryption.rotate(kept)
    except InvalidToken:
        return False
    # Only if nobody has entered another password meanwhile: that one is under the newest key anyway.
    type(row)._default_manager.filter(pk=row.pk, **{field: kept}).update(**{field: fresh})
    return True

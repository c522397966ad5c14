"""`manage.py rotate_keys`: passwords under the newest key, so that the old one can go."""

from typing import Any

from cryptography.fernet import InvalidToken
from django.core.management.base import BaseCommand, CommandError

from importer import secrets
from importer.models import Target


class Command(BaseCommand):
    help = (
        "Encrypt the targets' passwords anew with the first key of ENCRYPTION_KEYS. To change the key: put a new one "
        "in front of the old one, restart everything, run this, take the old one out, restart again."
    )

    def handle(self, *_args: Any, **_options: Any) -> None:
        """Rotate all that can be read; name the rest and end with an error, so that no key is thrown away too early."""
        unread = [target.name for target in Target.objects.order_by("name") if not _rotate(target)]
        if unread:
            raise CommandError(
                f"No key fits the password of {', '.join(unread)}. Put its key back into ENCRYPTION_KEYS, or enter the "
                "password again. All other passwords are under the newest key now."
            )
        self.stdout.write(f"Passwords under the newest key: {Target.objects.exclude(password_ciphertext='').count()}.")


def _rotate(target: Target) -> bool:
    try:
        fresh = secrets.rotate(target.password_ciphertext)
    except InvalidToken:
        return False
    # Only if nobody has entered another password meanwhile: that one is under the newest key anyway.
    Target.objects.filter(pk=target.pk, password_ciphertext=target.password_ciphertext).update(
        password_ciphertext=fresh
    )
    return True

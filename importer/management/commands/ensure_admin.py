"""`manage.py ensure_admin`: creates the first account of a new installation and prints how to sign in."""

import secrets
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User

from importer.access import audit
from importer.management.base_command import CheckedCommand

PASSWORD_BYTES = 12


class Command(CheckedCommand):
    help = "Create the first account (ADMIN_USER), with ADMIN_PASSWORD or a random password that is printed once."

    def handle(self, *_args: Any, **_options: Any) -> None:
        name = settings.ADMIN_USER
        if User.objects.exists():
            self.stdout.write(f"Accounts: {User.objects.count()}. A forgotten password: millrace user reset {name}")
            return
        given = settings.ADMIN_PASSWORD
        password = given or secrets.token_urlsafe(PASSWORD_BYTES)
        audit.record("command", User.objects.create_superuser(name, password=password), command="ensure_admin")
        credentials = "the password from ADMIN_PASSWORD" if given else f"password {password} (printed only this once)"
        self.stdout.write(f"Sign in as {name}, {credentials}")

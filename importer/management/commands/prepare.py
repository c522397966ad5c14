"""`manage.py prepare`: bring this installation's own database, static files and first account up to date."""

from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand


class Command(BaseCommand):
    help = "Before the processes start: migrate, collectstatic and ensure_admin. Safe to repeat."

    def handle(self, *_args: Any, **_options: Any) -> None:
        call_command("migrate", interactive=False, verbosity=0)
        call_command("collectstatic", interactive=False, verbosity=0)
        call_command("ensure_admin", stdout=self.stdout)

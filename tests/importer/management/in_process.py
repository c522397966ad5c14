"""Commands on an installation in this process, where one of their own would show no more."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from unittest.mock import patch

import pytest
from django.core.management import CommandError, call_command
from django.test import override_settings

from config.contracts.outcomes import REFUSED
from config.environment import fernet_key, stored_key
from tests.filled.filled_database import used_by_the_application
from tests.importer.management.installation import Installation

KEYS = ("SECRET_KEY", "ENCRYPTION_KEYS")


def make_keys(installation: Installation) -> dict[str, str]:
    """The keys in the files of the installation, made as its settings make them."""
    folder = installation.var / "keys"
    made = stored_key(folder / "secret_key"), stored_key(folder / "encryption_key", fernet_key)
    return dict(zip(KEYS, made, strict=True))


class InProcess:
    """Runs commands on an installation whose database is SQLite. Tests must be allowed to use a database."""

    def __init__(self, installation: Installation) -> None:
        self._installation = installation

    def manage(self, *line: str) -> str:
        """What the command prints. It must succeed."""
        out = StringIO()
        with self._used():
            call_command(*line, stdout=out, stderr=out)
        return out.getvalue()

    def refused(self, *line: str) -> str:
        """Why the command is refused."""
        with self._used(), pytest.raises(CommandError) as caught:
            call_command(*line)
        assert caught.value.returncode == REFUSED.exit_code
        return str(caught.value)

    @contextmanager
    def _used(self) -> Iterator[None]:
        """Settings, keys in the environment and database of this process are the installation's in this context."""
        var, env = self._installation.var, self._installation.env
        given = {name: env[name] for name in KEYS if name in env}
        keys = make_keys(self._installation) | given
        own = {
            "VAR_DIR": var,
            "UPLOAD_DIR": var / "uploads",
            "REJECTS_DIR": var / "rejects",
            "SECRET_KEY": keys["SECRET_KEY"],
            "ENCRYPTION_KEYS": keys["ENCRYPTION_KEYS"].split(","),
        }
        file = var / "millrace.sqlite3"
        with patch.dict(os.environ, given), override_settings(**own), used_by_the_application(file):
            yield

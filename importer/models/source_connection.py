"""A connection: a place that files are fetched from."""

import json
import uuid

from django.core.validators import RegexValidator
from django.db import models

from importer.models.checked_save import Named
from importer.security import encryption


class SourceConnection(Named):
    """A place that files are fetched from, of one of the kinds in importer/connections/connection_kinds.py.

    Admins create connections. Users choose files below `base` by pattern, and no others (importer/connections).
    """

    thing = "connection"

    key = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    name = models.CharField(
        max_length=64, unique=True, validators=[RegexValidator(r"^[\w.-]+\Z", "Letters, digits, _ . and - only.")]
    )
    kind = models.CharField(max_length=8)
    # As importer/connections/connection_address.py writes it: /folder, https://host/path/, s3://bucket/prefix,
    # sftp://host:22/path, ftps://host:21/path.
    base = models.CharField(max_length=768)
    # The settings by the kind's declaration (importer/connections/kinds); the secrets in one ciphertext, as JSON.
    settings = models.JSONField(default=dict, blank=True)
    secrets_ciphertext = models.TextField(blank=True, editable=False)
    private_allowed = models.BooleanField("private addresses allowed", default=False)
    # The last check's findings (importer.engine.preflight.Finding as JSON) and when it ran.
    findings = models.JSONField(default=list, blank=True)
    checked_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.name

    @property
    def secrets(self) -> dict[str, str]:
        """Passwords and keys by the names of their fields; decrypts them."""
        text = encryption.decrypt(self.secrets_ciphertext, bound_to=str(self.key))
        return json.loads(text) if text else {}

    def set_secrets(self, values: dict[str, str]) -> None:
        """Encrypt and store; the ciphertext is bound to this connection, so it cannot be moved to another's row."""
        stored = {name: value for name, value in values.items() if value}
        self.secrets_ciphertext = encryption.encrypt(json.dumps(stored), bound_to=str(self.key)) if stored else ""

"""A file to import."""

import uuid
from pathlib import Path

from django.conf import settings
from django.db import models


class SourceFile(models.Model):
    """A CSV file on disk: uploaded (we own it) or named on the command line (its owner does)."""

    class Status(models.TextChoices):
        UPLOADING = "uploading"
        READY = "ready"

    key = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    name = models.CharField(max_length=255)
    path = models.CharField(max_length=1024)
    size = models.BigIntegerField()
    received = models.BigIntegerField(default=0)
    status = models.CharField(max_length=10, choices=Status, default=Status.UPLOADING)
    # xxh3-128 of the whole file, hexadecimal: tells "the same file again".
    fingerprint = models.CharField(max_length=32, blank=True, db_index=True)
    # The form of its new import page as it was sent last: the page comes back with it.
    choices = models.JSONField(default=dict, blank=True)
    owned = models.BooleanField(default=True)
    uploaded_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    touched_at = models.DateTimeField(auto_now=True)

    def __str__(self) -> str:
        return self.name

    @property
    def file(self) -> Path:
        return Path(self.path)

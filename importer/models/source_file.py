"""A file to import."""

import uuid
from pathlib import Path

from django.conf import settings
from django.db import models


class SourceFile(models.Model):
    """A CSV file: uploaded or fetched (we own it), or one that is read where its owner keeps it."""

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
    # Where it was picked up: its name below the connection's base, and how that told this version from others.
    connection = models.ForeignKey(
        "SourceConnection", models.PROTECT, null=True, blank=True, editable=False, related_name="files"
    )
    found_name = models.CharField(max_length=1024, blank=True, editable=False)
    found_etag = models.CharField(max_length=255, blank=True, editable=False)
    found_modified_at = models.DateTimeField(null=True, blank=True, editable=False)
    uploaded_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    touched_at = models.DateTimeField(auto_now=True)

    def __str__(self) -> str:
        return self.name

    @property
    def file(self) -> Path:
        return Path(self.path)

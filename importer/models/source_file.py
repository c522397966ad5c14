"""A source file: a CSV file to import, and its examination."""

import uuid
from pathlib import Path

from django.conf import settings
from django.db import models


class SourceFile(models.Model):
    """A CSV file, uploaded or fetched (`owned`: the application may delete it), or read in its original place."""

    class Status(models.TextChoices):
        UPLOADING = "uploading"
        READY = "ready"
        # The row stays for its imports; the bytes are deleted (importer.retention).
        REMOVED = "removed"

    key = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    name = models.CharField(max_length=255)
    path = models.CharField(max_length=1024)
    size = models.BigIntegerField()
    received = models.BigIntegerField(default=0)
    status = models.CharField(max_length=10, choices=Status, default=Status.UPLOADING)
    # xxh3-128 of the whole file, hexadecimal: recognises the same file.
    fingerprint = models.CharField(max_length=32, blank=True, db_index=True)
    # The last form of the new import page for this file, to fill the page in again.
    choices = models.JSONField(default=dict, blank=True)
    owned = models.BooleanField(default=True)
    # For a fetched file: its name below the connection's base, and the ETag and time of the fetched version.
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
    def arriving(self) -> bool:
        """Whether it is still being uploaded: `received` of its bytes are there, and never change again."""
        return self.status == self.Status.UPLOADING

    @property
    def file(self) -> Path:
        return Path(self.path)


class Examination(models.Model):
    """Counts the rows of a file that its table would not take; the workers continue with it as the file arrives.

    One worker at a time has its lease (importer.lease). Another mapping begins it again; the import's start ends it.
    """

    source = models.OneToOneField(SourceFile, models.CASCADE, related_name="examination", editable=False)
    # What is examined (importer.preparation.examination.Basis as JSON), and its digest.
    basis_json = models.JSONField(editable=False)
    digest = models.CharField(max_length=64, editable=False)
    # Where it continues (importer.engine.source.chunks.scanner.Position), and what it has found so far
    # (importer.preparation.row_problems.RowProblems), both as JSON.
    position_json = models.JSONField(default=dict, editable=False)
    found_json = models.JSONField(default=dict, editable=False)
    done = models.BooleanField(default=False, editable=False)
    attempt = models.PositiveIntegerField(default=0, editable=False)
    lease = models.DateTimeField(null=True, editable=False)

    def __str__(self) -> str:
        return f"Examination of {self.source}"

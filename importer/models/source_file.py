"""A source file: a CSV file to import, and its examination."""

import socket
import uuid
from functools import cached_property
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
    # Where its bytes are: a file of this host, an object of a connection, or with a `store_etag` one of the store.
    path = models.CharField(max_length=1024)
    # The version of a file in the store (importer/sources/upload_storage.py); "" for one that is elsewhere.
    store_etag = models.CharField(max_length=255, blank=True, editable=False)
    # The upload in parts that a browser puts into the store (importer/sources/direct.py), until it has ended.
    store_upload = models.CharField(max_length=1024, blank=True, default="", db_default="", editable=False)
    size = models.BigIntegerField()
    received = models.BigIntegerField(default=0)
    status = models.CharField(max_length=10, choices=Status, default=Status.UPLOADING)
    # xxh3-128 of the whole file, hexadecimal: recognises the same file.
    fingerprint = models.CharField(max_length=32, blank=True, db_index=True)
    # The last form of the new import page for this file, to fill the page in again.
    choices = models.JSONField(default=dict, blank=True)
    owned = models.BooleanField(default=True)
    # The host that has written the file's row.
    host = models.CharField(max_length=255, blank=True, default=socket.gethostname, editable=False)
    # Its path on the database's host, where the target's server is to read it itself; "" if it was not named by that.
    server_path = models.CharField(max_length=1024, blank=True, editable=False)
    # For a fetched file: its name below the connection's base, and the ETag and time of the fetched version. Of a file
    # in place without a connection, `found_etag` is its version on the disk (importer/sources/in_place.py).
    connection = models.ForeignKey(
        "SourceConnection", models.PROTECT, null=True, blank=True, editable=False, related_name="files"
    )
    found_name = models.CharField(max_length=1024, blank=True, editable=False)
    found_etag = models.CharField(max_length=255, blank=True, editable=False)
    found_modified_at = models.DateTimeField(null=True, blank=True, editable=False)
    # Of a source of several files, which are read as one: how many (SourceMember). It has no bytes of its own.
    file_count = models.PositiveSmallIntegerField(default=1, editable=False)
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

    @property
    def files(self) -> "list[SourceFile]":
        """The files of a source of several, in their order; otherwise the source itself."""
        if self.file_count == 1:
            return [self]
        return [each.file for each in self.members.select_related("file").order_by("place")]

    @cached_property
    def counted_rows(self) -> int | None:
        """The rows that the latest scan of the whole file counted; None without one. Looked up once for this object."""
        scans = self.jobs.filter(scan_finished=True, trial=None).order_by("-pk")
        return scans.values_list("scanned_rows", flat=True).first()

    @property
    def is_removed(self) -> bool:
        """Whether bytes of it are deleted."""
        return any(each.status == self.Status.REMOVED for each in self.files)


class SourceMember(models.Model):
    """One of the files of a source of several: its `place` among them, from 0."""

    whole = models.ForeignKey(SourceFile, models.CASCADE, related_name="members", editable=False)
    file = models.ForeignKey(SourceFile, models.PROTECT, related_name="member_of", editable=False)
    place = models.PositiveSmallIntegerField(editable=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["whole", "place"], name="one_file_per_place")]

    def __str__(self) -> str:
        return f"{self.file}, file {self.place + 1} of {self.whole}"


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

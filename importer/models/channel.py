"""Notification channels, their subscriptions, and the outbox of messages."""

import uuid

from django.core.validators import RegexValidator
from django.db import models

from importer.models.checked_save import Named
from importer.models.job import ImportJob
from importer.models.schedule import Schedule, ScheduleRun
from importer.security import encryption


class Event(models.TextChoices):
    """An event that people are notified of. Messages have the value, pages the label."""

    FAILED = "failed", "an import failed"
    RECOVERED = "recovered", "imports work again after one failed"
    REJECTS = "rejects", "more rows were rejected than the limit"
    LATE = "late", "a schedule is late"
    NO_FILE = "no_file", "a schedule found no file"
    REGRESSION = "regression", "an import was slower than usual"
    APPROVAL = "approval", "an import or a lab waits for another person's approval"
    SUCCEEDED = "succeeded", "an import succeeded"

    @classmethod
    def usual(cls) -> list[str]:
        """The events of a channel for which none are chosen: all, without the success, which may come often."""
        return [each.value for each in cls if each is not cls.SUCCEEDED]


class Channel(Named):
    """A way to notify people, of one of the kinds in importer/notifications/channel_kinds.py."""

    thing = "channel"

    key = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    name = models.CharField(
        max_length=64, unique=True, validators=[RegexValidator(r"^[\w.-]+\Z", "Letters, digits, _ . and - only.")]
    )
    kind = models.CharField(max_length=8)
    # If off, the channel gets no new messages, and waiting ones are given up.
    on = models.BooleanField(default=True)
    # Mail: the recipients, one address on each line.
    addresses = models.TextField(blank=True)
    # Webhook: the URL, whether it may have a private address, and the secret that signs its messages.
    url = models.CharField("URL", max_length=500, blank=True)
    private_allowed = models.BooleanField("private addresses allowed", default=False)
    secret_ciphertext = models.TextField(blank=True, editable=False)
    # Values of Event that the channel gets for all imports and schedules, and the rejected rows that are tolerated.
    events = models.JSONField(default=list, blank=True)
    most_rejects = models.PositiveBigIntegerField("allowed rejected rows", default=0)
    # One message is sent at a time. `free_at`: the end of the sender's lease, or of the pause after a failure.
    # `failures`: failures in a row.
    free_at = models.DateTimeField(null=True, blank=True, editable=False)
    failures = models.PositiveSmallIntegerField(default=0, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.name

    def set_secret(self, secret: str) -> None:
        """Encrypt and store; the ciphertext is bound to this channel, so it cannot be moved to another's row."""
        self.secret_ciphertext = encryption.encrypt(secret, bound_to=str(self.key))

    @property
    def secret(self) -> str:
        """The secret that signs a webhook's messages. Raises Problem if no key decrypts it."""
        return encryption.decrypt(self.secret_ciphertext, bound_to=str(self.key))


class Subscription(models.Model):
    """Events of one schedule that a channel gets in addition to those of all schedules."""

    schedule = models.ForeignKey(Schedule, models.CASCADE, related_name="subscriptions")
    channel = models.ForeignKey(Channel, models.CASCADE, related_name="subscriptions")
    # Values of Event.
    events = models.JSONField(default=list)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["schedule", "channel"], name="one_hearing_per_channel")]

    def __str__(self) -> str:
        return f"{self.channel} of {self.schedule}"


class Notification(models.Model):
    """One message to one channel: recorded when the event happens, and sent later by a worker.

    waiting -> sent
       |
       +-----> given up --(by request)--> waiting
    """

    class Status(models.TextChoices):
        WAITING = "waiting"
        SENT = "sent"
        GIVEN_UP = "given up"

    # Sent with every attempt, so that receivers can recognise duplicates.
    key = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    channel = models.ForeignKey(Channel, models.CASCADE, related_name="notifications")
    event = models.CharField(max_length=16, choices=Event)
    # Channel, event and subject: prevents a second message for the same event.
    once = models.CharField(max_length=120, unique=True)
    job = models.ForeignKey(ImportJob, models.SET_NULL, null=True, blank=True, related_name="notifications")
    run = models.ForeignKey(ScheduleRun, models.SET_NULL, null=True, blank=True, related_name="notifications")
    schedule = models.ForeignKey(Schedule, models.SET_NULL, null=True, blank=True, related_name="notifications")
    # The content (importer.notifications.payload), as of the event.
    payload = models.JSONField()

    status = models.CharField(max_length=8, choices=Status, default=Status.WAITING)
    attempts = models.PositiveSmallIntegerField(default=0)
    # When it may be sent; during an attempt, the time after which the sender counts as dead.
    next_at = models.DateTimeField()
    # The problem of the last attempt, in words; of one that was sent, the addresses that were refused.
    problem = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True, db_index=True)
    sent_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [models.Index(fields=["status", "next_at"], name="notices_due")]

    def __str__(self) -> str:
        return f"notice {self.pk}"

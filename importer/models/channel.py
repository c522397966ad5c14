"""Who is told what happens to imports, and each message to them: what it says, and whether it has arrived."""

import uuid

from django.core.validators import RegexValidator
from django.db import models

from importer.models.job import ImportJob
from importer.models.schedule import Schedule, ScheduleRun
from importer.security import encryption


class Event(models.TextChoices):
    """What somebody may be told; the value stands in messages, the label on pages."""

    FAILED = "failed", "an import failed"
    RECOVERED = "recovered", "imports work again after one failed"
    REJECTS = "rejects", "more rows were rejected than the limit"
    LATE = "late", "a schedule is late"
    NO_FILE = "no_file", "a schedule found no file"
    REGRESSION = "regression", "an import was slower than usual"


class Channel(models.Model):
    """A way to notify people, of one of the kinds in importer/notifications/channel_kinds.py."""

    key = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    name = models.CharField(
        max_length=64, unique=True, validators=[RegexValidator(r"^[\w.-]+\Z", "Letters, digits, _ . and - only.")]
    )
    kind = models.CharField(max_length=8)
    # Off, it hears of nothing, and what waits for it is given up.
    on = models.BooleanField(default=True)
    # Mail: the recipients, one address on each line.
    addresses = models.TextField(blank=True)
    # Webhook: the URL, whether it may have a private address, and the secret that signs its messages.
    url = models.CharField("URL", max_length=500, blank=True)
    private_allowed = models.BooleanField("private addresses allowed", default=False)
    secret_ciphertext = models.TextField(blank=True, editable=False)
    # Which events it hears of every import and schedule, as values of Event, and above how many rejected rows.
    events = models.JSONField(default=list, blank=True)
    most_rejects = models.PositiveBigIntegerField("rejected rows that are fine", default=0)
    # One message at a time: until when somebody is sending one, or after a failure until when nobody is to; and how
    # many failed in a row.
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
    """What a channel hears of one schedule, besides what it hears of all."""

    schedule = models.ForeignKey(Schedule, models.CASCADE, related_name="subscriptions")
    channel = models.ForeignKey(Channel, models.CASCADE, related_name="subscriptions")
    # Values of Event.
    events = models.JSONField(default=list)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["schedule", "channel"], name="one_hearing_per_channel")]

    def __str__(self) -> str:
        return f"{self.channel} of {self.schedule}"


class Notification(models.Model):
    """One message over one channel, written down when what it tells happens, and sent later by a worker.

    waiting -> sent
       |
       +-----> given up --(asked for)--> waiting
    """

    class Status(models.TextChoices):
        WAITING = "waiting"
        SENT = "sent"
        GIVEN_UP = "given up"

    # Goes with every attempt, so that who gets it twice can tell.
    key = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    channel = models.ForeignKey(Channel, models.CASCADE, related_name="notifications")
    event = models.CharField(max_length=16, choices=Event)
    # Channel, event and what it is about: nobody is told the same twice.
    once = models.CharField(max_length=120, unique=True)
    job = models.ForeignKey(ImportJob, models.SET_NULL, null=True, blank=True, related_name="notifications")
    run = models.ForeignKey(ScheduleRun, models.SET_NULL, null=True, blank=True, related_name="notifications")
    schedule = models.ForeignKey(Schedule, models.SET_NULL, null=True, blank=True, related_name="notifications")
    # What it says (importer.notifications.payload), as things stood when it happened.
    payload = models.JSONField()

    status = models.CharField(max_length=8, choices=Status, default=Status.WAITING)
    attempts = models.PositiveSmallIntegerField(default=0)
    # When it may be tried; while somebody tries, when somebody else may, since that one must be dead by then.
    next_at = models.DateTimeField()
    # What stood in the way of the last attempt, in words.
    problem = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True, db_index=True)
    sent_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [models.Index(fields=["status", "next_at"], name="notices_due")]

    def __str__(self) -> str:
        return f"notice {self.pk}"

"""People: their role, what they or their groups may use, what they did, and the counts against their limits."""

from typing import Any, NoReturn

from django.conf import settings
from django.contrib.auth.models import Group
from django.core.validators import RegexValidator
from django.db import models
from django.db.models import Q
from django.utils import timezone

from importer.models.channel import Channel
from importer.models.source_connection import SourceConnection
from importer.models.target import Target


class Role(models.TextChoices):
    """What a person may do at most; a grant says on what."""

    VIEWER = "viewer", "viewer: sees imports, changes nothing"
    OPERATOR = "operator", "operator: imports where a grant says so"
    ADMIN = "admin", "admin: may do everything, also to people and grants"


class Level(models.IntegerChoices):
    """What a grant allows; each level contains the lower ones."""

    LOOK = 1, "look"
    LOAD = 2, "load"
    ADMINISTER = 3, "administer"


class Person(models.Model):
    """What is known of a user, apart from the account.

    Admins have `is_staff` as well; importer.access.people sets both.
    """

    user = models.OneToOneField(settings.AUTH_USER_MODEL, models.CASCADE, primary_key=True, related_name="person")
    role = models.CharField(max_length=8, choices=Role, default=Role.VIEWER)
    # In which pages show times, such as Europe/Vienna; "": in that of the setting TIME_ZONE.
    time_zone = models.CharField(max_length=64, blank=True)

    def __str__(self) -> str:
        return f"{self.user} ({self.role})"


class SavedFilter(models.Model):
    """A filter of the list of imports that a person has saved under a name: `query` as it stands in the address."""

    LONGEST_NAME = 64
    LONGEST_QUERY = 1024

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="saved_filters")
    name = models.CharField(max_length=LONGEST_NAME)
    query = models.CharField(max_length=LONGEST_QUERY)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "name"], name="one_filter_of_a_name")]

    def __str__(self) -> str:
        return self.name


class Grant(models.Model):
    """A person, or a group, may look at, load into or administer a target; or use a connection or a channel.

    Without an object of its kind the grant is for all of them. `tables` limits a grant on a target to tables:
    `SCHEMA.TABLE`, `SCHEMA.PREFIX*` or `SCHEMA.*`; an empty list is no limit.
    """

    class Kind(models.TextChoices):
        TARGET = "target"
        CONNECTION = "connection"
        CHANNEL = "channel"

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, null=True, blank=True, related_name="grants")
    group = models.ForeignKey(Group, models.CASCADE, null=True, blank=True, related_name="grants")
    kind = models.CharField(max_length=10, choices=Kind)
    target = models.ForeignKey(Target, models.CASCADE, null=True, blank=True, related_name="grants")
    connection = models.ForeignKey(SourceConnection, models.CASCADE, null=True, blank=True, related_name="grants")
    channel = models.ForeignKey(Channel, models.CASCADE, null=True, blank=True, related_name="grants")
    level = models.PositiveSmallIntegerField(choices=Level, default=Level.LOAD)
    tables = models.JSONField(default=list, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="grant_has_one_subject",
                condition=Q(user__isnull=False, group__isnull=True) | Q(user__isnull=True, group__isnull=False),
            )
        ]

    def __str__(self) -> str:
        return f"{self.user or self.group} may {self.get_level_display()} {self.object_name}"

    @property
    def object_name(self) -> str:
        """The name of the target, connection or channel, or that it is each of them."""
        granted = getattr(self, self.kind)
        return f"{self.kind} {granted.name}" if granted else f"every {self.kind}"


class LimitCount(models.Model):
    """What counts against one limit since `began`, such as the guesses from one address or a person's uploads."""

    key = models.CharField(max_length=64, primary_key=True)
    uses = models.PositiveIntegerField(default=0)
    began = models.DateTimeField()
    kept_until = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return f"{self.uses} since {self.began:%F %T}"


class Scope(models.TextChoices):
    """The purpose of a token. What it may do within that is limited by its person's role and grants."""

    READ = "read", "see what you see, and download it"
    IMPORT = "import", "upload files, start imports and labs, act on them, save presets"
    APPROVE = "approve", "approve and refuse imports and labs of others in your name"
    SCHEDULE = "schedule", "make, change and run schedules"
    MANAGE = "manage", "change targets, connections, channels, and what is kept"
    PEOPLE = "people", "see and change people, groups, grants and tokens; for admins"
    METRICS = "metrics", "read the figures of the whole installation for monitoring; for admins"


class AccessToken(models.Model):
    """What lets a program act on behalf of a person. Only a digest of it is stored."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="access_tokens")
    name = models.CharField(max_length=80)
    # SHA-256 of the token, hexadecimal.
    digest = models.CharField(max_length=64, unique=True)
    # Values of Scope.
    scopes = models.JSONField(default=list)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    last_used_at = models.DateTimeField(null=True, blank=True)
    last_used_from = models.CharField(max_length=45, blank=True)

    class Meta:
        verbose_name = "token"
        constraints = [models.UniqueConstraint(fields=["user", "name"], name="token_name_of_person")]

    def __str__(self) -> str:
        return self.name


class AnsweredRequest(models.Model):
    """A request to the API that its sender has given a key, and the answer to it, for when it is sent again."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    key = models.CharField(max_length=255)
    # SHA-256 of method, address and body, hexadecimal.
    digest = models.CharField(max_length=64)
    # The answer; NULL while the request is answered, or if it ended without one.
    status = models.PositiveSmallIntegerField(null=True)
    location = models.CharField(max_length=255, blank=True)
    body = models.TextField(blank=True)
    created_at = models.DateTimeField(default=timezone.now, db_index=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "key"], name="one_answer_to_a_key")]

    def __str__(self) -> str:
        return f"{self.key}: {self.status}"


class Unchangeable(Exception):
    """The audit log is only added to."""


class AddedOnly(models.QuerySet["AuditEvent"]):
    """A queryset that changes and deletes nothing."""

    def update(self, **_values: Any) -> NoReturn:
        raise Unchangeable("An event of the audit log is never changed.")

    def bulk_update(self, *_args: Any, **_options: Any) -> NoReturn:
        raise Unchangeable("An event of the audit log is never changed.")

    def delete(self) -> NoReturn:
        raise Unchangeable(
            "Only importer.access.audit.remove_old() deletes events, once they are older than AUDIT_DAYS."
        )


class AuditEvent(models.Model):
    """Who did what to which thing, from where, with what outcome. Names are copies: they outlive what they name."""

    class Outcome(models.TextChoices):
        DONE = "done"
        REFUSED = "refused"
        FAILED = "failed"

    at = models.DateTimeField(default=timezone.now, db_index=True)
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    actor_name = models.CharField(max_length=150, blank=True)
    address = models.CharField(max_length=45, blank=True)
    # The name of a URL, or "command", "sign_in", "sign_out".
    action = models.CharField(max_length=64)
    object_kind = models.CharField(max_length=32, blank=True)
    object_id = models.CharField(max_length=64, blank=True)
    object_name = models.CharField(max_length=255, blank=True)
    target = models.CharField(max_length=64, blank=True)
    table = models.CharField(max_length=130, blank=True)
    outcome = models.CharField(max_length=8, choices=Outcome, default=Outcome.DONE)
    details = models.JSONField(default=dict, blank=True)

    objects = AddedOnly.as_manager()

    def __str__(self) -> str:
        return f"{self.action} {self.object_name} by {self.actor_name}: {self.outcome}"

    def save(self, *args: Any, **options: Any) -> None:
        """Add the event. Raises Unchangeable if it is stored already."""
        if not self._state.adding:
            raise Unchangeable("An event of the audit log is never changed.")
        super().save(*args, **options)

    def delete(self, *_args: Any, **_options: Any) -> NoReturn:
        raise Unchangeable(
            "Only importer.access.audit.remove_old() deletes events, once they are older than AUDIT_DAYS."
        )


TABLE_PATTERN = RegexValidator(
    r"^[^.*\s]+\.[^.*\s]*\*?\Z", "A limit is SCHEMA.TABLE, SCHEMA.PREFIX* or SCHEMA.*, such as shop.orders."
)

"""A target: a server and the database on it that imports load into."""

import uuid
from dataclasses import replace
from typing import Self

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models

from config.environment import LABEL, LABEL_WORDS
from importer.engine.errors import Problem
from importer.engine.load.network_probe import NetworkProbe
from importer.engine.mysql.connection import Address
from importer.models.checked_save import Named
from importer.security import encryption, held_passwords


def _check_server_key(text: str) -> None:
    """Raise ValidationError unless the text is a public RSA key as PEM."""
    # Imported here: most targets have none, and loads start sooner.
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    try:
        right = isinstance(load_pem_public_key(text.encode()), RSAPublicKey)
    except ValueError:
        right = False
    if not right:
        said = "That is no public RSA key. It begins with -----BEGIN PUBLIC KEY-----; on the server: "
        raise ValidationError({"server_key": f"{said}SHOW STATUS LIKE 'Caching_sha2_password_rsa_public_key'."})


def _check_ca_file(path: str) -> None:
    """Raise ValidationError for a file in a folder that people fill."""
    from importer.security.ca_files import check_ca_file  # Here: most targets have none.

    try:
        check_ca_file(path)
    except Problem as problem:
        raise ValidationError({"tls_ca": str(problem)}) from problem


class Targets(models.QuerySet["Target"]):
    """Targets, with the choice of those that people have saved."""

    def registered(self) -> Self:
        """Those that people have saved, without the servers that were only named by a URL."""
        return self.filter(by_url=False)


class Target(Named):
    """A MySQL or MariaDB server and the database on it that imports load into."""

    thing = "target"

    class Tls(models.TextChoices):
        OFF = "off", "off (this machine or a trusted network only)"
        ENCRYPT = "encrypt", "encrypted, certificate not checked"
        VERIFY = "verify", "encrypted, certificate and host name checked"

    # Who gets the password, and who can read it on the way. After a change of one it is entered again.
    PASSWORD_GOES_TO = ("host", "port", "user", "database", "tls", "tls_ca", "server_key", "clear_password")

    key = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    name = models.CharField(
        max_length=64, unique=True, validators=[RegexValidator(r"^[\w.-]+\Z", "Letters, digits, _ . and - only.")]
    )
    host = models.CharField(max_length=255)
    port = models.PositiveIntegerField(default=3306, validators=[MinValueValidator(1), MaxValueValidator(65535)])
    user = models.CharField(max_length=128)
    password_ciphertext = models.TextField(blank=True, editable=False)
    database = models.CharField(max_length=64)
    tls = models.CharField(max_length=8, choices=Tls, default=Tls.VERIFY)
    tls_ca = models.CharField("CA file", max_length=255, blank=True)
    server_key = models.TextField("server's public key", blank=True)
    clear_password = models.BooleanField("send the readable password if the server asks for it", default=False)
    ceiling = models.PositiveSmallIntegerField(
        "max. parallel chunks", default=8, validators=[MinValueValidator(1), MaxValueValidator(64)]
    )
    # Its steps and chunks go to workers with this label (setting LOADS); "": to workers without one.
    label = models.CharField(
        "loaded by workers with the label",
        max_length=32,
        blank=True,
        default="",
        db_default="",
        validators=[RegexValidator(rf"^{LABEL}\Z", LABEL_WORDS)],
    )
    # Whether a URL on the command line named it: a record for its imports, with no password, that nobody chooses again.
    by_url = models.BooleanField(default=False, editable=False)
    # Whether its server wants a password that is not stored: only the command has it that was given it (by_url.py).
    password_unstored = models.BooleanField(default=False, db_default=False, editable=False)
    needs_approval = models.BooleanField("imports need another person's approval", default=False)
    # The last check's findings (importer.engine.preflight.Finding as JSON) and when it ran.
    findings = models.JSONField(default=list, blank=True)
    # Measured by the last check: the round trip, and the rate of one session. None on this machine or if not measured.
    round_trip_ms = models.FloatField(null=True, blank=True, editable=False)
    bytes_per_second = models.FloatField(null=True, blank=True, editable=False)
    checked_at = models.DateTimeField(null=True, blank=True)
    # When rows of old imports were last deleted from its ledger, or could not be (importer.retention).
    ledger_swept_at = models.DateTimeField(null=True, blank=True, editable=False)
    ledger_problem = models.CharField(max_length=255, blank=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = Targets.as_manager()

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        """Raise ValidationError for a server's key that is none, and for a CA file that people could have sent."""
        if self.server_key:
            _check_server_key(self.server_key)
        if self.tls_ca:
            _check_ca_file(self.tls_ca)

    def set_password(self, password: str) -> None:
        """Encrypt and store; the ciphertext is bound to this target, so it cannot be moved to another's row."""
        self.password_ciphertext = encryption.encrypt(password, bound_to=str(self.key)) if password else ""

    @property
    def distance(self) -> NetworkProbe | None:
        """The network distance to the server, measured by the last check."""
        return None if self.round_trip_ms is None else NetworkProbe(self.round_trip_ms, self.bytes_per_second)

    @property
    def left_to_commands(self) -> bool:
        """Whether the server wants a password that no worker has: a command holds it, or asks for it."""
        return self.password_unstored and not self.password_ciphertext

    @property
    def lacks_password(self) -> bool:
        """Whether the server wants a password that this process does not have."""
        return self.left_to_commands and held_passwords.held(self.key) is None

    @property
    def address(self) -> Address:
        """The address for the engine, with the password that this process holds, or else the stored one, decrypted."""
        held = held_passwords.held(self.key)
        stored = encryption.decrypt(self.password_ciphertext, bound_to=str(self.key)) if held is None else held
        return replace(self.address_without_password, password=stored)

    @property
    def address_without_password(self) -> Address:
        """The address with an empty password, to show it."""
        return Address(
            host=self.host,
            port=self.port,
            user=self.user,
            password="",
            database=self.database,
            tls=self.tls,
            tls_ca=self.tls_ca,
            server_key=self.server_key,
            clear_password=self.clear_password,
            networks=tuple(settings.PRIVATE_NETWORKS),
        )

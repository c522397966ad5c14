"""Encrypts stored secrets with keys that lie outside the database (settings.ENCRYPTION_KEYS)."""

from typing import TYPE_CHECKING

from django.conf import settings

from importer.engine.errors import Problem

if TYPE_CHECKING:
    from cryptography.fernet import MultiFernet


def encrypt(text: str, *, bound_to: str) -> str:
    """Ciphertext of `text` that `decrypt` reads only with the same `bound_to`."""
    return _keys().encrypt(f"{bound_to}\n{text}".encode()).decode()


def decrypt(ciphertext: str, *, bound_to: str) -> str:
    """The decrypted text; "" for an empty ciphertext. Raises Problem if no key fits or `bound_to` differs."""
    if not ciphertext:
        return ""
    from cryptography.fernet import InvalidToken

    try:
        owner, _, text = _keys().decrypt(ciphertext.encode()).decode().partition("\n")
    except InvalidToken:
        owner, text = "", ""
    if owner != bound_to:
        raise Problem(
            "The stored password cannot be read with the current encryption keys.",
            advice="Put the old key into ENCRYPTION_KEYS after the new one, or enter the password again.",
        )
    return text


def rotate(ciphertext: str) -> str:
    """The text, encrypted again with the newest key; "" for an empty ciphertext."""
    return _keys().rotate(ciphertext.encode()).decode() if ciphertext else ""


def _keys() -> "MultiFernet":
    # Imported here, so that a load without a stored password starts sooner.
    from cryptography.fernet import Fernet, MultiFernet

    return MultiFernet([Fernet(key.strip()) for key in settings.ENCRYPTION_KEYS])

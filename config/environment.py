"""Reads settings from the environment. A secret may also come from a file named by NAME_FILE (container secrets)."""

import hashlib
import os
import secrets
import tempfile
from pathlib import Path

import environ
from cryptography.fernet import Fernet
from django.core.exceptions import ImproperlyConfigured

env = environ.Env()

# The path of a Unix socket has at most 108 bytes with a final NUL (unix(7)); supervisord appends a dot and its process
# id (at most 4194304) while it creates its socket.
LONGEST_SOCKET_PATH = 107 - len(".4194304")


def secret(name: str) -> str | None:
    """The value of NAME, or the contents of the file that NAME_FILE names; None if neither is set."""
    if path := os.environ.get(f"{name}_FILE"):
        try:
            return Path(path).read_text().strip()
        except OSError as error:
            raise ImproperlyConfigured(f"{name}_FILE: cannot read {path}: {error.strerror}") from error
    return os.environ.get(name) or None


def stored_key(path: Path, make: "type[Fernet] | None" = None) -> str:
    """The key stored in `path` (mode 0600). It is generated on first use, so that there is no default key."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        key = make.generate_key().decode() if make else secrets.token_urlsafe(48)
        _write_once(path, key)
    return path.read_text().strip()


def _write_once(path: Path, text: str) -> None:
    """Write the file unless it exists: of several processes that start at once, all use the key of the first."""
    fd, fresh = tempfile.mkstemp(dir=path.parent)
    with os.fdopen(fd, "w") as out:
        out.write(text)
    try:
        os.link(fresh, path)
    except FileExistsError:
        pass
    finally:
        Path(fresh).unlink()


def socket_path(var_dir: Path, name: str) -> Path:
    """The path of a private server's Unix socket: in VAR_DIR, or in a temporary folder if that path is too long."""
    path = var_dir / "run" / name
    if len(os.fsencode(path)) <= LONGEST_SOCKET_PATH:
        return path
    digest = hashlib.sha256(os.fsencode(var_dir)).hexdigest()[:12]
    return Path(tempfile.gettempdir()) / f"millrace-{os.getuid()}-{digest}" / name

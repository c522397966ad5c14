"""Files with certificate authorities, which people name for targets and connections."""

import ssl
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings

from importer.engine.errors import Problem


def check_ca_file(path: str) -> None:
    """Raise Problem for a file in a folder that people fill: its sender would decide which servers are trusted."""
    if path and any(Path(path).resolve().is_relative_to(each) for each in _filled_folders()):
        raise _no_authorities(path)


def _filled_folders() -> Iterator[Path]:
    """The folders of uploads, working copies, rejected rows and files that wait for an import."""
    own = (settings.VAR_DIR, settings.UPLOAD_DIR, settings.PLAIN_DIR, settings.REJECTS_DIR)
    return (each.resolve() for each in (*own, *map(Path, settings.IMPORT_FOLDERS)))


def require_authorities(path: str) -> None:
    """Raise Problem as check_ca_file() does, and if no certificate authorities can be read from the file.

    The text is the same in all cases, so that nobody learns which files there are.
    """
    check_ca_file(path)
    if path and not _has_authorities(path):
        raise _no_authorities(path)


def _no_authorities(path: str) -> Problem:
    return Problem(
        f"No certificate authorities can be read from {path}.",
        advice="Name a PEM file on this machine, outside the folders of Millrace and of files to import.",
        option="tls_ca",
    )


def _has_authorities(path: str) -> bool:
    # A device or a pipe would be read for ever.
    if not Path(path).is_file():
        return False
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cafile=path)
    except OSError:  # ssl.SSLError is one.
        return False
    return True

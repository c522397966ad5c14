"""Places: what one person has under way at a time on this host, such as a download or a part of an upload.

A place is a lock on a file, so the kernel frees the places of a process that has ended, however it did.
"""

import fcntl
import os
from pathlib import Path
from typing import IO

from django.conf import settings
from django.contrib.auth.models import User

from config.environment import private_folder
from importer.access.limits import Places, TooManyAtOnce

Place = IO[bytes]  # taken until it is closed


def folder_of(kind: Places) -> Path:
    """The folder of the files that are locked."""
    return private_folder(settings.VAR_DIR / "run" / kind.setting.lower())


def take(kind: Places, person: User) -> Place | None:
    """Take one of the person's places; None without a limit. Raises TooManyAtOnce if all are taken."""
    if not kind.most:
        return None
    folder = folder_of(kind)
    for number in range(kind.most):
        place = os.fdopen(os.open(folder / f"{person.pk}-{number}", os.O_CREAT | os.O_WRONLY, 0o600), "wb")
        try:
            fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            place.close()
            continue
        return place
    raise TooManyAtOnce(
        f"You have {kind.most:,} {kind.things} at once already, as many as one person may have.",
        advice=f"Try again in {kind.seconds} seconds, or ask an admin to raise {kind.setting}.",
        seconds=kind.seconds,
    )

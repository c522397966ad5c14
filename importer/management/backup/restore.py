"""Restores a backup. It takes place wholly or not at all, also if it is killed.

Everything is laid ready first: the database in VAR_DIR/restore, the files in a hidden folder next to their places. Then
a journal is written, which says that this restore takes place. What follows can be repeated, and is, by the next start.
"""

import fcntl
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from functools import partial
from pathlib import Path

from django.conf import settings
from django.core.management import call_command
from redis import RedisError

from config.environment import secret
from importer.engine.errors import Problem
from importer.management.backup import archive, database
from importer.management.backup.adjust import adjust
from importer.management.backup.archive import ENCRYPTION_KEYS, REJECTS, SECRET_KEY, UPLOADS
from importer.management.backup.manifest import Manifest, manifest_from_json, refuse_newer
from importer.sources.room import in_words, room
from importer.worker.hosts.presence import SILENCE_SECONDS, live_workers

HIDDEN = ".restore"
JOURNAL = "journal.json"
IN_ENVIRONMENT = {SECRET_KEY: "SECRET_KEY", ENCRYPTION_KEYS: "ENCRYPTION_KEYS"}


def restore(path: Path, *, replace: bool) -> Manifest:
    """Restore the backup. `replace`: also if the installation is in use, whose state is then lost.

    Raises Problem, and leaves everything as it was, if the archive is damaged, of a newer version or for another kind
    of database, if its keys do not fit those in the environment, if there is no room, or if Millrace is running.
    """
    manifest = archive.checked(path)
    refuse_newer(manifest)
    database.refuse_unfit(manifest)
    if not replace:
        _refuse_used()
    with _stopped():
        if journal().exists():
            raise Problem("An earlier restore was interrupted.", advice="Finish it first: millrace prepare.")
        _clear()
        try:
            _refuse_no_room(manifest)
            archive.extract(path, manifest, _staged)
            _refuse_other_keys()
            _write_synced(journal(), json.dumps(asdict(manifest)))
        except BaseException:
            _clear()
            raise
        _put_into_place(manifest)
        call_command("migrate", interactive=False, verbosity=0)
    return manifest


def finish_interrupted() -> bool:
    """Finish a restore that was killed while it put things into place. Returns whether there was one."""
    if not journal().exists():
        return False
    _put_into_place(manifest_from_json(journal().read_bytes()))
    return True


def journal() -> Path:
    """The file that is there while a restore puts things into place."""
    return settings.VAR_DIR / "restore" / JOURNAL


def _put_into_place(manifest: Manifest) -> None:
    """Put everything that lies ready into place. If the database cannot be, all stays as it was."""
    keys = _KeyFiles()
    staged = journal().parent / database.file_of(manifest.database)
    try:
        keys.read_both()
        database.put_into_place(staged, manifest, partial(adjust, manifest=manifest, uploads=str(settings.UPLOAD_DIR)))
    except Exception:
        keys.put_back()
        _clear()
        raise
    keys.replace()
    for name in manifest.files:
        if (place := _place(name)) and (ready := _staged(name)) and ready.exists():
            place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            ready.replace(place)
    _clear()


class _KeyFiles:
    """The files of the keys, while the database changes from one key to another."""

    def __init__(self) -> None:
        self.new = {name: _ready_key(name) for name in (SECRET_KEY, ENCRYPTION_KEYS)}
        self.old = {name: (settings.VAR_DIR / name).read_text().strip() for name in self.new if _from_file(name)}

    def read_both(self) -> None:
        """Let the key file read the secrets of the old database and of the new one: one of them is there."""
        if old := self.old.get(ENCRYPTION_KEYS):
            self._write({ENCRYPTION_KEYS: f"{self.new[ENCRYPTION_KEYS]},{old}"})

    def put_back(self) -> None:
        self._write(self.old)

    def replace(self) -> None:
        self._write(self.new)

    def _write(self, keys: dict[str, str]) -> None:
        for name, text in keys.items():
            if name in self.old:
                _write_synced(settings.VAR_DIR / name, text)


def _from_file(name: str) -> bool:
    """Whether the key comes from its file, which the settings have made, and not from the environment."""
    return secret(IN_ENVIRONMENT[name]) is None


def _ready_key(name: str) -> str:
    return (journal().parent / name).read_text().strip()


def _refuse_other_keys() -> None:
    """Raise Problem if the environment has other keys than the backup, which could not be read then."""
    missing = set(_ready_key(ENCRYPTION_KEYS).split(",")) - set(settings.ENCRYPTION_KEYS)
    if missing and not _from_file(ENCRYPTION_KEYS):
        raise Problem(
            "ENCRYPTION_KEYS lacks the keys of the backup, whose passwords could not be read.",
            advice="Set it to the keys of the backup, or unset it: then those of the backup are used.",
        )


def _staged(name: str) -> Path | None:
    """Where a file of the archive lies ready; None for one that has no place here."""
    if place := _place(name):
        folder = _folder(name)
        return folder / HIDDEN / place.relative_to(folder)
    if name in (SECRET_KEY, ENCRYPTION_KEYS) or name in database.FILES.values():
        return journal().parent / name
    return None


def _place(name: str) -> Path | None:
    """The place of an upload or a file of rejected rows; None for other files."""
    _, _, below = name.partition("/")
    return _folder(name) / below if name.startswith((f"{UPLOADS}/", f"{REJECTS}/")) and archive.is_safe(name) else None


def _folder(name: str) -> Path:
    folder: Path = settings.UPLOAD_DIR if name.startswith(f"{UPLOADS}/") else settings.REJECTS_DIR
    return folder


def _clear() -> None:
    """Remove what lies ready; the journal first."""
    journal().unlink(missing_ok=True)
    for folder in (journal().parent, settings.UPLOAD_DIR / HIDDEN, settings.REJECTS_DIR / HIDDEN):
        shutil.rmtree(folder, ignore_errors=True)


def _refuse_used() -> None:
    if there := database.what_is_there():
        counts = ", ".join(f"{name} {count:,}" for name, count in there.items())
        raise Problem(
            f"This installation is in use: {counts}.",
            str(settings.VAR_DIR),
            "Name an empty VAR_DIR and database, or add --replace, which deletes what is here.",
        )


def _refuse_no_room(manifest: Manifest) -> None:
    needed: dict[Path, int] = {}
    for name, stored in manifest.files.items():
        folder = _folder(name) if _place(name) else settings.VAR_DIR
        # A database is there twice for a moment.
        needed[folder] = needed.get(folder, 0) + stored.size * (1 if _place(name) else 2)
    for folder, size in needed.items():
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if size > room(folder):
            raise Problem(f"The backup does not fit there. {in_words(folder, size)}", str(folder), "Make room there.")


@contextmanager
def _stopped() -> Iterator[None]:
    """Hold the lock of this VAR_DIR, which `millrace serve` holds, too.

    Raises Problem if it is held, or if a worker is alive: in a container or on another host it has no such lock.
    """
    path = settings.VAR_DIR / "run" / "lock"
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with path.open("a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise Problem(
                "Millrace is running.", str(settings.VAR_DIR), "Stop it with Ctrl-C where it runs; then try again."
            ) from error
        _refuse_live_workers()
        yield


def _refuse_live_workers() -> None:
    # A private Redis ends with the processes that use it.
    with suppress(RedisError):
        if names := [worker.name for worker in live_workers()]:
            raise Problem(
                f"Workers of this installation are running: {', '.join(names)}.",
                str(settings.VAR_DIR),
                f"Stop all processes of Millrace on all hosts. {SILENCE_SECONDS} seconds later, try again.",
            )


def _write_synced(path: Path, text: str) -> None:
    """Replace the content of a file (mode 0600) at once, and on disk."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    part = path.with_name(path.name + ".part")
    with os.fdopen(os.open(part, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600), "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)

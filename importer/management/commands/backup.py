"""`millrace backup`: makes, checks and restores backups of this installation."""

from pathlib import Path

from importer.access import audit
from importer.engine.units import count_of
from importer.management.backup.archive import checked
from importer.management.backup.create import create, refuse_unusable
from importer.management.backup.restore import restore
from importer.management.base_command import CheckedCommand, recorded
from importer.management.verbs.verb import Context, Verb, option

WARNING = (
    "Anyone who has the file has the passwords of all targets: it holds the keys that decrypt them. Keep it as you keep"
    " these passwords."
)


def _create(context: Context) -> None:
    file = context.options.file
    refuse_unusable(file)
    with recorded("backup create", ""):
        made = create(file)
        audit.note(file=str(file.absolute()), bytes=made.bytes)
    context.output.say(
        f"{file}: the database, the keys, {count_of(made.uploads, 'upload')} and"
        f" {count_of(made.rejects, 'file')} of rejected rows; {made.bytes:,} bytes."
    )
    context.output.warn(WARNING)


def _check(context: Context) -> None:
    manifest = checked(context.options.file)
    context.output.say(
        f"{context.options.file} is whole: {count_of(len(manifest.files), 'file')}, Millrace {manifest.version},"
        f" {manifest.made_at[:16]} UTC."
    )


def _restore(context: Context) -> None:
    file = context.options.file
    manifest = restore(file, replace=context.options.replace)
    # In the restored audit log.
    audit.record("command", command="backup restore", file=str(file.absolute()), made_at=manifest.made_at)
    context.output.say(
        f"Restored: the state of {manifest.made_at[:16]} UTC. All schedules are paused, and imports that were under"
        " way have failed: look at their tables before you resume and retry them. Everybody signs in again."
    )


FILE = option("file", type=Path, metavar="FILE", help="the backup")


class Command(CheckedCommand):
    help = "Make, check and restore backups: database, keys, uploads and rejected rows in one file (docs/backup.md)."
    verbs = {
        "create": Verb("write a backup to a new file, also while Millrace runs", _create, (FILE,)),
        "check": Verb("read a backup, and name what is damaged in it", _check, (FILE,)),
        "restore": Verb(
            "put a backup into an empty installation that does not run",
            _restore,
            (FILE, option("--replace", action="store_true", help="delete what this installation has")),
        ),
    }

"""`millrace backup`: makes, checks and restores backups of this installation."""

from argparse import ArgumentParser
from collections.abc import Callable
from pathlib import Path
from typing import Any

from importer.access import audit
from importer.engine.units import count_of
from importer.management.backup.archive import checked
from importer.management.backup.create import create, refuse_unusable
from importer.management.backup.restore import restore
from importer.management.base_command import CheckedCommand, recorded

WARNING = (
    "Anyone who has the file has the passwords of all targets: it holds the keys that decrypt them. Keep it as you keep"
    " these passwords."
)


class Command(CheckedCommand):
    help = "Make, check and restore backups: database, keys, uploads and rejected rows in one file (docs/backup.md)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True, metavar="|".join(VERBS))
        for verb, about in {
            "create": "write a backup to a new file, also while Millrace runs",
            "check": "read a backup, and name what is damaged in it",
            "restore": "put a backup into an empty installation that does not run",
        }.items():
            verbs.add_parser(verb, help=about).add_argument("file", type=Path, metavar="FILE", help="the backup")
        restoring = verbs.choices["restore"]
        restoring.add_argument("--replace", action="store_true", help="delete what this installation has")

    def handle(self, *_args: Any, verb: str, **options: Any) -> None:
        """Run one verb."""
        VERBS[verb](self, **options)

    def _create(self, *, file: Path, **_: Any) -> None:
        refuse_unusable(file)
        with recorded("backup create", ""):
            made = create(file)
            audit.note(file=str(file.absolute()), bytes=made.bytes)
        self.stdout.write(
            f"{file}: the database, the keys, {count_of(made.uploads, 'upload')} and"
            f" {count_of(made.rejects, 'file')} of rejected rows; {made.bytes:,} bytes."
        )
        self.stderr.write(WARNING)

    def _check(self, *, file: Path, **_: Any) -> None:
        manifest = checked(file)
        self.stdout.write(
            f"{file} is whole: {count_of(len(manifest.files), 'file')}, Millrace {manifest.version},"
            f" {manifest.made_at[:16]} UTC."
        )

    def _restore(self, *, file: Path, replace: bool, **_: Any) -> None:
        manifest = restore(file, replace=replace)
        # In the restored audit log.
        audit.record("command", command="backup restore", file=str(file.absolute()), made_at=manifest.made_at)
        self.stdout.write(
            f"Restored: the state of {manifest.made_at[:16]} UTC. All schedules are paused, and imports that were under"
            " way have failed: look at their tables before you resume and retry them. Everybody signs in again."
        )


VERBS: dict[str, Callable[..., None]] = {
    "create": Command._create,
    "check": Command._check,
    "restore": Command._restore,
}

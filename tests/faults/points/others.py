"""The other work that faults disturb: the restore of a table backup, the run of a schedule, a notification."""

import subprocess
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

from django.conf import settings
from django.core.management import call_command
from django.utils import timezone

from importer import schedules
from importer.engine.mysql.connection import Address
from importer.jobs.steps.table_backup import restore_backup
from importer.models import Channel, ImportJob, Notification, Schedule, ScheduleRun, SourceConnection
from importer.models.channel import Event
from importer.notifications import channels, outbox
from importer.preparation.presets import save
from importer.schedules import ScheduleRequest
from tests.faults.points.imports import KINDS, OLD, ROWS, Imports, contents, made, no_connection_is_left
from tests.faults.points.stopped import Points
from tests.importer.notifications.receivers import Hook
from tests.stack import PYTHON, ROOT, wait_until


@dataclass
class Restoring:
    """The command that gives the table its old rows back, after an import in mode replace."""

    address: Address
    job: ImportJob
    points: Points
    processes: int = 1

    def start(self) -> None:
        command = [str(PYTHON), "manage.py", "kept_table", "restore", str(self.job.pk)]
        self.points.command = subprocess.Popen(command, cwd=ROOT, env=self.points.stack.env)

    def over(self) -> bool:
        """Whether the sweep has released the backup."""
        return ImportJob.objects.get(pk=self.job.pk).step == ""

    def expire(self) -> None:
        """The lease is short in these tests."""

    def met_no_room(self) -> bool:
        return False

    def ends_well(self) -> None:
        wait_until(self.over, what="the release of the backup")
        if not ImportJob.objects.get(pk=self.job.pk).restored_at:
            call_command("kept_table", "restore", str(self.job.pk))
        job = ImportJob.objects.get(pk=self.job.pk)
        assert contents(self.address, job.table_name) == sorted(OLD)
        assert contents(self.address, job.kept_table) == ROWS
        assert (job.table_claim, job.kept_rows is None) == (None, False)
        no_connection_is_left(self.address)


def restoring(address: Address, through: Address, files: dict[str, Path], points: Points) -> Restoring:
    """The backup of an import that has ended."""
    job = made(address, through, KINDS["replacing"], files).imports[0].start()
    wait_until(lambda: ImportJob.objects.get(pk=job.pk).ended, what="the import whose backup is restored")
    wait_until(lambda: not ImportJob.objects.get(pk=job.pk).leftover, what="the record of its backup")
    return Restoring(address, job, points)


@dataclass
class Undoing:
    """The step that gives the rows of the table their old values back, after an import with undo."""

    imports: Imports
    processes: int = 1

    @property
    def job(self) -> ImportJob:
        return self.imports.imports[0].now()

    def start(self) -> None:
        restore_backup(self.job.pk)

    def over(self) -> bool:
        return not self.job.undo_asked

    def expire(self) -> None:
        """The leases of steps are short in these tests."""

    def met_no_room(self) -> bool:
        return False

    def ends_well(self) -> None:
        wait_until(self.over, what="the end of the step")
        if not self.job.restored_at:  # It met no room, or a server that was away for all of its tries.
            restore_backup(self.job.pk)
            wait_until(self.over, what="the end of the step")
        wait_until(lambda: self.job.kept_table == "", what="the end of the kept rows")
        assert contents(self.imports.address, self.job.table_name) == sorted(OLD)
        assert (self.job.table_claim, self.job.undo_json["by_others"]) == (None, 0)
        no_connection_is_left(self.imports.address)


def undoing(address: Address, through: Address, files: dict[str, Path]) -> Undoing:
    """An import that has kept the old rows, and has ended."""
    both = made(address, through, KINDS["keeping"], files)
    job = both.imports[0].start()
    wait_until(lambda: ImportJob.objects.get(pk=job.pk).ended, what="the import that is taken back")
    wait_until(lambda: not ImportJob.objects.get(pk=job.pk).leftover, what="the record of its kept rows")
    return Undoing(both)


@dataclass
class Scheduled:
    """The run of a schedule that is due, whose import goes into the table with a key."""

    schedule: Schedule
    imports: Imports
    processes: int = 1

    def start(self) -> None:
        Schedule.objects.filter(pk=self.schedule.pk).update(next_due_at=timezone.now())

    def over(self) -> bool:
        return self.schedule.runs.filter(status__in=ScheduleRun.ENDED).exists()

    def expire(self) -> None:
        """The leases of runs are short in these tests."""

    def met_no_room(self) -> bool:
        return False

    def ends_well(self) -> None:
        wait_until(self.over, what="the end of the run")
        run = self.schedule.runs.get()
        assert (run.status, run.problem, run.note) == ("succeeded", {}, "")
        assert list(run.files.values_list("name", "outcome")) == [("rows.csv", "loaded")]
        assert ImportJob.objects.get() == run.files.get().job
        replace(self.imports.imports[0], job=run.files.get().job).check()
        no_connection_is_left(self.imports.address)


def folder_of_schedule(files: dict[str, Path]) -> Path:
    """A folder that workers may read, with the file: put there once, since a new file counts as unfinished."""
    folder = Path(settings.IMPORT_FOLDERS[0]) / "points"
    folder.mkdir(parents=True)
    (folder / "rows.csv").write_bytes(files["rows"].read_bytes())
    return folder


def scheduled(address: Address, through: Address, files: dict[str, Path], folder: Path) -> Scheduled:
    """A schedule that is not due yet."""
    both = made(address, through, KINDS["alone"], files)
    preset = save("points", both.imports[0].prepared)
    connection = SourceConnection.objects.create(name="points", kind="folder", base=str(folder))
    request = ScheduleRequest("points", connection, "*.csv", trigger="every", every_minutes=60, backoff_seconds=1)
    return Scheduled(schedules.create(request, preset), both)


@dataclass
class Notified:
    """A notification that a webhook gets."""

    hook: Hook
    processes: int = 1

    def start(self) -> None:
        outbox.enqueue(Event.LATE, "schedule 1", "It was due at 2 o'clock.")

    def over(self) -> bool:
        return Notification.objects.get().status == Notification.Status.SENT

    def expire(self) -> None:
        """End the lease of its sender, which is two minutes."""
        past = timezone.now() - timedelta(seconds=1)
        Channel.objects.update(free_at=past)
        Notification.objects.filter(status=Notification.Status.WAITING).update(next_at=past)

    def met_no_room(self) -> bool:
        return False

    def ends_well(self) -> None:
        """It has come, at most twice, and then under the same id, by which a receiver tells that it is the same."""
        if not self.over():
            self.expire()
        wait_until(self.over, what="the notification")
        assert 1 <= len(self.hook.came) <= 2
        assert len({headers["X-Millrace-Id"] for headers, _ in self.hook.came}) == 1


def notified(hook: Hook) -> Notified:
    """A channel that gets all events."""
    values = {"url": hook.url, "private_allowed": True, "events": Event.values}
    channels.save(Channel(name="points", kind="webhook", **values), "sesame sesame sesame")
    return Notified(hook)

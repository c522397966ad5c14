"""Named points of the protocols at which a test can hold a process. Switched off, a point is one comparison.

Nothing in the product calls switch_on(): only the settings of the tests do, which no installation has. And
config/settings.py refuses to start if FAILPOINTS is set, the variable that those settings take.

A test arms a point with a named pipe in `FOLDER/POINT/`. The next process that reaches the point renames the pipe to
`FOLDER/PROCESS_ID`, which only one process can do, and waits there until the test opens the pipe. Until then the test
does what it tests: it kills the process or a server, cuts the connection, fills the disk, or freezes the process.
"""

import os
from pathlib import Path

# Each point, and what is true there. What follows it is the next point of its group.
POINTS = {
    "scan.recorded": "chunks are recorded, and no message for them is sent",
    "copy.written": "the plain copy is on the disk, under its temporary name",
    "copy.renamed": "the copy has its name, and is not recorded",
    "chunk.claimed": "chunks are claimed; there is no connection",
    "chunk.connected": "the connection is open, and its id is recorded",
    "chunk.sealed": "the connection has its seal, which is recorded; table and ledger are as planned",
    "chunk.checked": "the transaction of the chunk has not begun",
    "parents.inserted": "names of the chunk are added to the table of a lookup; the COMMIT is not sent",
    "chunk.entered": "the ledger row is inserted, and no row is sent",
    "chunk.sent": "LOAD DATA has ended; its counts are not checked",
    "chunk.counted": "the counts and the digest agree",
    "chunk.seen": "the ledger row was read again; the COMMIT is not sent",
    "chunk.committed": "the COMMIT is answered; the chunk is not recorded as loaded",
    "chunk.recorded": "the chunk is recorded as loaded",
    "rejects.complete": "the reject files are on the disk, under temporary names",
    "rejects.written": "the reject files are complete; the COMMIT is not sent",
    "group.entered": "the ledger rows of chunks that share a transaction are inserted",
    "group.seen": "their ledger rows were read again; the COMMIT is not sent",
    "group.committed": "the COMMIT is answered; none of them is recorded",
    "stage.claimed": "the staging table is announced; it does not exist",
    "stage.connected": "the connection is recorded; the staging table does not exist",
    "stage.created": "the staging table exists; that is not recorded",
    "merge.entered": "the ledger row of the finishing step is inserted; no row is merged",
    "merge.inserted": "the rows are merged; the COMMIT is not sent",
    "merge.committed": "the COMMIT is answered; the step is not recorded",
    "change.compared": "the rows are compared, and that is recorded; none is changed",
    "change.removed": "rows that the file lacks are deleted or marked; no other is changed",
    "change.updated": "the rows that differ are changed; no new one is inserted",
    "swap.counted": "the staging table is complete; it is not renamed",
    "swap.renamed": "the tables have changed their names; the ledger does not know",
    "swap.entered": "the ledger row is committed; the step is not recorded",
    "stage.finished": "the finishing step is recorded; the staging table is not dropped",
    "stage.dropped": "the staging table is dropped; that is not recorded",
    "keys.planned": "the keys to drop are recorded in the job, and nowhere else",
    "keys.noted": "the keys to drop are recorded on the target as well; all are there",
    "keys.dropped": "the keys are dropped; that is not recorded",
    "restore.begun": "all rows are in; no key is built",
    "restore.keys": "the keys are built; the foreign keys are not",
    "restore.built": "keys and foreign keys are built; the target's record is there",
    "restore.forgotten": "the target's record is deleted; the job does not know",
    "backup.claimed": "the table is claimed for a restore of its backup",
    "backup.connected": "the connection is recorded; the tables have their old names",
    "backup.renamed": "the tables have changed their names; that is not recorded",
    "undo.changed": "the old rows are back; the COMMIT is not sent",
    "undo.committed": "the COMMIT is answered; that is not recorded",
    "schedule.due": "a schedule is found due; nothing is recorded",
    "schedule.recorded": "its run is recorded; no message is sent",
    "schedule.fetched": "a file is fetched; it has no job",
    "schedule.created": "the file's job is made; it is not started",
    "schedule.started": "the job is started; the run is not released",
    "outbox.committed": "a change is committed; its messages are not published",
    "outbox.published": "the messages are published",
    "notice.claimed": "a notification is claimed; it is not sent",
    "notice.sent": "the notification is sent; that is not recorded",
}

_folder: Path | None = None


def switch_on(folder: Path) -> None:
    """Wait at the points that are armed in the folder, in this process and those that are forked from it."""
    global _folder
    _folder = folder


def reach(point: str) -> None:
    """Note that the process is at the point: it waits there if a test has armed the point."""
    if _folder is not None:
        _wait_if_armed(_folder, point)


def _wait_if_armed(folder: Path, point: str) -> None:
    taken = folder / str(os.getpid())
    for armed in sorted((folder / point).glob("*")):
        try:
            armed.rename(taken)
        except FileNotFoundError:
            continue  # Another process took it.
        taken.open("rb").close()  # Returns when the test opens the pipe for writing.
        return

"""What `millrace check` shows: the rows that could not be loaded, and the table that a file without one needs."""

from config.contracts.documents import CHECK
from importer.management.terminal.check_text import check_lines
from importer.management.terminal.follow.progress import Amounts, Progress
from importer.management.terminal.one_document import DocumentCommand
from importer.preparation.whole_file import AsRead, FileCheck, check_file, document_of


def run_check(read: AsRead, command: DocumentCommand, *, as_json: bool) -> int:
    """Check the file, show what is found, and return the exit code. Raises Problem for a file that cannot be read."""
    document = document_of(read.source.name, _followed(read, quiet=as_json))
    if as_json:
        command.give(CHECK, document)
    else:
        for line in check_lines(document):
            command.stdout.write(line)
    return int(document["exit_code"])


def _followed(read: AsRead, *, quiet: bool) -> FileCheck:
    """The check, with a progress line."""
    progress, name = Progress(quiet), read.source.name

    def on_rows(rows: int, done: int, size: int) -> None:
        progress.show_amounts(name, Amounts(done, size, rows), "checking")

    def on_bytes(done: int) -> None:
        progress.show_amounts(name, Amounts(done, read.source.size, 0), "unpacking")

    try:
        return check_file(read, on_rows, on_bytes)
    finally:
        progress.close()

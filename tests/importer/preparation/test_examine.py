"""The examination of a whole file before its import: counted once, from where it was, also while the file arrives."""

import io
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from dashboard.new_import.grid.cells import file_rows
from importer.engine.mapping.columns import FieldOverride
from importer.engine.mysql.connection import Address
from importer.models import Examination, SourceFile, Target
from importer.preparation import examination, examine
from importer.preparation.prepare import ImportRequest, PreparedImport, prepare
from importer.preparation.row_problems import MOST_KEPT, RowProblems
from importer.queue import Message
from importer.sources import parts, uploads
from importer.sources.several import as_one
from tests.targets import target_with

pytestmark = pytest.mark.usefixtures("no_workers")

MIB = 2**20
ROWS = 120_000
BAD = {5, 700, *range(60_000, 60_050), ROWS - 1}
TEXT = "n,word\n" + "".join(f"{'x' if n in BAD else n},{'a word ' * 8}{n}\n" for n in range(ROWS))


@pytest.fixture
def target(mariadb: Address, transactional_db, settings, tmp_path: Path) -> Target:
    settings.UPLOAD_DIR = tmp_path / "uploads"
    return target_with(mariadb, "CREATE TABLE t (n INT NOT NULL, word VARCHAR(90) NOT NULL)")


def begun(target: Target, size: int) -> tuple[SourceFile, PreparedImport]:
    """An upload of which this many bytes have arrived, and the examination of it."""
    source = uploads.begin_upload("t.csv", len(TEXT), None)
    send(source, size)
    prepared = prepare(source, target, "t")
    examination.begin(prepared)
    return source, prepared


def send(source: SourceFile, size: int) -> None:
    piece = TEXT.encode()[source.received : source.received + size]
    if parts.append(source, source.received, io.BytesIO(piece), len(piece)) == source.size:
        uploads.finish(source)


def examined(source: SourceFile) -> int:
    """Examine the file as far as possible. Returns the number of tasks that it took."""
    messages = [Message("examine", source.pk)]

    def note(more: Iterable[Message]) -> None:
        messages.extend(more)

    for message in messages:
        examine.examine(message.id, note, lambda: False)
    return len(messages)


def found(prepared: PreparedImport) -> RowProblems:
    problems = examination.findings(prepared)
    assert problems is not None
    return problems


def test_all_rows_with_problems_are_counted_while_the_file_arrives(target: Target, monkeypatch):
    monkeypatch.setattr(examine, "TASK_SECONDS", float("inf"))
    source, prepared = begun(target, 3 * MIB)
    examined(source)
    first = found(prepared)
    assert (first.whole, first.count) == (False, 2)
    assert 20_000 < first.scanned < ROWS
    send(source, 3 * MIB)
    examined(source)
    assert found(prepared).count == 52
    send(source, len(TEXT))
    assert examined(source) == 1
    assert (found(prepared).whole, found(prepared).scanned, found(prepared).count) == (True, ROWS, len(BAD))
    lines = [each.line for each in found(prepared).rows]
    assert lines == [n + 2 for n in sorted(BAD)][:MOST_KEPT]
    assert {(each.field, each.values[0]) for each in found(prepared).rows} == {(0, "x")}


def test_a_task_ends_after_its_time_and_the_next_one_goes_on(target: Target, monkeypatch):
    source, prepared = begun(target, len(TEXT))
    monkeypatch.setattr(examine, "TASK_SECONDS", 0)
    assert examined(source) > 3
    assert (found(prepared).scanned, found(prepared).count) == (ROWS, len(BAD))


def test_after_a_killed_worker_another_goes_on_and_counts_nothing_twice(target: Target, monkeypatch):
    source, prepared = begun(target, len(TEXT))
    monkeypatch.setattr(examine, "TASK_SECONDS", 0)
    examine.examine(source.pk, lambda _: None, lambda: False)
    assert 0 < found(prepared).scanned < ROWS
    held = Examination.objects.filter(source=source)
    held.update(lease=timezone.now() + timedelta(seconds=60))
    assert examined(source) == 1
    assert found(prepared).scanned < ROWS
    held.update(lease=timezone.now())
    examined(source)
    assert (found(prepared).scanned, found(prepared).count) == (ROWS, len(BAD))


def test_another_mapping_begins_it_again_and_the_old_worker_records_nothing(target: Target):
    source, prepared = begun(target, len(TEXT))
    old = Examination.objects.select_related("source").get()
    swapped = [FieldOverride("n", "word"), FieldOverride("word", "n")]
    other = prepare(source, target, "t", ImportRequest(overrides=swapped))
    examination.begin(other)
    assert not examine._Examiner(old).record(done=True)
    assert examination.findings(prepared) is None
    examined(source)
    assert found(other).count == ROWS
    examination.stop(source)
    assert examination.findings(other) is None


def test_of_a_file_that_cannot_be_read_to_its_end_nobody_says_that_all_is_examined(target: Target, monkeypatch):
    source, prepared = begun(target, len(TEXT))
    monkeypatch.setattr(examine, "TASK_SECONDS", 0)
    examine.examine(source.pk, lambda _: None, lambda: False)
    source.file.unlink()
    assert examined(source) == 1
    assert Examination.objects.get().done
    assert (found(prepared).whole, 0 < found(prepared).scanned < ROWS) == (False, True)


def test_several_files_are_examined_to_the_end_of_the_last(target: Target, tmp_path: Path):
    files = {"a.csv": "n,word\n1,one\nx,two\n", "b.csv": "n,word\n3,three\n\ny,four", "c.csv": "n,word\nz,five\n"}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    prepared = prepare(as_one([uploads.register(tmp_path / name) for name in files]), target, "t")
    examination.begin(prepared)
    examined(prepared.source)
    problems = found(prepared)
    assert (problems.whole, problems.scanned, problems.count) == (True, 5, 3)
    assert [(each.file, each.line) for each in problems.rows] == [("", 3), ("b.csv", 4), ("c.csv", 2)]
    rows = file_rows(prepared.profile, problems, only_problems=False)
    assert [(each.file, each.line, bool(each.problem)) for each in rows] == [
        *(("", 2, False), ("", 3, True), ("b.csv", 4, True), ("c.csv", 2, True))
    ]

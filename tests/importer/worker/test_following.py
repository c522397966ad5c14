"""Imports that begin while their file is still being uploaded: they follow it, and keep every promise of others."""

import io
import os
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from importer.engine.mysql.connection import Address
from importer.engine.plan.options import Options
from importer.engine.reading.questions import NeedsAnswer
from importer.engine.source.arriving import NotArrived
from importer.history.collect import ChunkTotals, facts_of
from importer.jobs import uploading
from importer.jobs.actions import commands
from importer.models import ImportJob, SourceFile, Target
from importer.preparation import presets
from importer.preparation.prepare import ImportRequest, prepare
from importer.sources import parts, uploads
from importer.worker import sweep
from tests.dashboard.job_data import make_user
from tests.engine.loads import rows_of, run_sql
from tests.importer.steps import advance, import_of, run
from tests.targets import target_with

pytestmark = pytest.mark.usefixtures("no_workers", "plain_dir")

Status = ImportJob.Status
MIB = 2**20
ROWS = 4_000  # few and long: the bytes matter
HEAD, TABLE = "n,word\n", "CREATE TABLE t (n INT PRIMARY KEY, word VARCHAR(900))"
TEXT = HEAD + "".join(f"{n},{'a quoted word ' * 57}{n}\n" for n in range(ROWS))


@pytest.fixture
def target(mariadb: Address, transactional_db, settings, tmp_path: Path) -> Target:
    settings.UPLOAD_DIR = tmp_path / "uploads"
    return target_with(mariadb, TABLE)


def begun(content: str, first: int = MIB) -> tuple[SourceFile, Callable[[int], None]]:
    """An upload of which the first bytes have arrived, and a function that sends more."""
    data = content.encode()
    source = uploads.begin_upload("t.csv", len(data), None)

    def send(size: int) -> None:
        source.refresh_from_db()
        piece = data[source.received : source.received + size]
        if parts.append(source, source.received, io.BytesIO(piece), len(piece)) == len(data):
            uploads.finish(source)

    send(first)
    return source, send


def started(source: SourceFile, target: Target, *, known: dict[str, int] | None = None, **options) -> ImportJob:
    return run(import_of(source, target, options=Options(**options), known_format=known or {}))


def by_preset(target: Target, first: str, second: str) -> ImportJob:
    """The import of an upload that loads as it arrives, with a preset of another file, after its last byte."""
    source, send = begun(first)
    send(len(first))
    preset = presets.save("nightly", prepare(source, target, "t", ImportRequest(accept_guesses=True)))
    source, send = begun(second)
    job = run(commands.create(presets.prepare_with(preset, source, target, "t")))
    send(len(second))
    return run(job)


def in_table(target: Target) -> int:
    return int(rows_of(target.address, "SELECT COUNT(*) FROM t")[0][0])


def test_rows_are_committed_before_the_last_byte_has_come(target: Target):
    source, send = begun(TEXT)
    job = started(source, target)
    assert (job.status, job.problem, job.scan_finished) == (Status.LOADING, {}, False)
    before = in_table(target)
    assert 0 < before == job.loaded_rows < ROWS
    send(MIB)
    job = run(job)
    assert before < in_table(target) < ROWS
    send(len(TEXT))
    job = run(job)
    assert (job.status, job.balanced, job.end_unread) == (Status.SUCCEEDED, True, False)
    assert job.loaded_rows == in_table(target) == ROWS
    assert facts_of(job, ChunkTotals())["followed_upload"] is True
    assert job.skipped_lines.as_json()["header"]["count"] == 1
    # Together the chunks are the file, each byte once.
    ends = [(each.offset, each.offset + each.length) for each in job.chunks.order_by("number")]
    assert [begin for begin, _ in ends] == [len(HEAD), *(end for _, end in ends[:-1])]
    assert ends[-1][1] == len(TEXT)


def test_a_part_wakes_the_scan_only_when_a_chunk_may_be_complete(target: Target):
    source, send = begun(TEXT)
    job = started(source, target)
    send(10)
    advance(job)
    job.refresh_from_db()
    assert job.step == ""
    assert source.received < job.awaits_bytes
    send(job.awaits_bytes - source.received)
    advance(job)
    job.refresh_from_db()
    assert job.step == ImportJob.Step.SCAN_QUEUED


@pytest.mark.parametrize("mode", ["append", "atomic", "replace"])
def test_an_upload_that_stops_fails_the_import_and_a_retry_goes_on_with_it(target: Target, mode: str):
    source, send = begun(TEXT)
    job = started(source, target, mode=mode)
    shown = in_table(target)
    _age(source, uploading.STOPPED_AFTER)
    job = run(job)
    assert job.status == Status.FAILED
    assert job.problem["what"].startswith("The upload has stopped: for an hour nothing has come. 1")
    assert in_table(target) == shown == (job.loaded_rows if mode == "append" else 0)
    send(MIB)
    commands.retry(job.pk)
    send(len(TEXT))
    job = run(job)
    assert (job.status, job.balanced, in_table(target)) == (Status.SUCCEEDED, True, ROWS)


def test_an_upload_that_is_removed_or_abandoned_ends_the_import_with_what_is_in(target: Target):
    for end in (uploads.remove, _abandon):
        source, _send = begun(TEXT)
        job = started(source, target)
        loaded = in_table(target)
        assert loaded
        end(source)
        job = run(job)
        assert (job.status, job.problem["where"]) == (Status.FAILED, "t.csv")
        assert job.problem["what"].startswith("The upload ended before the file was complete: 1")
        assert job.loaded_rows == in_table(target) == loaded
        assert not source.file.exists()
        assert not commands.is_kept(job)
        with pytest.raises(uploads.UploadGone):
            parts.open_part(source, source.received, 1)
        run_sql(target.address, "TRUNCATE t")


class TestEndOfTheFile:
    """What a reading of the whole file would have asked is asked when the end has arrived, before it is loaded."""

    FOOTER = TEXT + "Total," + str(ROWS) + "\n"

    def test_a_file_that_is_there_asks_before_anything(self, target: Target):
        source, send = begun(self.FOOTER)
        send(len(self.FOOTER))
        with pytest.raises(NeedsAnswer):
            prepare(source, target, "t")

    @pytest.mark.parametrize(("answer", "status"), [("footer", Status.SUCCEEDED), ("rows", Status.FAILED)])
    def test_a_footer_is_asked_about_and_a_retry_answers(
        self, target: Target, answer: str, status: Status, client: Client
    ):
        source, send = begun(self.FOOTER)
        job = started(source, target)
        assert in_table(target)
        send(len(self.FOOTER))
        job = run(job)
        assert (job.status, job.problem["kind"]) == (Status.FAILED, "EndNeedsAnswer")
        assert "may be a footer: Total,4000." in job.problem["what"]
        loaded = in_table(target)
        assert loaded == job.loaded_rows < ROWS
        # A retry without an answer asks again.
        commands.retry(job.pk)
        assert run(job).problem["kind"] == "EndNeedsAnswer"
        client.force_login(make_user("ann"))
        assert f'name="end" value="{answer}"' in client.get(reverse("job", args=[job.pk])).content.decode()
        client.post(reverse("job_retry", args=[job.pk]), {"end": answer})
        job = run(job)
        assert (job.status, job.problem.get("kind")) == (status, None if answer == "footer" else "RowsRefused")
        if answer == "footer":
            assert (in_table(target), job.skipped_lines.as_json()["footer"]["count"]) == (ROWS, 1)

    @pytest.mark.parametrize(("first", "second"), [("", "Total,4000\n"), ("Total,4000\n", "")])
    def test_a_presets_file_need_not_end_as_this_one(self, target: Target, first: str, second: str):
        """A row would be left out as a footer in silence, or a footer loaded as a row."""
        job = by_preset(target, TEXT + first, TEXT + second)
        assert job.problem["kind"] == "EndNeedsAnswer"
        commands.retry(job.pk, end_is_footer=bool(second))
        job = run(job)
        assert (job.status, in_table(target)) == (Status.SUCCEEDED, ROWS)

    @pytest.mark.parametrize("end", ["", "Total,4000\n"])
    def test_a_presets_file_that_ends_as_this_one(self, target: Target, end: str):
        job = by_preset(target, TEXT + end, TEXT + end)
        assert (job.status, in_table(target)) == (Status.SUCCEEDED, ROWS)
        assert "skip_footer" in job.file_dialect.sampled

    def test_blank_lines_at_the_end_are_counted_as_ever(self, target: Target):
        blank = "\n" * 200_000
        source, send = begun(TEXT + blank)
        job = started(source, target)
        send(len(TEXT) - MIB + 150_000)
        job = run(job)
        send(len(TEXT + blank))
        job = run(job)
        assert (job.status, job.balanced, in_table(target)) == (Status.SUCCEEDED, True, ROWS)
        assert job.skipped_lines.as_json()["blank"]["count"] == 200_000

    def test_a_stated_footer_is_waited_for(self, target: Target):
        source, send = begun(self.FOOTER)
        job = started(source, target, known={"skip_footer": 1})
        assert (job.status, job.chunks.count(), in_table(target)) == (Status.LOADING, 0, 0)
        send(len(self.FOOTER))
        job = run(job)
        assert (job.status, in_table(target)) == (Status.SUCCEEDED, ROWS)


def test_a_new_table_gets_the_types_of_the_whole_file(target: Target):
    run_sql(target.address, "DROP TABLE t")
    source, send = begun(TEXT + "99999999999,last\n")
    job = started(source, target, mode="create")
    assert (job.status, job.staging) == (Status.LOADING, "")
    send(len(TEXT) + MIB)
    job = run(job)
    assert (job.status, job.balanced, in_table(target)) == (Status.SUCCEEDED, True, ROWS + 1)


def test_a_bad_row_that_comes_late_fails_the_import_with_its_line(target: Target):
    source, send = begun(TEXT + "x,late\n")
    job = started(source, target)
    send(len(TEXT) + MIB)
    job = run(job)
    assert (job.status, job.problem["kind"]) == (Status.FAILED, "RowsRefused")
    assert job.problem["rows"][0]["line"] == ROWS + 2
    assert in_table(target) == job.loaded_rows < ROWS


def test_before_the_sample_has_arrived_nothing_is_planned(target: Target):
    source, _send = begun(TEXT, first=MIB - 1)
    with pytest.raises(NotArrived, match=r"1,048,575 of 3,\d+,\d+ bytes have arrived, and 1,048,576 are needed"):
        prepare(source, target, "t")


def _age(source: SourceFile, by: timedelta) -> None:
    """Let the upload's last byte have come so long ago."""
    then = timezone.now() - by - timedelta(seconds=1)
    SourceFile.objects.filter(pk=source.pk).update(touched_at=then)
    os.utime(source.file, (then.timestamp(), then.timestamp()))


def _abandon(source: SourceFile) -> None:
    _age(source, uploads.ABANDONED_AFTER)
    sweep.sweep_jobs(lambda _job_id, _later: None)

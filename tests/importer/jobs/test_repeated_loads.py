"""A repeated load: the same content into the same table is noticed, and refused where it is to be loaded once."""

import shutil
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from importer.engine.errors import LoadedBefore, LoadedInPart
from importer.engine.plan.options import Options
from importer.jobs import report
from importer.jobs.steps.table_backup import restore_backup
from importer.models import ImportJob, SourceFile, Target
from importer.preparation.prepare import prepare
from importer.preparation.previous_imports import earlier_load
from importer.sources import uploads
from importer.sources.several import as_one
from tests.importer.steps import import_of, run
from tests.importer.word_file import word_file
from tests.targets import on_one_server

pytestmark = [pytest.mark.usefixtures("no_workers"), on_one_server]
TABLES = ("CREATE TABLE t (n INT, word VARCHAR(20))",)


@pytest.fixture
def file(tmp_path: Path) -> SourceFile:
    return uploads.register(word_file(tmp_path / "words.csv", range(10)))


@pytest.fixture
def copied(file: SourceFile) -> SourceFile:
    """The same content in another file, under another name."""
    return uploads.register(Path(shutil.copy(file.path, file.file.with_name("again.csv"))))


def created(target: Target, source: SourceFile, mode: str = "append", once: bool = False) -> ImportJob:
    options = Options(mode=mode, once=once)
    return import_of(source, target, options=options, user=User.objects.first())


def found(target: Target, source: SourceFile, mode: str = "append") -> int | None:
    earlier = earlier_load(source, target, target.database, "t", mode)
    return earlier and earlier.job


def test_plan_and_report_name_the_import_that_has_loaded_the_content(target, file, copied):
    ann = User.objects.create_superuser("ann")
    first = run(created(target, file))
    plan = prepare(copied, target, "t").plan
    assert plan.loaded_before is not None
    assert (plan.loaded_before.job, plan.loaded_before.rows, plan.loaded_before.by) == (first.pk, 10, ann.username)
    assert f"Import {first.pk} has loaded this content already (10 rows, 20" in plan.reasons[0].choice
    second = run(created(target, copied))
    assert report.report(first)["loaded_before"] is None
    assert report.report(second)["loaded_before"]["job"] == first.pk
    assert second.status == ImportJob.Status.SUCCEEDED
    assert found(target, file, "create") is None


def test_a_content_that_is_loaded_once_is_refused_and_another_one_is_not(target, file, copied, tmp_path):
    first = run(created(target, file, once=True))
    with pytest.raises(LoadedBefore, match=f"Import {first.pk} has loaded .* --no-once") as refused:
        created(target, copied, once=True)
    assert refused.value.earlier.job == first.pk
    other = uploads.register(word_file(tmp_path / "other.csv", range(20, 30)))
    assert run(created(target, other, once=True)).status == ImportJob.Status.SUCCEEDED
    with pytest.raises(LoadedBefore):  # Together with a file that is new.
        created(target, as_one([copied, uploads.register(word_file(tmp_path / "new.csv", range(5)))]), once=True)


def test_an_import_under_way_is_waited_for_and_one_that_left_rows_is_to_be_retried(target, file, copied):
    first = created(target, file)
    with pytest.raises(LoadedInPart, match=f"Import {first.pk} is loading the same content") as refused:
        created(target, copied, once=True)
    assert refused.value.retryable
    ImportJob.objects.filter(pk=first.pk).update(status="failed")
    ImportJob.objects.filter(pk=created(target, copied, once=True).pk).delete()  # It left no row.
    ImportJob.objects.filter(pk=first.pk).update(loaded_rows=4)
    with pytest.raises(LoadedInPart, match=f"has failed, and 4 of its rows .* job retry {first.pk}") as refused:
        created(target, copied, once=True)
    assert not refused.value.retryable


def test_a_content_that_still_arrives_cannot_be_loaded_once(target, file):
    SourceFile.objects.filter(pk=file.pk).update(fingerprint="")
    with pytest.raises(LoadedInPart, match="still arriving"):
        created(target, SourceFile.objects.get(pk=file.pk), once=True)


@pytest.mark.parametrize(
    "ended",
    [{"status": "cancelled"}, {"status": "failed"}, {"balanced": False}, {"restored_at": timezone.now()}],
    ids=str,
)
def test_an_import_that_is_not_in_the_table_does_not_count(target, file, ended):
    job = run(created(target, file))
    assert found(target, file) == job.pk
    ImportJob.objects.filter(pk=job.pk).update(**ended)
    assert found(target, file) is None


def test_a_replaced_table_takes_the_earlier_loads_with_it_until_it_is_restored(target, file, copied, tmp_path):
    first = run(created(target, file))
    other = uploads.register(word_file(tmp_path / "other.csv", range(3)))
    replacing = run(created(target, other, "replace"))
    assert (found(target, copied), found(target, other)) == (None, replacing.pk)
    between = run(created(target, uploads.register(word_file(tmp_path / "between.csv", range(4)))))
    assert found(target, between.source) == between.pk
    ImportJob.objects.filter(pk=between.pk).delete()  # With it, the old table would not be restored.
    restore_backup(replacing.pk)
    run(replacing)
    assert (found(target, copied), found(target, other)) == (first.pk, None)


def test_rows_that_were_added_between_a_replacement_and_its_restore_are_gone(target, file, tmp_path):
    replacing = run(created(target, uploads.register(word_file(tmp_path / "other.csv", range(3))), "replace"))
    run(created(target, file))
    ImportJob.objects.filter(pk=replacing.pk).update(restored_at=timezone.now())
    assert found(target, file) is None

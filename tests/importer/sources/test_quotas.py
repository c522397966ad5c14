"""Quotas of files and bytes: everything that is kept for a person counts, and nothing else."""

import io
from pathlib import Path

import pytest

from importer.models import SourceFile
from importer.sources import parts, quotas, uploads
from importer.sources.quotas import QuotaExceeded
from tests.people import admin, operator

pytestmark = pytest.mark.django_db


def test_bytes_over_the_quota_are_refused_with_what_counts_and_what_helps(settings, ann, upload_dir):
    settings.UPLOAD_QUOTA_BYTES = 10 * 2**20
    uploads.begin_upload("a.csv", 8 * 2**20, ann)
    with pytest.raises(QuotaExceeded) as caught:
        uploads.begin_upload("b.csv", 3 * 2**20, ann)
    said = str(caught.value)
    for part in (
        "b.csv",
        "ann keeps 8 MiB in 1 file here",
        "3 MiB more",
        "the 10 MiB",
        "Delete files",
        "UPLOAD_QUOTA_BYTES",
    ):
        assert part in said, said
    uploads.begin_upload("c.csv", 2 * 2**20, ann)
    assert len(list(upload_dir.iterdir())) == SourceFile.objects.count() == 2


def test_files_over_the_quota_are_refused_and_a_removed_one_makes_room(settings, ann):
    settings.UPLOAD_QUOTA_FILES = 2
    first = uploads.begin_upload("a.csv", 1, ann)
    uploads.begin_upload("b.csv", 1, ann)
    with pytest.raises(QuotaExceeded, match=r"in 2 files here.*may keep 2 files"):
        uploads.begin_upload("c.csv", 1, ann)
    uploads.remove(first)
    uploads.begin_upload("c.csv", 1, ann)


def test_the_quota_of_one_person_is_not_that_of_another(settings, ann):
    settings.UPLOAD_QUOTA_FILES = 1
    uploads.begin_upload("a.csv", 1, ann)
    uploads.begin_upload("a.csv", 1, operator("ben"))
    uploads.begin_upload("a.csv", 1, None)
    uploads.begin_upload("a.csv", 1, None)


def test_an_admin_has_the_same_quota(settings):
    settings.UPLOAD_QUOTA_FILES = 1
    root = admin("root")
    uploads.begin_upload("a.csv", 1, root)
    with pytest.raises(QuotaExceeded):
        uploads.begin_upload("b.csv", 1, root)


def test_a_quota_of_0_is_none(settings, ann):
    settings.UPLOAD_QUOTA_FILES = settings.UPLOAD_QUOTA_BYTES = 0
    uploads.begin_upload("a.csv", 1, ann)
    uploads.begin_upload("b.csv", 1, ann)
    assert not quotas.kept_for(ann).is_much


def test_a_file_of_unknown_size_grows_up_to_the_quota(settings, ann):
    settings.UPLOAD_QUOTA_BYTES = 10
    source = uploads.begin_upload("a.csv", 4, ann)
    uploads.change_size(source, 10)
    with pytest.raises(QuotaExceeded, match="10 bytes in 1 file here"):
        uploads.change_size(source, 11)


def test_files_in_their_own_place_do_not_count(tmp_path: Path, ann):
    (tmp_path / "a.csv").write_bytes(b"abc")
    source = uploads.register(tmp_path / "a.csv")
    SourceFile.objects.filter(pk=source.pk).update(uploaded_by=ann)
    assert quotas.kept_for(ann) == quotas.Kept(0, 0)


def test_what_is_kept_counts_from_its_announcement_until_it_is_removed(settings, ann):
    settings.UPLOAD_QUOTA_BYTES = 12
    source = uploads.begin_upload("a.csv", 6, ann)
    assert quotas.kept_for(ann) == quotas.Kept(1, 6)
    assert not quotas.kept_for(ann).is_much
    parts.append(source, 0, io.BytesIO(b"abcdef"), 6)
    uploads.finish(source)
    other = uploads.begin_upload("b.csv", 1, ann)
    assert quotas.kept_for(ann) == quotas.Kept(2, 7)
    assert quotas.kept_for(ann).is_much
    uploads.remove(other)
    assert quotas.kept_for(ann) == quotas.Kept(1, 6)

"""Files that take very much room once they are unpacked: they are refused before an import is planned."""

import gzip
import resource
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from importer.engine.errors import DiskFull, SourceProblem
from importer.engine.source.compression import unpacking_limits
from importer.engine.source.profile.profile import profile_file
from importer.engine.units import MIB
from tests.engine.packing import zipped, zstd_packed
from tests.importer.formats.workbooks import share_texts, write_xlsx


def packed_workbook(path: Path) -> None:
    path.write_bytes(zstd_packed(zipped(("xl/workbook.xml", b"<w/>")) + bytes(4 * MIB)))


def packed_dump(path: Path) -> None:
    path.write_bytes(gzip.compress(b"INSERT INTO t (a) VALUES (1);" + b" " * 4 * MIB))


def packed_rows(path: Path) -> None:
    """The columns are known before the rows are unpacked."""
    path.write_bytes(gzip.compress(b"a   b\n" + b"1   2\n" * 1000 + b"\n" * 4 * MIB))


def shared_texts(path: Path, texts: str = "<si/>" * MIB) -> None:
    share_texts(write_xlsx(path, {"S": [("a", "b"), ("x", 2)]}), texts)


@pytest.mark.parametrize("write", [packed_workbook, packed_dump, packed_rows, shared_texts])
def test_the_limits_of_the_settings_hold(tmp_path: Path, settings, write: Callable[[Path], None]):
    settings.UNPACKED_MAX_BYTES = MIB
    write(tmp_path / "file.xlsx")
    known = {"widths": "4,4"} if write is packed_rows else {}
    with pytest.raises(SourceProblem, match="unpacks to more than 1,048,576 bytes"):
        profile_file(tmp_path / "file.xlsx", **known)


def few_texts(path: Path) -> None:
    shared_texts(path, "<si><t>text</t></si>" * 2000)


def packed(path: Path) -> None:
    few_texts(path)
    path.write_bytes(gzip.compress(path.read_bytes()))


def rows(path: Path) -> None:
    path.write_text(f"INSERT INTO t (a) VALUES {'(1234567890),' * 1000}(1);")


@pytest.mark.parametrize("write", [few_texts, packed, rows])
def test_the_room_for_temporary_files_is_looked_at_first(
    tmp_path: Path, settings, monkeypatch: pytest.MonkeyPatch, write: Callable[[Path], None]
):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    settings.VAR_DIR = tmp_path / "not yet"
    settings.KEEP_FREE_BYTES = 2**60
    path = tmp_path / "file.xlsx"
    write(path)
    with pytest.raises(
        DiskFull, match=rf"disk of {tmp_path} is full.* has [\d,]+ bytes free, .* [\d,]+ needed"
    ) as caught:
        profile_file(path)
    assert caught.value.where == "file.xlsx"
    assert "TMPDIR" in caught.value.advice
    assert "KEEP_FREE_BYTES" in caught.value.what


def test_on_a_disk_of_their_own_temporary_files_leave_no_room(monkeypatch: pytest.MonkeyPatch, settings):
    monkeypatch.setattr(tempfile, "tempdir", "/dev/shm")
    settings.KEEP_FREE_BYTES = 2**60
    assert unpacking_limits().kept_free == 0


@pytest.mark.parametrize("write", [few_texts, packed, rows])
def test_a_full_disk_is_reported(tmp_path: Path, write: Callable[[Path], None]):
    """The kernel lets no file of this process grow beyond 2,000 bytes."""
    path = tmp_path / "file.xlsx"
    write(path)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2000, before[1]))
    try:
        with pytest.raises(DiskFull, match="is full") as caught:
            profile_file(path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert "TMPDIR" in caught.value.advice

"""Packed files: unpacked completely, in constant memory; files that are cut or damaged are refused."""

import gzip
import itertools
import os
import random
import tracemalloc
import zipfile
from collections import deque
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from importer.engine.errors import SourceProblem
from importer.engine.source.archives import detect_packing, unpacked
from importer.engine.source.compression import PIECE_BYTES, DecompressionLimits, Piece, zstd
from tests.engine.packing import PACKED, stating, zipped

MIB = 2**20
# Packs to about half its size.
TEXT = b"".join(b"%d,%x\n" % (n, random.Random(n).getrandbits(64)) for n in range(40_000))


@pytest.fixture
def opened(tmp_path) -> Iterator[Callable[[bytes], int]]:
    """A function that writes a file and gives its descriptor."""
    descriptors = []

    def write(content: bytes) -> int:
        path = tmp_path / str(len(descriptors))
        path.write_bytes(content)
        descriptors.append(os.open(path, os.O_RDONLY))
        return descriptors[-1]

    yield write
    for descriptor in descriptors:
        os.close(descriptor)


def pieces(fd: int, limits: DecompressionLimits | None = None) -> Iterator[Piece]:
    return unpacked(fd, detect_packing(os.pread(fd, 6, 0)), limits or DecompressionLimits())


def whole(fd: int, limits: DecompressionLimits | None = None) -> bytes:
    return b"".join(piece.data for piece in pieces(fd, limits))


def refusal(fd: int, limits: DecompressionLimits | None = None) -> SourceProblem:
    with pytest.raises(SourceProblem) as caught:
        deque(pieces(fd, limits), maxlen=0)
    assert caught.value.advice
    return caught.value


class TestWhatComesOut:
    @pytest.mark.parametrize("name", PACKED)
    def test_unpacked_bytes_are_what_was_packed(self, opened, name):
        packed = PACKED[name](TEXT)
        assert detect_packing(packed) == name
        found = list(pieces(opened(packed)))
        assert b"".join(piece.data for piece in found) == TEXT
        assert max(len(piece.data) for piece in found) <= PIECE_BYTES
        used = [piece.used for piece in found]
        assert used == sorted(used)
        assert used[0] < len(packed)
        assert used[-1] <= len(packed)

    @pytest.mark.parametrize("pack", [gzip.compress, zstd.compress])
    def test_members_on_end_are_one_file(self, opened, pack):
        parts = [TEXT, b"", b"a,b\n", TEXT[:100_000]]
        assert whole(opened(b"".join(map(pack, parts)))) == b"".join(parts)

    def test_members_that_meet_anywhere_in_a_block(self, opened):
        for size in range(65_536 - 60, 65_536 + 4):
            stored = gzip.compress(random.Random(1).randbytes(size), 0)
            assert len(whole(opened(stored + gzip.compress(b"x")))) == size + 1

    def test_a_frame_to_be_skipped(self, opened):
        assert whole(opened(b"\x50\x2a\x4d\x18\x04\0\0\0abcd" + zstd.compress(b"x"))) == b"x"

    def test_zeros_after_the_last_member_are_padding(self, opened):
        assert whole(opened(gzip.compress(TEXT) + bytes(100_000))) == TEXT

    def test_a_stored_file_folders_and_what_macos_adds(self, opened):
        archive = zipped(("f/", b""), ("f/a.csv", TEXT), ("__MACOSX/f/._a.csv", b"x"), method=zipfile.ZIP_STORED)
        assert whole(opened(archive)) == TEXT

    def test_other_files_are_not_packed(self):
        assert (
            detect_packing(b"a,b\n")
            == detect_packing(b"")
            == detect_packing(b"PK")
            == detect_packing(b"\x1f\x8b")
            == ""
        )


class TestBroken:
    @pytest.mark.parametrize("pack", [gzip.compress, zstd.compress])
    @pytest.mark.parametrize("cut", [1, 5, 1000])
    def test_a_cut_file_names_the_byte(self, opened, pack, cut):
        packed = pack(TEXT)[:-cut]
        assert f"ends at byte {len(packed):,}, in the middle" in refusal(opened(packed)).what

    def test_a_file_cut_in_its_second_member_names_the_byte(self, opened):
        packed = gzip.compress(TEXT) + gzip.compress(b"x")[:5]
        assert f"ends at byte {len(packed):,}" in refusal(opened(packed)).what

    def test_a_cut_archive_is_refused(self, opened):
        assert "is cut" in refusal(opened(zipped(("a.csv", TEXT))[:-30])).what

    @pytest.mark.parametrize("name", PACKED)
    def test_a_damaged_byte_is_never_read_over(self, opened, name):
        packed = bytearray(PACKED[name](TEXT))
        packed[len(packed) // 2] ^= 0x55
        problem = refusal(opened(bytes(packed)))
        assert "damaged at about byte" in problem.what

    def test_a_wrong_checksum_is_refused(self, opened):
        packed = bytearray(gzip.compress(TEXT))
        packed[-8] ^= 1
        assert "damaged" in refusal(opened(bytes(packed))).what

    @pytest.mark.parametrize("pack", [gzip.compress, zstd.compress])
    @pytest.mark.parametrize("garbage", [b"x", b"a,b\n1,2\n"])
    def test_other_data_after_the_compressed_data_is_refused(self, opened, pack, garbage):
        packed = pack(TEXT)
        assert f"from byte {len(packed):,} on" in refusal(opened(packed + garbage)).what


class TestArchives:
    def test_an_archive_of_two_files_is_refused(self, opened):
        assert "holds 2 files: a.csv, b.csv" in refusal(opened(zipped(("a.csv", b"x"), ("b.csv", b"y")))).what

    def test_an_archive_without_a_file_is_refused(self, opened):
        assert "holds no file" in refusal(opened(zipped())).what
        assert "holds no file" in refusal(opened(zipped(("folder/", b"")))).what

    def test_an_encrypted_file_in_an_archive_is_refused(self, opened):
        archive = bytearray(zipped(("a.csv", b"x,y\n")))
        for header, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
            archive[archive.index(header) + flags] |= 1
        assert "a.csv in the ZIP archive is encrypted" in refusal(opened(bytes(archive))).what

    def test_an_archive_packed_by_a_rare_method_is_refused(self, opened):
        archive = zipped(("a.csv", TEXT), method=zipfile.ZIP_LZMA)
        assert "rare method, number 14" in refusal(opened(archive)).what

    def test_a_name_that_is_a_path_is_only_a_name(self, opened, tmp_path):
        assert whole(opened(zipped(("../../evil.csv", TEXT)))) == TEXT
        assert not list(tmp_path.parent.rglob("evil.csv"))

    @pytest.mark.thorough
    @pytest.mark.parametrize("states", [None, 1], ids=["truth", "lie"])
    @pytest.mark.parametrize("count", [1001, 30_000, 70_000])  # the last needs ZIP64
    def test_many_entries_are_not_even_listed(self, opened, count, states):
        archive = of_empty_files(count)
        fd = opened(archive if states is None else stating(archive, states))
        tracemalloc.start()
        assert "holds more than 1,000 files" in refusal(fd).what
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert most < 2 * MIB

    def test_as_many_entries_as_the_limit_are_listed(self, opened):
        assert "holds 1,000 files" in refusal(opened(zipped(*((f"{n}", b"") for n in range(1000))))).what


class TestLimits:
    @pytest.mark.thorough
    @pytest.mark.parametrize("name", PACKED)
    def test_a_bomb_is_refused_at_once_in_little_memory(self, tmp_path, name):
        """10 MB (Zstandard: less) that would unpack to 10 GB of zeros."""
        path = tmp_path / "bomb"
        write_bomb(path, name)
        fd = os.open(path, os.O_RDONLY)
        sizes: list[int] = []
        tracemalloc.start()
        with pytest.raises(SourceProblem, match="more than 200 times its size") as caught:
            sizes.extend(len(piece.data) for piece in pieces(fd))
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        os.close(fd)
        assert "UNPACKED_MAX_RATIO" in caught.value.advice
        assert most < 16 * MIB
        assert 0 < sum(sizes) <= DecompressionLimits().small

    def test_small_files_may_pack_well(self, opened):
        content = b"0,0\n" * (10 * MIB)
        assert len(content) > 200 * len(gzip.compress(content))
        assert whole(opened(gzip.compress(content))) == content

    def test_more_than_the_largest_unpacked_size_is_refused(self, opened):
        problem = refusal(opened(gzip.compress(TEXT)), DecompressionLimits(largest=len(TEXT) - 1))
        assert "UNPACKED_MAX_BYTES" in problem.advice
        assert whole(opened(gzip.compress(TEXT)), DecompressionLimits(largest=len(TEXT))) == TEXT

    def test_a_frame_that_needs_much_memory_is_refused(self, opened):
        window = (28 - 10) << 3  # 256 MiB: RFC 8878, 3.1.1.1.2
        frame = b"\x28\xb5\x2f\xfd\x00%c\x09\x00\x00x" % window
        assert "more than 128 MiB of memory" in refusal(opened(frame)).what
        assert whole(opened(frame.replace(b"%c" % window, b"%c" % (window - 8)))) == b"x"


@cache
def of_empty_files(count: int) -> bytes:
    return zipped(*((f"{n}", b"") for n in range(count)))


def write_bomb(path: Path, name: str) -> None:
    if name == "zip":
        with (
            zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
            archive.open("a", "w", force_zip64=True) as file,
        ):
            for _ in range(200):
                file.write(bytes(MIB))
        return
    member = PACKED[name](bytes(100 * MIB))
    with path.open("wb") as file:
        for part in itertools.repeat(member, 100):
            file.write(part)

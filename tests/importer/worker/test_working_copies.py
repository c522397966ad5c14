"""Imports of compressed files and of all encodings, with the working copies that they need."""

import gzip
import random
import re
from pathlib import Path

import pytest
from django.db.models import F

from importer.connections.source_location import location_of_job
from importer.engine.plan.options import Options
from importer.engine.source import encodings
from importer.engine.source.profile.profile import profile_file
from importer.jobs import lifecycle
from importer.jobs.actions import commands
from importer.jobs.rejects import downloads
from importer.jobs.steps.scanning import claim_scan
from importer.models import ImportJob, Target
from importer.models.outcomes import NEEDS_ANSWER
from importer.worker import working_copies
from tests.documents import read
from tests.engine.loads import rows_of, run_sql
from tests.engine.packing import PACKED
from tests.importer.steps import import_of, run, take
from tests.targets import on_one_server

pytestmark = pytest.mark.usefixtures("no_workers", "plain_dir")

Status = ImportJob.Status
TEXT = "n,word\n1,café\n2,Zoë €\n3,plain\n"
ROWS = ((1, "café"), (2, "Zoë €"), (3, "plain"))
JAPANESE = "n,word\n1,ソ表能\n2,\\\n3,あ\n"
JAPANESE_ROWS = ((1, "ソ表能"), (2, "\\"), (3, "あ"))

TABLES = ("CREATE TABLE t (n INT, word VARCHAR(20)) CHARSET utf8mb4",)


def created(target: Target, file: Path, encoding: str = "", **options) -> ImportJob:
    """A job as the page creates it: with the chosen encoding, or the detected one."""
    dialect = profile_file(file, **({"encoding": encoding} if encoding else {})).dialect
    options = Options(**{"chunk_bytes": 40, "parallelism": 2, **options})
    return import_of(file, target, dialect=dialect, options=options)


def written(folder: Path, content: bytes) -> Path:
    path = folder / "file"
    path.write_bytes(content)
    return path


def in_table(target: Target) -> tuple:
    return tuple(rows_of(target.address, "SELECT n, word FROM t ORDER BY n"))


class TestEncodings:
    @pytest.mark.parametrize(
        ("content", "encoding"),
        [
            (b"\xef\xbb\xbf" + TEXT.encode(), ""),
            (TEXT.encode("utf-16"), ""),
            (encodings.byte_order_mark("utf-16-be") + TEXT.encode("utf-16-be"), ""),
            (encodings.byte_order_mark("utf-32-le") + TEXT.encode("utf-32-le"), ""),
            (TEXT.encode("utf-16-le"), "utf-16-le"),
            (TEXT.encode("utf-16-be"), "utf-16-be"),
            (TEXT.encode("cp1252"), ""),
            (TEXT.encode("cp1252"), "windows-1252"),
            (TEXT.encode("iso8859-15"), "latin9"),
            (TEXT.encode("utf-7"), "utf-7"),
            (TEXT.replace("\n", "\r\n").encode("utf-16"), ""),
        ],
    )
    def test_every_value_arrives(self, target, tmp_path, content, encoding):
        job = run(created(target, written(tmp_path, content), encoding))
        assert (job.status, job.balanced, job.problem) == (Status.SUCCEEDED, True, {})
        assert in_table(target) == ROWS

    @pytest.mark.parametrize("encoding", ["utf-16-le", "shift_jis", "cp037"])
    def test_values_that_are_looked_at_one_by_one_arrive(self, target, tmp_path, encoding):
        """With a delimiter for which each record is read by itself, and an unusual number."""
        for text in ("n||word\n+1||a\n 2||b\n", "n,word\n+1,a\n 2,b\n"):
            job = run(created(target, written(tmp_path, text.encode(encoding)), encoding))
            assert (job.status, job.problem) == (Status.SUCCEEDED, {})
            assert in_table(target) == ((1, "a"), (2, "b"))
            run_sql(target.address, "TRUNCATE t")

    @pytest.mark.parametrize("encoding", ["shift_jis", "euc_jp", "gb18030", "iso2022_jp"])
    def test_a_character_whose_last_byte_looks_like_another(self, target, tmp_path, encoding):
        job = run(created(target, written(tmp_path, JAPANESE.encode(encoding)), encoding))
        assert (job.status, job.problem) == (Status.SUCCEEDED, {})
        assert in_table(target) == JAPANESE_ROWS

    def test_latin1_before_a_line_end_keeps_the_line_end(self, target, tmp_path):
        """Read as UTF-8, E9 would begin a character of three bytes."""
        job = run(created(target, written(tmp_path, b"n,word\n1,caf\xe9\n2,\xe9\n"), "latin1"))
        assert job.status == Status.SUCCEEDED
        assert in_table(target) == ((1, "café"), (2, "é"))

    def test_chunks_of_a_single_byte_encoding_keep_the_files_offsets(self, target, tmp_path):
        file = written(tmp_path, b"n,word\n" + b"".join(b"%d,\xe9\xe8\x80\n" % n for n in range(500)))
        job = run(created(target, file, "cp1252", chunk_bytes=100))
        chunks = list(job.chunks.order_by("number"))
        assert chunks[-1].offset + chunks[-1].length == file.stat().st_size == job.data_offset + job.committed_bytes
        assert in_table(target) == tuple((n, "éè€") for n in range(500))

    def test_an_emoji_into_utf8mb3_is_refused_by_line_and_column(self, target, tmp_path):
        run_sql(target.address, "ALTER TABLE t MODIFY word VARCHAR(20) CHARACTER SET utf8mb3")
        job = run(created(target, written(tmp_path, "n,word\n1,a\n2,🙂\n".encode())))
        assert job.status == Status.FAILED
        assert job.problem["where"] == "line 3, column word"
        assert in_table(target) == ()


@on_one_server
class TestPlainCopies:
    @pytest.mark.one_of("encoding")
    @pytest.mark.parametrize("name", PACKED)
    @pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "utf-16"])
    def test_a_packed_file_arrives(self, target, tmp_path, name, encoding, plain_dir):
        file = written(tmp_path, PACKED[name](TEXT.encode(encoding)))
        job = run(created(target, file))
        assert (job.status, job.balanced, job.problem) == (Status.SUCCEEDED, True, {})
        assert in_table(target) == ROWS
        assert job.copied_bytes == file.stat().st_size
        assert job.data_offset + job.committed_bytes == job.plain_size
        assert working_copies.remove_unneeded() == 1
        assert list(plain_dir.iterdir()) == []

    def test_several_members_and_chunks(self, target, tmp_path):
        parts = [f"{n},word {n}\n" for n in range(3000)]
        packed = b"".join(gzip.compress(part.encode()) for part in ["n,word\n", "".join(parts[:9]), "".join(parts[9:])])
        job = run(created(target, written(tmp_path, packed), chunk_bytes=4000))
        assert (job.status, job.loaded_rows) == (Status.SUCCEEDED, 3000)
        assert job.chunks.count() > 5

    def test_a_retry_makes_the_copy_again_before_any_chunk_starts(self, target, tmp_path, plain_dir):
        job = created(target, written(tmp_path, gzip.compress(TEXT.encode())), chunk_bytes=10)
        [scan] = lifecycle.advance(job.pk)
        take(scan)
        job.refresh_from_db()
        first = location_of_job(job)
        assert first.read_bytes() == TEXT.encode()
        assert working_copies.remove_unneeded() == 0, "it is being read"
        commands.cancel(job.pk)
        lifecycle.advance(job.pk)
        assert working_copies.remove_unneeded() == 1
        assert not first.exists()
        commands.retry(job.pk)
        job.refresh_from_db()
        assert (job.status, job.step, job.plain_copy) == (Status.LOADING, "scan queued", "")
        assert not job.chunks.filter(status="queued").exists()
        assert run(job).status == Status.SUCCEEDED
        assert in_table(target) == ROWS

    def test_a_copy_that_somebody_removed_is_made_again_by_a_retry(self, target, tmp_path):
        job = created(target, written(tmp_path, gzip.compress(TEXT.encode())))
        [scan] = lifecycle.advance(job.pk)
        take(scan)
        job.refresh_from_db()
        location_of_job(job).unlink()
        assert run(job).status == Status.FAILED
        commands.retry(job.pk)
        assert run(job).status == Status.SUCCEEDED
        assert in_table(target) == ROWS

    def test_a_copy_that_is_made_a_second_time_is_not_swept_away(self, target, tmp_path, plain_dir):
        job = created(target, written(tmp_path, gzip.compress(TEXT.encode())))
        ImportJob.objects.update(plain_copy=f"{job.key}.1", step_attempt=2)
        plain_dir.mkdir()
        for name in ("0", "1", "2", "2.part"):
            (plain_dir / f"{job.key}.{name}").touch()
        assert working_copies.remove_unneeded() == 1
        assert sorted(path.name.partition(".")[2] for path in plain_dir.iterdir()) == ["1", "2", "2.part"]

    def test_a_worker_that_lost_the_job_leaves_no_copy(self, target, tmp_path, plain_dir):
        job = created(target, written(tmp_path, gzip.compress(TEXT.encode())))
        lifecycle.advance(job.pk)
        mine = claim_scan(job.pk)
        ImportJob.objects.update(step_attempt=F("step_attempt") + 1)
        assert working_copies.make_copy(mine) is False
        assert list(plain_dir.iterdir()) == []
        assert ImportJob.objects.get(pk=job.pk).plain_copy == ""


@on_one_server
class TestRefusals:
    """A job reports each problem of its file, and no copy is left over."""

    def failed(self, target: Target, file: Path, plain_dir: Path, encoding: str = "") -> dict:
        job = run(created(target, file, encoding))
        assert job.status == Status.FAILED
        assert in_table(target) == ()
        assert list(plain_dir.iterdir()) == []
        return job.problem

    def test_a_cut_file(self, target, tmp_path, plain_dir):
        chosen = random.Random(1)
        body = b"".join(b"%d,%x\n" % (n, chosen.getrandbits(64)) for n in range(60_000))
        packed = gzip.compress(b"n,word\n" + body)[:-1000]
        problem = self.failed(target, written(tmp_path, packed), plain_dir)
        assert f"ends at byte {len(packed):,}" in problem["what"]
        assert problem["where"] == "file"

    def test_too_much(self, target, tmp_path, plain_dir, settings):
        settings.UNPACKED_MAX_BYTES = 20
        problem = self.failed(target, written(tmp_path, gzip.compress(TEXT.encode())), plain_dir)
        assert "more than 20 bytes" in problem["what"]

    def test_too_well_packed(self, target, tmp_path, plain_dir):
        packed = gzip.compress(TEXT.encode()) + gzip.compress(b"4,plain\n" * 20_000_000)
        problem = self.failed(target, written(tmp_path, packed), plain_dir)
        assert "more than 200 times its size" in problem["what"]

    def test_no_room(self, target, tmp_path, plain_dir):
        job = created(target, written(tmp_path, gzip.compress(TEXT.encode())))
        plain_dir.mkdir()
        (plain_dir / f"{job.key}.1.part").symlink_to("/dev/full")  # The kernel answers ENOSPC to every write.
        job = run(job)
        figures = r"/\S* has [\d,]+ bytes free, [\d,]+ to be kept free \(KEEP_FREE_BYTES\), about [\d,]+ needed\."
        cannot = r"The disk is full: the file cannot be unpacked\. The file system"
        assert re.match(f"{cannot} {figures}", job.problem["what"])
        assert "PLAIN_DIR" in job.problem["advice"]
        assert list(plain_dir.iterdir()) == []
        commands.retry(job.pk)
        assert run(job).status == Status.SUCCEEDED

    @pytest.mark.parametrize("other", [b"4,x\n", b""])
    def test_a_file_that_changed_since_the_plan(self, target, tmp_path, plain_dir, other):
        file = written(tmp_path, gzip.compress(TEXT.encode(), mtime=1) + gzip.compress(b""))
        job = created(target, file)
        file.write_bytes(gzip.compress(TEXT.encode(), mtime=2) + gzip.compress(other))
        assert "the import was planned" in run(job).problem["what"]
        assert list(plain_dir.iterdir()) == []

    @pytest.mark.parametrize(("encoding", "bad"), [("", 0xE9), ("cp1252", 0x81)])
    def test_bytes_that_are_not_in_the_encoding(self, target, tmp_path, encoding, bad):
        """The bytes lie behind the sample: the scan finds them, and reports line and byte."""
        content = b"n,word\n" + b"1,a\n" * 300_000 + b"2,%c\n" % bad
        job = run(created(target, written(tmp_path, content), encoding, chunk_bytes=2**20))
        assert job.status == Status.FAILED
        assert f"The byte 0x{bad:02X} at offset 1,200,009" in job.problem["what"]
        assert job.problem["where"] == "line 300002"
        assert "--encoding cp1252" in job.problem["advice"]


class TestRejects:
    @pytest.mark.parametrize(
        ("encoding", "pack"),
        [("utf-16-le", bytes), ("utf-16-be", gzip.compress), ("shift_jis", bytes), ("cp1252", bytes)],
    )
    def test_rejects_of_a_transcoded_file_load_once_the_table_allows_them(self, target, tmp_path, encoding, pack):
        words = {"shift_jis": "ソ表能"}.get(encoding, "Zoë")
        content = f"n,word\n1,{words}\nx,{words}2\n3,{words}\ny,{words}4\n".encode(encoding)
        job = run(created(target, written(tmp_path, pack(content)), encoding, on_error="reject"))
        assert (job.status, job.loaded_rows, job.rejected_rows, job.problem) == (Status.SUCCEEDED, 2, 2, {})
        rejected = b"".join(downloads.reject_file(job))
        assert rejected == encodings.byte_order_mark(encoding) + f"n,word\nx,{words}2\ny,{words}4\n".encode(encoding)
        run_sql(target.address, "DELETE FROM t", "ALTER TABLE t MODIFY n TEXT")
        chosen = "" if encodings.byte_order_mark(encoding) else encoding
        again = run(created(target, written(tmp_path, rejected), chosen))
        assert (again.status, again.problem) == (Status.SUCCEEDED, {})
        assert in_table(target) == (("x", f"{words}2"), ("y", f"{words}4"))

    def test_a_duplicate_key_is_shown_decoded(self, target, tmp_path):
        run_sql(target.address, "ALTER TABLE t ADD UNIQUE (word)")
        content = "n,word\n1,Zoë €\n2,b\n3,Zoë €\n".encode("cp1252")
        job = run(created(target, written(tmp_path, content), on_error="reject", chunk_bytes=2**20))
        reasons = b"".join(downloads.reasons_file(job)).decode()
        assert "Line 2 has the same key: word = 'Zoë €'." in reasons


@on_one_server
class TestCommandLine:
    ARGS = ("--target", "warehouse", "--table", "t", "--in-process", "--json")

    def test_a_packed_file(self, target, tmp_path, shell, settings):
        file = tmp_path / "words.csv.gz"
        file.write_bytes(gzip.compress(TEXT.encode()))
        report = read(shell.manage("import_csv", str(file), *self.ARGS).stdout)
        assert (report["outcome"], report["rows"]["loaded"]) == ("succeeded", 3)
        assert in_table(target) == ROWS
        assert list((settings.VAR_DIR / "plain").iterdir()) == []

    def test_a_guess_is_refused_and_a_choice_taken(self, target, tmp_path, shell):
        file = written(tmp_path, TEXT.encode("cp1252"))
        done = shell.manage("import_csv", str(file), *self.ARGS, check=False)
        assert done.returncode == NEEDS_ANSWER.exit_code
        assert "file: nothing was written. 1 question first:\n1. The byte 0xE9 on line 2 is not UTF-8" in done.stderr
        assert "--encoding cp1252" in done.stderr
        assert not ImportJob.objects.exists()
        shell.manage("import_csv", str(file), *self.ARGS, "--encoding", "cp1252")
        assert in_table(target) == ROWS

    def test_an_unknown_encoding_is_refused(self, target, tmp_path, shell):
        done = shell.manage("import_csv", "x", *self.ARGS, "--encoding", "nonsense", check=False)
        assert "'nonsense' is not the name of a text encoding" in done.stderr

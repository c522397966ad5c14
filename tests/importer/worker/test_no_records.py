"""Lines that are not records: left out and counted in each form of a file, on each server."""

import gzip
from pathlib import Path

import pytest

from importer.engine.plan.options import Options
from importer.jobs.rejects import downloads
from importer.models import ImportJob, Target
from tests.engine.loads import rows_of
from tests.importer.steps import import_of, run

pytestmark = pytest.mark.usefixtures("no_workers", "plain_dir")

ROWS = {n: f"wörd {n}" for n in range(1, 10)}

TABLES = ("CREATE TABLE t (id INT PRIMARY KEY, word VARCHAR(20) NOT NULL) CHARSET utf8mb4",)


def imported(target: Target, folder: Path, content: bytes, known: dict, **options) -> ImportJob:
    path = folder / "file.csv"
    path.write_bytes(content)
    options = Options(**{"chunk_bytes": 20, "parallelism": 2, **options})
    return run(import_of(path, target, known_format=known, options=options))


def rows(target: Target) -> dict[int, str]:
    return dict(rows_of(target.address, "SELECT * FROM t"))


COMMENTED = '# made by "x\n\n# 2024,x\nid,word\n#,"\n' + "".join(
    f'{n},"{text}"\n# after {n}, "\n' for n, text in reversed(ROWS.items())
)


@pytest.mark.one_of("encoding", "sort")
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize("sort", ["keep", "key"])
def test_comments(target: Target, tmp_path: Path, pack, encoding: str, sort: str):
    content = pack(COMMENTED.encode(encoding))
    job = imported(target, tmp_path, content, {"comment": "#", "encoding": encoding}, sort=sort)
    assert (job.status, job.balanced, job.problem) == (ImportJob.Status.SUCCEEDED, True, {})
    assert rows(target) == ROWS
    assert job.skipped_lines.counts == {"header": 1, "comment": 12, "blank": 1}
    assert [each.line for each in job.skipped_lines.shown if each.kind == "comment"] == [1, 3, 5, *range(7, 20, 2)]
    assert job.skipped_lines.total + job.scanned_rows == COMMENTED.count("\n")


def written(end: str = "\n") -> str:
    return "".join(f'{n},"{text}"{end}' for n, text in reversed(ROWS.items()))


FORMS = [(bytes, "utf-8", "keep"), (gzip.compress, "utf-8", "key"), (bytes, "utf-16", "keep"), (bytes, "utf-8", "key")]


@pytest.mark.parametrize(("pack", "encoding", "sort"), FORMS)
def test_lines_below_the_header(target: Target, tmp_path: Path, pack, encoding: str, sort: str):
    content = pack(f'"id","word"\n[1],"[letters\n\n{written()}'.encode(encoding))
    job = imported(target, tmp_path, content, {"skip_after_header": 2, "encoding": encoding}, sort=sort)
    assert (job.status, job.balanced, rows(target)) == (ImportJob.Status.SUCCEEDED, True, ROWS)
    assert job.skipped_lines.counts == {"header": 1, "preamble": 1, "blank": 1}
    assert job.chunks.order_by("number")[0].first_line == 4


@pytest.mark.one_of("pack", "encoding", "sort")
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(("pack", "encoding", "sort"), FORMS)
def test_a_footer(target: Target, tmp_path: Path, pack, encoding: str, sort: str, line_end: str):
    text = f'id,word{line_end}{written(line_end)}{line_end}Total "9,rows{line_end}made by é{line_end}{line_end}'
    known = {"skip_footer": 2, "encoding": encoding}
    job = imported(target, tmp_path, pack(text.encode(encoding)), known, sort=sort)
    assert (job.status, job.balanced, rows(target)) == (ImportJob.Status.SUCCEEDED, True, ROWS)
    assert job.skipped_lines.counts == {"header": 1, "footer": 2, "blank": 2}
    assert [(each.line, each.text) for each in job.skipped_lines.shown if each.kind == "footer"] == [
        (12, 'Total "9,rows'),
        (13, "made by é"),
    ]


@pytest.mark.parametrize(("pack", "encoding", "sort"), FORMS)
def test_a_repeated_header(target: Target, tmp_path: Path, pack, encoding: str, sort: str):
    lines = written().splitlines(keepends=True)
    text = "".join(["id,word\n", *lines[:3], "id,word\n", *lines[3:5], "id,word\nid,word\n", *lines[5:], "id,word"])
    known = {"skip_repeated_header": True, "encoding": encoding}
    job = imported(target, tmp_path, pack(text.encode(encoding)), known, sort=sort)
    assert (job.status, job.balanced, rows(target)) == (ImportJob.Status.SUCCEEDED, True, ROWS)
    assert job.skipped_lines.counts == {"header": 5}
    assert [each.line for each in job.skipped_lines.shown] == [1, 5, 8, 9, 14]


def test_rejects_can_be_loaded_again_with_the_same_dialect(target: Target, tmp_path: Path):
    lines = "".join(f"{n},{text if n % 2 else 'too long ' * 9}\n" for n, text in ROWS.items())
    text = f"id,word\n[],[]\n{lines}# note\nid,word\nTotal,9\n"
    known = {"skip_footer": 1, "comment": "#", "skip_after_header": 1, "skip_repeated_header": True}
    job = imported(target, tmp_path, text.encode(), known, on_error="reject")
    assert (job.loaded_rows, job.rejected_rows) == (5, 4)
    again = b"".join(downloads.reject_file(job)).replace(b"too long " * 9, b"short")
    job = imported(target, tmp_path, again, known)
    assert (job.status, job.loaded_rows) == (ImportJob.Status.SUCCEEDED, 4)
    assert sorted(rows(target)) == list(ROWS)

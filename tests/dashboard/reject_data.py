"""Reject files as importer/engine/load/rejects/reject_files.py writes them, for the jobs of job_data."""

import csv

from importer.jobs.rejects import downloads
from importer.models import ImportJob

HEAD = "\ufeffid,lat,lon\n".encode()


def write_parts(job: ImportJob, number: int, rows: list[tuple], *, skipped: int = 0) -> None:
    """`rows` are (line, column, value, code, reason, raw); the last `skipped` of them were not rejected but skipped."""
    folder = downloads.folder(job)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / downloads.HEAD).write_bytes(HEAD)
    rejected = rows[: len(rows) - skipped]
    (folder / f"{number:08d}.rejects").write_bytes(b"".join(raw for *_, raw in rejected))
    with (folder / f"{number:08d}.csv").open("w", newline="") as out:
        csv.writer(out).writerows(
            (line, line * 10, column, value, code, why) for line, column, value, code, why, _ in rows
        )
    reasons: dict[tuple, int] = {}
    for _, column, _, code, why, _ in rows:
        reasons[code, column, why] = reasons.get((code, column, why), 0) + 1
    kinds = [
        {"code": code, "column": column, "reason": why, "rows": count} for (code, column, why), count in reasons.items()
    ]
    chunk = job.chunks.get(number=number)
    chunk.rejected_rows, chunk.skipped_rows, chunk.reject_reasons = len(rejected), skipped, kinds
    chunk.loaded_rows -= len(rows)
    chunk.save()
    job.reject_reasons = [*job.reject_reasons, *kinds]
    job.loaded_rows -= len(rows)
    job.rejected_rows += len(rejected)
    job.skipped_rows += skipped
    job.version += 1
    job.save()

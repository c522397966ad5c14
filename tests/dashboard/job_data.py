"""Jobs in every state, as importer.jobs would leave them."""

from datetime import timedelta
from uuid import uuid4

from django.test import Client
from django.urls import reverse
from django.utils import timezone

from importer.engine.errors import BadRow, Problem
from importer.engine.mapping.columns import ColumnMapping
from importer.engine.plan.options import Options
from importer.engine.plan.plan import ImportPlan, LoadStatements, Reason
from importer.engine.plan.stored_plan import plan_to_json
from importer.engine.source.dialect import Dialect
from importer.engine.stored import to_json
from importer.models import Chunk, ImportJob, SourceFile, Target
from tests.people import operator

Status = ImportJob.Status
ROWS = 3_400
LENGTH = 320_000
HEADER = 120
STATEMENT = (
    "LOAD DATA LOCAL INFILE 'chunk' INTO TABLE `osm`.`nodes` CHARACTER SET utf8mb4\n"
    "  FIELDS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '\"' ESCAPED BY ''\n"
    "  LINES TERMINATED BY '\\n'\n"
    "  (`id`, @lat, @lon, `version`, `name`)\n"
    "  SET `lat` = NULLIF(@lat, 'NA'), `lon` = NULLIF(@lon, 'NA')"
)
REASONS = (
    Reason("LOAD DATA LOCAL", "the account may use it and local_infile is on; the fastest way into this server"),
    Reason("4 chunks at once", "2 cores here, and the server is another machine"),
    Reason("Bytes go as they are", "the server reads this dialect itself"),
    Reason("innodb_redo_log_capacity is 100 MB", "2 GB would let it load without waiting", holds_back=True),
)
REFUSED = Problem(
    "Chunk 37 has 2 rows that the server would change.",
    where="nodes.csv, lines 125,801 to 129,200",
    advice="Correct these rows in the file, or make the column larger, then retry.",
    rows=(
        BadRow(125_901, "name", "x" * 300, "longer than the 64 characters of the column"),
        BadRow(126_000, "lat", "", "not a number"),
    ),
    bad_rows=2,
)


def make_job(
    status=Status.LOADING,
    chunks=60,
    loaded=None,
    *,
    file_name="nodes-2026-11-20.csv",
    table="nodes",
    parallelism=4,
    problem=None,
    user=None,
    **fields,
):
    """A job of `chunks` chunks, of which the first `loaded` are committed, a second each, `parallelism` at a time."""
    if loaded is None:
        loaded = chunks if status in (Status.VERIFYING, Status.SUCCEEDED) else chunks * 2 // 3
    seconds = loaded / parallelism + 1
    now = timezone.now()
    started = now - timedelta(seconds=seconds)
    target, _ = Target.objects.get_or_create(
        name="warehouse", defaults={"host": "127.0.0.1", "port": 1, "user": "loader", "database": "osm", "tls": "off"}
    )
    size = HEADER + chunks * LENGTH
    source = SourceFile.objects.create(
        name=file_name, path="/nowhere/nodes.csv", size=size, received=size, status=SourceFile.Status.READY
    )
    plan = ImportPlan(
        statements=LoadStatements("load_data_local", plain=STATEMENT, null_word="", traced=""),
        schema="osm",
        table=table,
        chunk_bytes=LENGTH,
        parallelism=parallelism,
        table_digest="0" * 16,
        fields=("id", "lat", "lon"),
        reasons=REASONS,
    )
    ended = status in ImportJob.ENDED
    began = status != Status.WAITING
    values = {
        "target": target,
        "source": source,
        "schema_name": "osm",
        "table_name": table,
        "status": status,
        "created_by": user,
        "dialect_json": to_json(Dialect()),
        "mapping_json": [to_json(ColumnMapping(name)) for name in ("id", "lat", "lon")],
        "options_json": to_json(Options()),
        "plan_json": plan_to_json(plan),
        "parallelism": parallelism,
        "data_offset": HEADER,
        "scanned_bytes": size,
        "scanned_rows": chunks * ROWS,
        "scan_finished": True,
        "loaded_rows": loaded * ROWS,
        "committed_bytes": loaded * LENGTH,
        "problem": problem.as_json() if problem else {},
        "balanced": status == Status.SUCCEEDED,
        "version": 7,
        "started_at": started if began else None,
        "scanned_at": started + timedelta(seconds=0.4) if began else None,
        "loaded_at": now - timedelta(seconds=0.3) if status in (Status.VERIFYING, Status.SUCCEEDED) else None,
        "finished_at": now if ended else None,
        "rows_per_second": chunks * ROWS / seconds if status == Status.SUCCEEDED else None,
        "loading_seconds": seconds if ended else None,
        "total_seconds": seconds if ended else None,
    }
    job = ImportJob.objects.create(**values | fields)
    Chunk.objects.bulk_create(
        [_chunk(job, number, loaded, started, problem) for number in range(chunks)], batch_size=1000
    )
    return job


def _chunk(job, number, loaded, started, problem):
    """Loaded, then one wave in flight or failed, then the rest."""
    chunk = Chunk(
        job=job,
        number=number,
        offset=HEADER + number * LENGTH,
        length=LENGTH,
        rows=ROWS,
        first_line=2 + number * ROWS,
        digest="0" * 16,
    )
    begin = started + timedelta(seconds=number // job.parallelism + 0.05 * (number % 7))
    if number < loaded:
        chunk.status, chunk.attempt, chunk.started_at = Chunk.Status.LOADED, 1, begin
        chunk.loaded_rows = ROWS
        chunk.finished_at = begin + timedelta(seconds=0.6 + 0.1 * (number * 7 % 5))
        chunk.timings = {"connect": 0.01, "send": 0.8, "commit": 0.02}
    elif number == loaded and problem:
        chunk.status, chunk.attempt, chunk.problem = Chunk.Status.FAILED, 1, problem.as_json()
    elif number < loaded + job.parallelism and job.status == Status.LOADING:
        chunk.status, chunk.attempt, chunk.started_at = Chunk.Status.LOADING, 1, timezone.now()
        chunk.run = uuid4()
    return chunk


def page(browser: Client, job: ImportJob) -> str:
    """The page of the import."""
    answer = browser.get(reverse("job", args=[job.pk]))
    assert answer.status_code == 200
    return answer.content.decode()


def make_user(name="admin"):
    """An operator with a grant on everything."""
    return operator(name)

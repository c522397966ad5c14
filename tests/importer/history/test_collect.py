"""The record that a real import leaves behind, on real servers."""

import os
from io import StringIO
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command

from bench.seed_history import write_history
from importer.engine.errors import Problem
from importer.engine.mysql.server_info import SPEED_VARIABLES
from importer.engine.native import loader
from importer.engine.plan.option_specs import SPEED
from importer.engine.plan.options import Options
from importer.history import facts
from importer.history.collect import chosen_settings
from importer.history.read import rows
from importer.jobs import report
from importer.jobs.actions import commands
from importer.jobs.record import jobs_without_record, write_record
from importer.models import Chunk, ImportJob, JobRecord, SourceFile, Target
from importer.models.outcomes.attempts import rounded
from importer.worker import sweep
from tests.documents import read
from tests.importer.steps import import_of, run
from tests.targets import on_one_server

pytestmark = pytest.mark.usefixtures("no_workers")

TABLE = """CREATE TABLE t (
  id INT PRIMARY KEY, a INT, b VARCHAR(20), UNIQUE KEY u (a), KEY ab (a, b), FULLTEXT KEY f (b)
) CHARACTER SET utf8mb4"""
# Facts that not every server has, or that no import of this module sets.
MAY_LACK = {
    "problem", "packing", "key_order", "key_ascending", "key_spread", "server_redo_bytes", "round_trip_ms",
    "line_bytes_per_second", "server_replica", "max_rejects", "max_reject_percent", "rows_per_statement",
    "commit_rows", "partitions", "partition_by", "session", "server_variables", "sorted_by", "schedule",
    "slower_than_like", "like_imports", "like_rows_per_second", "time_zone", "key", "scope", "stop_if", "on_duplicate",
}  # fmt: skip
TABLES = (TABLE,)


def imported(target: Target, tmp_path: Path, lines: list[str], **options) -> ImportJob:
    path = tmp_path / "t.csv"
    path.write_text("id,a,b\n" + "".join(f"{line}\n" for line in lines))
    return run(import_of(path, target, options=Options(**options)))


def facts_of_record(job: ImportJob) -> dict:
    return rows([job.pk])[job.pk]


LINES = [f"{n},{n},word {n}" for n in range(1000)]


@on_one_server
def test_each_speed_option_has_the_value_that_the_import_ran_with(target: Target, tmp_path: Path):
    job = imported(target, tmp_path, LINES[:10], unique_checks=False, isolation="SERIALIZABLE", chunk_bytes=77_000)
    settings = dict(chosen_settings(job))
    assert {option.name for option in SPEED} <= settings.keys()
    assert (settings["unique_checks"], settings["isolation"], settings["chunk_bytes"]) == (
        False,
        "SERIALIZABLE",
        77_000,
    )
    assert (settings["method"], settings["indexes"]) == (job.plan.statements.method, "keep")


def test_the_record_of_an_import_has_all_facts(target: Target, tmp_path: Path):
    job = imported(target, tmp_path, LINES, commit_rows=100, parallelism=1, session={"sort_buffer_size": "1M"})
    known = facts_of_record(job)
    lacking = {
        name
        for name in facts.FACTS
        if name not in known
        and not name.startswith(("asked_", "session_", "set_"))
        and name.removeprefix("server_") not in SPEED_VARIABLES
    }
    assert lacking <= MAY_LACK
    assert len([name for name in SPEED_VARIABLES if f"server_{name}" in known]) > 15
    size = (tmp_path / "t.csv").stat().st_size
    expected = {
        "job": job.pk,
        "status": "succeeded",
        "attempts": 1,
        "target": "warehouse",
        "table": f"{target.database}.t",
        "table_name": "t",
        "software": settings.VERSION,
        "native": loader.build_in_use() or "none",
        "file": "t.csv",
        "file_bytes": size,
        "data_bytes": size - len("id,a,b\n"),
        "rows": 1000,
        "fields": 3,
        "encoding": "utf-8",
        "table_engine": "InnoDB",
        "table_columns": 3,
        "table_partitioned": False,
        "rows_before": 0,
        "primary_key": "id",
        "primary_key_type": "int",
        "auto_increment": False,
        "unique_keys": 1,
        "secondary_keys": 1,
        "fulltext_keys": 1,
        "spatial_keys": 0,
        "server_local": True,
        "server_cores": os.cpu_count(),
        "server_innodb_flush_log_at_trx_commit": 1,
        "tls": "off",
        "mode": "append",
        "asked_commit_rows": 100,
        "commit_rows": 100,
        "transaction_bytes": 0,
        "asked_session": "sort_buffer_size = 1M",
        "session_sort_buffer_size": 2**20,
        "method": "load_data_local",
        "asked_method": "auto",
        "indexes": "keep",
        "isolation": "READ-COMMITTED",
        "unique_checks": True,
        "loaded_rows": 1000,
        "rejected_rows": 0,
        "balanced": True,
        "chunks": 10,
        "retries": 0,
        "deaths": 0,
    }
    assert {name: known.get(name) for name in expected} == expected
    assert "asked_chunk_bytes" not in known
    assert known["flavour"] in ("MySQL", "MariaDB")
    assert known["rows_per_second"] == round(job.rows_per_second, 1)
    spent = [known[each.name] for each in facts.PHASES if each.name != "phase_wait"]
    timings = job.chunks.values_list("timings", flat=True)
    assert sum(spent) == pytest.approx(sum(sum(each.values()) for each in timings), rel=1e-3)
    assert 0 < known["chunk_median_seconds"] <= known["chunk_longest_seconds"] <= known["total_seconds"]
    assert JobRecord.objects.get(pk=job.pk).reasons == job.plan_json["reasons"]


def test_records_have_the_rows_before_and_deferred_indexes(target: Target, tmp_path: Path):
    first = imported(target, tmp_path, LINES, indexes="defer")
    second = imported(target, tmp_path, [f"{n},{n},more" for n in range(1000, 1100)])
    assert (
        facts_of_record(first)["indexes"],
        facts_of_record(first)["deferred_indexes"],
        facts_of_record(first)["rows_before"],
    ) == ("defer", 1, 0)
    # The server only estimates.
    assert 500 < facts_of_record(second)["rows_before"] < 2000
    assert facts_of_record(first)["index_seconds"] > 0
    assert facts_of_record(first)["settings_digest"] != facts_of_record(second)["settings_digest"]
    assert facts_of_record(first)["server_digest"] == facts_of_record(second)["server_digest"]


@on_one_server
def test_the_time_without_a_chunk_is_unknown_if_the_sessions_were_changed(target: Target, tmp_path: Path):
    path = tmp_path / "t.csv"
    path.write_text("id,a,b\n" + "".join(f"{line}\n" for line in LINES))
    job = import_of(path, target, options=Options(parallelism=2))
    commands.set_parallelism(job.pk, 64)
    known = facts_of_record(run(job))
    assert (known["planned_parallelism"], known["parallelism"]) == (2, 64)
    assert "phase_load" in known
    assert "phase_wait" not in known


@pytest.mark.parametrize(
    ("rate", "stored"),
    [(0.0123456, 0.0123), (0.96, 0.96), (1.26, 1.3), (98_765.43, 98_765.4), (0.0, 0.0)],
)
def test_a_slow_rate_is_not_rounded_to_nothing(rate: float, stored: float):
    assert rounded(rate) == stored


@on_one_server
def test_keys_deferred_on_a_staging_table_count_as_deferred(target: Target, tmp_path: Path):
    job = imported(target, tmp_path, LINES, mode="replace", indexes="defer")
    assert report.report(job)["plan"]["index_policy"] == "defer"
    known = facts_of_record(job)
    assert (known["indexes"], known["deferred_indexes"], known["staged"]) == ("defer", 1, True)


@on_one_server
def test_a_failed_job_is_recorded_and_recorded_again_after_its_retry(target: Target, tmp_path: Path):
    job = imported(target, tmp_path, [*LINES, "1000,no number,"])
    known = facts_of_record(job)
    assert (known["status"], known["problem"], known["balanced"]) == ("failed", "RowsRefused", False)
    assert "rows_per_second" not in known
    commands.retry(job.pk, leave_out=True)
    known = facts_of_record(run(job))
    assert (known["status"], known["attempts"]) == ("succeeded", 2)
    assert (known["rejected_rows"], known["reject_reasons"]) == (1, 1)
    assert (known["on_error"], "problem" in known) == ("reject", False)


@on_one_server
def test_a_sweep_records_jobs_that_ended_without_a_record(target: Target, tmp_path: Path):
    """As with jobs that are older than records; they lack only facts that their plans did not store."""
    job = imported(target, tmp_path, LINES)
    known = facts_of_record(job)
    plan = {name: value for name, value in job.plan_json.items() if name != "seen"}
    ImportJob.objects.filter(pk=job.pk).update(plan_json=plan)
    JobRecord.objects.all().delete()
    sweep.sweep_jobs(lambda *_: None)
    seen = {each.name for each in (*facts.TABLE, *facts.SERVER)} - {"tls"}
    digests = {"settings_digest", "server_digest"}
    late = facts_of_record(job)
    assert known.keys() - late.keys() == seen & known.keys()
    assert {name: late[name] for name in late.keys() - digests} == {name: known[name] for name in late.keys() - digests}
    assert jobs_without_record() == []


@on_one_server
def test_a_job_that_cannot_be_read_gets_a_minimal_record(target: Target, tmp_path: Path):
    job = imported(target, tmp_path, LINES)
    JobRecord.objects.all().delete()
    ImportJob.objects.filter(pk=job.pk).update(dialect_json={"delimiter": 1})
    write_record(job.pk)
    assert facts_of_record(job) == {"job": job.pk}
    assert jobs_without_record() == []


@on_one_server
def test_manage_history_shows_imports_lists_facts_and_refuses_wrong_queries(target: Target, tmp_path: Path):
    job = imported(target, tmp_path, LINES)
    assert read(printed("history", "--json", "--table", "t", "--columns", "job", "rows", "method"))["jobs"] == [
        {"job": job.pk, "rows": 1000, "method": "load_data_local"}
    ]
    assert printed("history", "--csv", "--columns", "rows", "--where", "rows", ">", "999").split() == ["rows", "1000"]
    assert printed("history", "--csv", "--columns", "rows", "--target", "elsewhere").split() == ["rows"]
    shown = printed("history", "--columns", "table", "status").splitlines()
    assert [line.split() for line in shown] == [["table", "status"], [f"{target.database}.t", "succeeded"]]
    assert len(printed("history", "--facts").splitlines()) == len(facts.FACTS)
    with pytest.raises(CommandError, match="Did you mean"):
        call_command("history", "--sort", "row")


@on_one_server
def test_seed_history_refuses_real_imports_unless_with_real_jobs_is_given(target: Target, tmp_path: Path):
    imported(target, tmp_path, LINES)
    with pytest.raises(Problem, match="1 real import"):
        write_history(2, 2)
    write_history(2, 5, tables=1, with_real_jobs=True)
    assert ImportJob.objects.filter(target__name__startswith="seeded-").count() == 2
    # Made up or not: nobody takes them for work that is left to do.
    sweep.sweep_jobs(lambda *_: None)
    assert Chunk.objects.filter(status__in=Chunk.IN_FLIGHT).count() == 0
    assert SourceFile.objects.filter(owned=False, name__startswith="seeded-").exists()


def printed(*command: str) -> str:
    out = StringIO()
    call_command(*command, stdout=out)
    return out.getvalue()

"""Tests `python -m bench` from its command line to the report, on every server, and its check of the loaded rows."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from bench.content import WrongContent, check_tables, content_of
from bench.files import files_of
from bench.servers import DATABASE, Server, make_database
from bench.ways import empty_tables, way
from bench.workloads import WORKLOADS
from importer.engine.mysql.connection import connect, execute
from tests.stack import ROOT

pytestmark = pytest.mark.both_servers

ROWS = 2000
SAMPLE = 40


def bench_server(server) -> Server:
    measured = Server(server.flavour, replace(server.address, database=DATABASE))
    make_database(measured)
    return measured


def test_the_command_measures_every_server_and_writes_json_markdown_and_charts(servers, tmp_path):
    named = [f"--server={name}=mysql://root@127.0.0.1:{each.address.port}/" for name, each in servers.items()]
    ways = ["single", "after-2", "insert-1", "millrace:indexes=defer", "millrace"]
    done = subprocess.run(
        [
            *(sys.executable, "-m", "bench", *named, f"--rows={ROWS}", f"--sample={SAMPLE}"),
            *("--rounds=1", "--warm-up=0", "--workloads", "mixed", "indexed", "--ways", *ways),
            *(f"--folder={tmp_path}", f"--results={tmp_path / 'results'}"),
        ],
        cwd=ROOT, env={**os.environ, "DATABASE_URL": ""}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    report = Path(done.stdout.split()[-1])
    results = json.loads(report.with_suffix(".json").read_text())

    measured = {(run["server"], run["workload"], run["way"]): run for run in results["runs"]}
    expected = {(name, on, each) for name in servers for on in ("mixed", "indexed") for each in ways}
    assert set(measured) == expected - {(name, "mixed", "after-2") for name in servers}
    assert {each["way"] for each in results["left_out"]} == {"after-2"}
    for (_, on, name), run in measured.items():
        assert run["rows"] == (SAMPLE if name == "insert-1" else ROWS)
        assert run["sample"] == (name == "insert-1")
        # The best raw way is chosen among those with the same value of `keys`.
        later = on == "indexed" and name in ("after-2", "millrace:indexes=defer")
        assert later or name == "millrace" or run["keys"] == "before"
        assert run["keys"] == "after" or not later
        assert 0 < run["first_row"] <= run["seconds"] + 0.05
        assert run["server_log_written"] > 0
        assert run["handover"] or len(os.sched_getaffinity(0)) < 2
        assert 5 < run["peaks"].get("load workers", run["peaks"].get("client")) < 150
    assert {server["variables"]["innodb_flush_log_at_trx_commit"] for server in results["servers"].values()} == {"1"}

    text = report.read_text()
    for name in servers:
        assert f"**{name}**" in text
    assert "| insert-1 (sample) | before |" in text
    assert "millrace, mixed: " in text
    charts = sorted(path.name for path in report.parent.glob("*.svg"))
    assert charts == [f"{report.stem}-{on}.svg" for on in ("indexed", "mixed")]


WAYS = {
    **dict.fromkeys(("single", "split-3", "after-2", "insert-1", "insert-7@2", "copy"), "events-linked"),
    "exchange-2": "partitioned-8",
}


@pytest.mark.parametrize("name", WAYS)
def test_each_way_loads_exactly_the_rows_of_the_files(server, name, tmp_path):
    bench, files = bench_server(server), files_of(WORKLOADS[WAYS[name]], 300, tmp_path)
    tested = way(name, sample=50)
    tested.prepare(bench, files)
    timing = tested.load(bench, files)
    check_tables(bench, files, tested.rows(files), name)
    assert timing.first_row
    assert timing.first_row <= timing.seconds


def test_a_missing_row_a_changed_value_or_a_missing_key_is_detected(server, tmp_path):
    bench, files = bench_server(server), files_of(WORKLOADS["indexed"], 200, tmp_path)
    (table,) = files.workload.tables
    for spoil in (
        "DELETE FROM benchmark_data WHERE id = 3",
        "UPDATE benchmark_data SET b = REVERSE(b) WHERE id = 3",
        "UPDATE benchmark_data SET created = created + INTERVAL 1 SECOND WHERE id = 3",
        "ALTER TABLE benchmark_data DROP KEY a_b",
    ):
        empty_tables(bench, files.workload)
        way("single").load(bench, files)
        check_tables(bench, files, 200, "single")
        assert content_of(bench, table, ",") == files.content(table, 200)
        with connect(bench.address) as connection:
            execute(connection, spoil)
        with pytest.raises(WrongContent, match="indexed, single: benchmark_data"):
            check_tables(bench, files, 200, "single")

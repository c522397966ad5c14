"""Tests the alert rules with Prometheus's own program. tests/dashboard/system/metrics/ tests what they name."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.deploy.values import tool
from tests.stack import ROOT

ALERTS = ROOT / "deploy" / "prometheus" / "alerts.yml"
HOST = 'instance="m", job="millrace"'
HOUR = 60  # minutes; each series has a value for each of them

needs_promtool = pytest.mark.skipif(not tool("promtool"), reason="promtool is not installed; `make chart` does it")

# For each alert: an hour in which it must fire at the end, and one in which it must not. The values are in Prometheus's
# notation: the first one, what is added each minute, and how often.
Series = dict[str, str]
CASES: dict[str, tuple[Series, Series]] = {
    "MillraceDown": ({}, {f'millrace_build_info{{{HOST}, version="1"}}': f"1x{HOUR}"}),
    "MillraceRedisDown": ({f"millrace_redis_up{{{HOST}}}": f"0x{HOUR}"}, {f"millrace_redis_up{{{HOST}}}": f"1x{HOUR}"}),
    "MillraceStoreDown": ({f"millrace_store_up{{{HOST}}}": f"0x{HOUR}"}, {f"millrace_store_up{{{HOST}}}": f"1x{HOUR}"}),
    "MillraceNoLoadWorkers": (
        {
            f"millrace_redis_up{{{HOST}}}": f"1x{HOUR}",
            f'millrace_worker_slots{{{HOST}, role="control"}}': f"2x{HOUR}",
        },
        {f"millrace_redis_up{{{HOST}}}": f"1x{HOUR}", f'millrace_worker_slots{{{HOST}, role="load"}}': f"4x{HOUR}"},
    ),
    "MillraceQueueOld": (
        {f"millrace_queue_age_seconds{{{HOST}}}": f"130x{HOUR}"},
        {f"millrace_queue_age_seconds{{{HOST}}}": f"110x{HOUR}"},
    ),
    "MillraceImportsFail": (
        {f'millrace_imports_ended_total{{{HOST}, target="t", outcome="failed"}}': f"0+0.2x{HOUR}"},
        {f'millrace_imports_ended_total{{{HOST}, target="t", outcome="succeeded"}}': f"0+9x{HOUR}"},
    ),
    "MillraceWorkersDie": (
        {f'millrace_lease_expiries_total{{{HOST}, what="chunk"}}': f"0+0.2x{HOUR}"},
        {f'millrace_lease_expiries_total{{{HOST}, what="chunk"}}': f"0+0.05x{HOUR}"},
    ),
    "MillraceManyRetries": (
        {f'millrace_retries_total{{{HOST}, what="chunk"}}': f"0+2x{HOUR}"},
        {f'millrace_retries_total{{{HOST}, what="import"}}': f"0+2x{HOUR}"},
    ),
    "MillraceManyRejects": (
        {
            f'millrace_rows_total{{{HOST}, target="t", outcome="rejected"}}': f"0+6x{HOUR}",
            f'millrace_rows_total{{{HOST}, target="t", outcome="loaded"}}': f"0+94x{HOUR}",
        },
        {
            f'millrace_rows_total{{{HOST}, target="t", outcome="rejected"}}': f"0+4x{HOUR}",
            f'millrace_rows_total{{{HOST}, target="t", outcome="loaded"}}': f"0+96x{HOUR}",
        },
    ),
    "MillraceOutboxLate": (
        {f"millrace_outbox_lag_seconds{{{HOST}}}": f"700x{HOUR}"},
        {f"millrace_outbox_lag_seconds{{{HOST}}}": f"500x{HOUR}"},
    ),
    "MillraceDiskLow": (
        {
            f'millrace_disk_free_bytes{{{HOST}, folder="VAR_DIR"}}': f"9000x{HOUR}",
            f'millrace_disk_kept_free_bytes{{{HOST}, folder="VAR_DIR"}}': f"1000x{HOUR}",
        },
        {
            f'millrace_disk_free_bytes{{{HOST}, folder="VAR_DIR"}}': f"11000x{HOUR}",
            f'millrace_disk_kept_free_bytes{{{HOST}, folder="VAR_DIR"}}': f"1000x{HOUR}",
        },
    ),
}


def promtool(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(tool("promtool")), *arguments], capture_output=True, text=True)


def case(alert: str, series: Series, *, fires: bool) -> dict[str, Any]:
    """What promtool is to compute: how many alerts of the name fire after an hour."""
    return {
        "name": f"{alert} {'fires' if fires else 'is quiet'}",
        "interval": "1m",
        "input_series": [{"series": name, "values": values} for name, values in series.items()],
        "promql_expr_test": [
            {
                "expr": f'count(ALERTS{{alertname="{alert}", alertstate="firing"}})',
                "eval_time": f"{HOUR}m",
                "exp_samples": [{"labels": "{}", "value": 1}] if fires else [],
            }
        ],
    }


@needs_promtool
def test_prometheus_accepts_the_rules():
    done = promtool("check", "rules", str(ALERTS))
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(CASES)} rules found" in done.stdout


def test_each_alert_has_its_cases():
    rules = yaml.safe_load(ALERTS.read_text())["groups"][0]["rules"]
    assert [each["alert"] for each in rules] == list(CASES)


@needs_promtool
def test_each_alert_fires_when_it_must_and_only_then(tmp_path: Path):
    tests = [
        case(alert, series, fires=fires)
        for alert, (loud, quiet) in CASES.items()
        for series, fires in ((loud, True), (quiet, False))
    ]
    path = tmp_path / "cases.yml"  # JSON is YAML.
    path.write_text(json.dumps({"rule_files": [str(ALERTS)], "evaluation_interval": "1m", "tests": tests}))
    done = promtool("test", "rules", str(path))
    assert done.returncode == 0, done.stdout + done.stderr

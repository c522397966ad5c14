"""Tests the alert rules with Prometheus's own program. tests/dashboard/system/metrics/ tests what they name."""

import subprocess

import pytest

from tests.deploy.values import tool
from tests.stack import ROOT

ALERTS = ROOT / "deploy" / "prometheus" / "alerts.yml"


@pytest.mark.skipif(not tool("promtool"), reason="promtool is not installed; `make chart` does it")
def test_prometheus_accepts_the_rules():
    done = subprocess.run([str(tool("promtool")), "check", "rules", str(ALERTS)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "10 rules found" in done.stdout

"""Tests which packages a command loads at its start: an import in its own processes needs neither queue nor arrays."""

import subprocess
import sys

from tests.stack import ROOT

# Stops where Django would run the command, and prints the packages that are loaded by then.
PROGRAM = """
import sys
from django.core.management import ManagementUtility
from django.core.management.base import BaseCommand

def stop(*_args, **_options):
    # As a load does, and one of some seconds.
    from importer.diagnosis import why
    from importer.worker import load_chunks, local_pool, scan, verify
    print(*sorted({name.partition(".")[0] for name in sys.modules}))
    sys.exit()

BaseCommand.execute = stop
ManagementUtility(["manage.py", "import_csv", "x.csv", "--target", "t", "--table", "t"]).execute()
"""
LATER = {"celery", "kombu", "redis", "msgspec", "botocore", "paramiko", "matplotlib", "numpy"}


def test_import_csv_starts_without_packages_that_it_may_not_need(tmp_path):
    env = {"PATH": "/usr/bin:/bin", "VAR_DIR": str(tmp_path), "DJANGO_SETTINGS_MODULE": "config.settings"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=ROOT, env=env, capture_output=True, text=True, check=True
    )
    loaded = set(done.stdout.split())
    assert {"django", "importer"} <= loaded
    assert loaded & LATER == set()

"""What a worker reads before it forks its processes."""

import os
import subprocess
import sys
from pathlib import Path

from tests.stack import ROOT

BEGINS = """
import sys
import django
django.setup()
import importer.tasks
from celery.signals import celeryd_init
from django.conf import settings
for store in ("", "s3://files"):
    settings.FILE_STORE = store
    celeryd_init.send("load@one")
    print("botocore" in sys.modules)
"""


def test_the_client_of_the_store_is_loaded_once_for_all_and_only_with_a_store(tmp_path: Path):
    env = {**os.environ, "VAR_DIR": str(tmp_path), "DATABASE_URL": ""}
    env["DJANGO_SETTINGS_MODULE"] = "config.settings"
    done = subprocess.run([sys.executable, "-c", BEGINS], cwd=ROOT, env=env, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]

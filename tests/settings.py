"""The application's settings for tests: a folder and a database file of their own, which worker processes share."""

import os
import tempfile
from pathlib import Path

os.environ.setdefault("VAR_DIR", tempfile.mkdtemp(prefix="millrace-test-"))
# So short that a test sees a dead worker's chunk come back.
os.environ.setdefault("LEASE_SECONDS", "4")
os.environ.setdefault("SWEEP_SECONDS", "1")

from config.settings import *

TEST_DATABASE = Path(VAR_DIR) / "test.sqlite3"
DATABASES["default"]["TEST"] = {"NAME": str(TEST_DATABASE)}
STATIC_ROOT.mkdir(exist_ok=True)
# Pages are tested without collectstatic.
STORAGES = {**STORAGES, "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}}

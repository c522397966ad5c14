"""The application's settings for tests: a folder and a database file of their own, which worker processes share."""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

if "VAR_DIR" not in os.environ:
    os.environ["VAR_DIR"] = tempfile.mkdtemp(prefix="millrace-test-")
    atexit.register(shutil.rmtree, os.environ["VAR_DIR"], ignore_errors=True)
# So short that a test sees a dead worker's chunk come back.
os.environ.setdefault("LEASE_SECONDS", "4")
os.environ.setdefault("SWEEP_SECONDS", "1")

from config.settings import *

TEST_DATABASE = Path(VAR_DIR) / "test.sqlite3"
if "sqlite" in DATABASES["default"]["ENGINE"]:
    DATABASES["default"]["TEST"] = {"NAME": str(TEST_DATABASE)}
else:
    DATABASES["default"]["TEST"] = {"CHARSET": "utf8mb4"}
# Requests of tests come from this machine.
METRICS_FROM: list[str] = []
# Some tests set an identity provider.
INSTALLED_APPS.append("allauth.socialaccount.providers.openid_connect")
STATIC_ROOT.mkdir(exist_ok=True)
# Pages are tested without collectstatic.
STORAGES = {**STORAGES, "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}}
PASSWORD_HASHERS = ["tests.hashing.QuickHasher"]

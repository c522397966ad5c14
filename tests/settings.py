"""The application's settings for tests: a folder of their own, made before Django looks at it."""

import os
import tempfile

os.environ.setdefault("VAR_DIR", tempfile.mkdtemp(prefix="millrace-test-"))

from config.settings import *

# Pages are tested without collectstatic.
STORAGES = {**STORAGES, "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}}

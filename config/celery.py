"""The Celery application. config/celery_settings.py has its settings, config/settings.py those of the environment."""

import os

from celery import Celery
from kombu.transport import TRANSPORT_ALIASES

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

# The scheme of a URL names the class that reads it.
TRANSPORT_ALIASES["redis"] = TRANSPORT_ALIASES["rediss"] = "config.broker:Transport"
app = Celery("millrace")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()

"""The Celery application. Its settings are the CELERY_* lines of config/settings.py."""

import os
from typing import Any

from celery import Celery
from celery.signals import celeryd_after_setup, heartbeat_sent, worker_shutdown, worker_shutting_down

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("millrace")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@celeryd_after_setup.connect
def _tell_that_it_lives(instance: Any, **_: object) -> None:
    from importer.worker import presence

    def tell(**_: object) -> None:
        presence.sign_of_life(instance.hostname, instance.concurrency)

    heartbeat_sent.connect(tell, weak=False)


@worker_shutting_down.connect
def _end_soon(**_: object) -> None:
    from importer.worker import shutdown

    shutdown.ask()


@worker_shutdown.connect
def _tell_that_it_ends(sender: Any, **_: object) -> None:
    from importer.worker import presence

    presence.farewell(sender.hostname)

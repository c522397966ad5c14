"""Reads what the processes of a worker need for the store before they are forked, once for all of them."""

from django.conf import settings


def connect_signals() -> None:
    """Connect the handler of a worker's start. Called once, where a worker loads its tasks."""
    from celery.signals import celeryd_init

    celeryd_init.connect(_worker_begins)


def _worker_begins(**_: object) -> None:
    # Before celery_process.py freezes what is there, so that the processes share it.
    if settings.FILE_STORE:
        from importer.sources.store.s3_client import warm_up

        warm_up()

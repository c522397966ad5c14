"""The command lines of the processes, and what they write to their logs."""

import logging

import pytest
from celery.signals import setup_logging

from config.celery import app
from config.telemetry.logs import QUIET, logging_with
from importer.management.processes.command_lines import beat, worker_control, worker_load


@pytest.mark.parametrize("command", [beat, worker_load, worker_control])
def test_a_process_of_celery_logs_at_the_level_of_the_setting(command, settings):
    """Celery gives the root logger the level of its own command line, and would undo LOG_LEVEL."""
    assert not setup_logging.receivers, "then Celery leaves the loggers alone"
    settings.LOGGING = logging_with("line", "error")
    assert "--loglevel=ERROR" in command()


@pytest.mark.parametrize(("level", "shown"), [("INFO", False), ("DEBUG", True)])
def test_lines_for_each_task_are_written_only_for_debugging(level: str, shown: bool, settings):
    root, before = logging.getLogger(), {name: logging.getLogger(name).level for name in ("root", *QUIET)}
    try:
        for name in QUIET:
            logging.getLogger(name).setLevel(logging.NOTSET)
        logging.config.dictConfig({**logging_with("line", level), "handlers": {}, "root": {"level": level}})
        app.log.setup_logging_subsystem(loglevel=level)
        assert {logging.getLogger(name).isEnabledFor(logging.INFO) for name in QUIET} == {shown}
    finally:
        for name, was in before.items():
            (root if name == "root" else logging.getLogger(name)).setLevel(was)

"""Celery's beat while the clock is set to another time: each task is sent within its period all the same."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from celery import Celery
from celery.schedules import schedule
from django.conf import settings

from config.beat import Scheduler

PERIODS = {"tick": 5, "sweep": 15, "retain": 60}


class Clock:
    """The time, which the test sets. Entries are stored, and so find it by the name of a function."""

    now = datetime(2026, 11, 29, 8, tzinfo=UTC)


def now() -> datetime:
    return Clock.now


class Recording(Scheduler):
    """Records the tasks that it would send."""

    sent: Counter[str]

    @property
    def producer(self) -> None:
        """None: nothing is sent."""

    def apply_entry(self, entry: Any, producer: Any = None) -> None:
        del producer
        self.sent[entry.name] += 1


def beat(folder: Path) -> Recording:
    app = Celery("test", set_as_current=False)
    app.conf.beat_schedule = {
        name: {"task": name, "schedule": schedule(seconds, nowfun=now, app=app)} for name, seconds in PERIODS.items()
    }
    made = Recording(app, schedule_filename=str(folder / "beat"), max_interval=settings.CELERY_BEAT_MAX_LOOP_INTERVAL)
    made.sent = Counter()
    return made


def run(made: Recording, seconds: float) -> Counter[str]:
    """What it sends in this time, in which it sleeps as long as it wants."""
    made.sent, until = Counter(), Clock.now + timedelta(seconds=seconds)
    while Clock.now < until:
        slept = made.tick()
        assert slept <= settings.SWEEP_SECONDS
        Clock.now += timedelta(seconds=max(slept, 0) + 0.01)
    return made.sent


@pytest.mark.parametrize("jump", [-600, -3600, -86400, 3600, 86400])
def test_every_task_is_sent_within_its_period_after_the_clock_was_set(jump: int, tmp_path: Path):
    made = beat(tmp_path)
    run(made, 120)
    Clock.now += timedelta(seconds=jump)
    sent = run(made, 125)
    made.close()
    for name, period in PERIODS.items():
        assert sent[name] >= 120 // period - 1, sent


def test_the_application_runs_it():
    assert settings.CELERY_BEAT_SCHEDULER == "config.beat:Scheduler"

"""Celery's beat, which survives a clock that is set back."""

from typing import Any

from celery.beat import PersistentScheduler


class Scheduler(PersistentScheduler):  # type: ignore[misc]  # Celery has no types.
    """Sends each task again within its period, wherever the clock has been set to.

    Celery (5.7, celery/beat.py) compares the time at which it sent a task last, and would wait until the clock has
    caught up with that, in sleeps of five minutes.
    """

    def tick(self, *args: Any, **kwargs: Any) -> float:
        """Send a task that is due. Returns the seconds until the next look."""
        for entry in self.schedule.values():
            if entry.last_run_at > (now := entry.default_now()):
                entry.last_run_at, self._heap = now, None  # Fills the heap again.
        seconds: float = super().tick(*args, **kwargs)
        return seconds

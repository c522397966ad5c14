"""The line that shows how far an import is: a bar on a terminal, lines on one that cannot move its cursor."""

import os
import sys
import time
from collections import deque
from typing import Any

from importer.engine.units import human_bytes
from importer.models import ImportJob

# An import that ends sooner needs no bar, and what draws bars is not imported.
FIRST_AFTER = 0.5  # seconds
LINE_EVERY = 10.0  # seconds between two lines on a dumb terminal
# The time left is estimated by the pace of the last PACE_SECONDS.
PACE_SECONDS = 60.0
BAR = "{desc}: {percentage:3.0f}%|{bar:20}| {postfix}"


class Progress:
    """Writes to standard error, if that is a terminal and `quiet` is not set."""

    def __init__(self, quiet: bool) -> None:
        self._quiet = quiet or not sys.stderr.isatty()
        self._dumb = os.environ.get("TERM", "dumb") == "dumb"
        self._due = time.monotonic() + FIRST_AFTER
        self._seen: deque[tuple[float, int, int]] = deque()
        self._bar: Any = None

    def show(self, job: ImportJob, waits_for: str = "") -> None:
        """Show the job's present state; `waits_for`: the cause that it waits for, "" for none."""
        if self._quiet:
            return
        now = time.monotonic()
        self._seen.append((now, _committed(job), job.accounted_rows))
        while now - self._seen[0][0] > PACE_SECONDS:
            self._seen.popleft()
        if now < self._due:
            return
        text = f"{self._text(job)}{waits_for and f': {waits_for}'}"
        if self._dumb:
            self._due = now + LINE_EVERY
            sys.stderr.write(f"import {job.pk}: {text}\n")
        else:
            self._draw(job, text)

    def write(self, text: str) -> None:
        """Write a line to standard error, above the bar."""
        if self._bar is None:
            sys.stderr.write(f"{text}\n")
        else:
            self._bar.write(text, file=sys.stderr)
        sys.stderr.flush()

    def close(self) -> None:
        """Leave the bar as it is."""
        if self._bar is not None:
            self._bar.close()

    def _draw(self, job: ImportJob, text: str) -> None:
        if self._bar is None:
            from tqdm import tqdm  # Imported here: a small file has no bar.

            tqdm.monitor_interval = 0  # No thread of its own.
            self._bar = tqdm(total=job.read_size, desc=f"import {job.pk}", bar_format=BAR, dynamic_ncols=True)
        self._bar.total = max(job.read_size, _committed(job))
        self._bar.n = _committed(job)
        self._bar.set_postfix_str(text)

    def _text(self, job: ImportJob) -> str:
        """Bytes, rows, rate, time left and phase."""
        (began, bytes_before, rows_before), (now, so_far, rows) = self._seen[0], self._seen[-1]
        seconds = now - began
        parts = [f"{human_bytes(so_far)} of {human_bytes(job.read_size)}", f"{rows:,} rows"]
        if seconds > 0 and so_far > bytes_before:
            left = max(0, job.read_size - so_far) / (so_far - bytes_before) * seconds
            parts += [f"{(rows - rows_before) / seconds:,.0f} rows/s", f"{_duration(left)} left"]
        return ", ".join((*parts, job.status))


def _committed(job: ImportJob) -> int:
    return job.data_offset + job.committed_bytes


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {rest:02} s" if minutes else f"{rest} s"

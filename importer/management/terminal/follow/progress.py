"""The line that shows how far an import is: a bar on a terminal, lines on one that cannot move its cursor."""

import os
import sys
import time
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from config.plain_text import for_terminal, one_line
from importer.engine.units import count_of, human_bytes

if TYPE_CHECKING:
    from importer.models import ImportJob

# An import that ends sooner needs no bar, and what draws bars is not imported.
FIRST_AFTER = 0.5  # seconds
LINE_EVERY = 10.0  # seconds between two lines on a dumb terminal
# The time left is estimated by the pace of the last PACE_SECONDS.
PACE_SECONDS = 60.0
BAR = "{bar:20} {percentage:3.0f}% {desc}"


@dataclass(frozen=True)
class Amounts:
    """How far something is: `done` of `size` bytes, and the rows in them."""

    done: int
    size: int
    rows: int


class Progress:
    """Writes to standard error, if that is a terminal and `quiet` is not set."""

    def __init__(self, quiet: bool) -> None:
        self._quiet = quiet or not sys.stderr.isatty()
        self._dumb = os.environ.get("TERM", "dumb") == "dumb"
        self._due = time.monotonic() + FIRST_AFTER
        self._seen: deque[tuple[float, Amounts]] = deque()
        self._bar: Any = None

    def show(self, job: "ImportJob", waits_for: str = "") -> None:
        """Show the job's present state; `waits_for`: the cause that it waits for, "" for none."""
        done = Amounts(job.data_offset + job.committed_bytes, job.read_size, job.accounted_rows)
        self.show_amounts(f"import {job.pk}", done, f"{job.status}{waits_for and f': {waits_for}'}")

    def show_amounts(self, what: str, amounts: Amounts, phase: str) -> None:
        """Show how far `what` is, and its phase."""
        if self._quiet:
            return
        now = time.monotonic()
        self._seen.append((now, amounts))
        while now - self._seen[0][0] > PACE_SECONDS:
            self._seen.popleft()
        if now < self._due:
            return
        text = f"{self._text()}, {phase}"
        if self._dumb:
            self._due = now + LINE_EVERY
            sys.stderr.write(f"{what}: {text}\n")
        else:
            self._draw(what, amounts, text)

    def write(self, text: str) -> None:
        """Write a line to standard error, above the bar."""
        if self._bar is None:
            sys.stderr.write(f"{text}\n")
        else:
            # The bar's own stream, which bears that the terminal is closed.
            self._bar.write(for_terminal(text), file=self._bar.fp)
        sys.stderr.flush()

    def close(self) -> None:
        """Leave the bar as it is."""
        if self._bar is not None:
            self._bar.close()

    def _draw(self, what: str, amounts: Amounts, text: str) -> None:
        if self._bar is None:
            from tqdm import tqdm  # Imported here: a small file has no bar.

            tqdm.monitor_interval = 0  # No thread of its own.
            # Not the guarded stream, which shows the bar's own control characters: the texts are guarded here.
            self._bar = tqdm(total=amounts.size, file=sys.__stderr__, bar_format=BAR, dynamic_ncols=True)
        self._bar.total = max(amounts.size, amounts.done)
        self._bar.n = amounts.done
        self._bar.set_description_str(one_line(f"{what}: {text}"))

    def _text(self) -> str:
        """Bytes, rows, rate and time left."""
        (began, before), (now, last) = self._seen[0], self._seen[-1]
        seconds, more = now - began, last.done - before.done
        parts = [f"{human_bytes(last.done)} of {human_bytes(last.size)}", count_of(last.rows, "row")]
        if seconds > 0 and more > 0:
            left = max(0, last.size - last.done) / more * seconds
            parts += [f"{(last.rows - before.rows) / seconds:,.0f} rows/s", f"{_duration(left)} left"]
        return ", ".join(parts)


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {rest:02} s" if minutes else f"{rest} s"

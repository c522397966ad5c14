"""Says on the command line why an import waits or is slow.

What looks at servers is imported when it first looks: a small file is loaded by then.
"""

import sys
import time
from typing import TYPE_CHECKING

from importer.models import ImportJob

if TYPE_CHECKING:
    from importer.diagnosis.watch import MemoryBoard
    from importer.engine.mysql.diagnosis.cause import Explanation

# An import that ends sooner is not looked at.
FIRST_LOOK, LOOK_EVERY = 5.0, 2.0  # seconds
# The command that follows an import says these in its own words.
SAID_OTHERWISE = ("other_import", "no_worker", "approval")


class WaitingSaid:
    """Writes each cause to standard error once, while a command follows an import."""

    def __init__(self) -> None:
        self._board: MemoryBoard | None = None
        self._due = time.monotonic() + FIRST_LOOK
        self._said: set[tuple[str, int]] = set()
        self.now = ""

    def look(self, job: ImportJob) -> None:
        """Say what is new. `now` is the present sentence, "" for none."""
        if job.ended or time.monotonic() < self._due:
            return
        self._due = time.monotonic() + LOOK_EVERY
        from importer.diagnosis.watch import MemoryBoard
        from importer.diagnosis.why import why

        self._board = self._board or MemoryBoard()
        found = [each for each in why(job, board=self._board).explanations if each.cause not in SAID_OTHERWISE]
        self.now = found[0].what if found else ""
        for each in found:
            if (each.cause, each.holder) not in self._said:
                self._said.add((each.cause, each.holder))
                sys.stderr.write(f"{in_words(each)}\n")


def in_words(explanation: "Explanation") -> str:
    """The explanation in a line."""
    parts = (explanation.what, explanation.evidence, explanation.advice)
    return " ".join(filter(None, parts))

"""How each state looks, on every page and in every message: one colour and one icon for each word."""

from collections.abc import Mapping

from importer.models.job import ImportJob
from importer.models.lab import Lab
from importer.models.outcomes import HELD_UP, OUTCOMES, SUCCEEDED, Colour, Outcome
from importer.models.schedule import ScheduleRun

# A run that found no file to load: neither good nor bad.
NO_NEW_FILE = Outcome("no new file", 0, Colour.GREY, "minus")
# A run that loaded nothing, since the files that it found were still written to. A later run looks for them.
NO_COMPLETE_FILE = Outcome("no complete file", 0, Colour.GREY, "clock")
# In short, for a run that did not end well and was dealt with since.
SETTLED = "settled since"
# Of due times that passed while nothing ran: also the note of the run that stands for them.
MISSED = "missed"
# Of due times that have passed, and whose run nothing has begun yet.
OVERDUE = "overdue"
# Between the words of an outcome and of what came after it.
THEN = ", then "
# The icon of what is under way is a dot that moves, which has no file.
DOT = ""

_Job, _Run, _Lab = ImportJob.Status, ScheduleRun.Status, Lab.Status
_STATES: Mapping[str, tuple[Colour, str]] = {
    **dict.fromkeys((_Job.LOADING, _Job.FINISHING, _Job.INDEXING, _Job.VERIFYING), (Colour.AZURE, DOT)),
    **dict.fromkeys((_Run.FINDING, _Lab.PREPARING, _Lab.RUNNING, _Lab.ENDING), (Colour.AZURE, DOT)),
    _Job.WAITING: (Colour.GREY, "clock"),
    _Job.PAUSED: (Colour.AMBER, "pause"),
    _Job.FAILING: (Colour.RED, DOT),
    _Job.CANCELLING: (Colour.GREY, DOT),
    _Run.SKIPPED: (Colour.GREY, "minus"),
    _Lab.DONE: (SUCCEEDED.colour, SUCCEEDED.icon),
    **dict.fromkeys(("late", HELD_UP), (Colour.AMBER, "clock")),
    MISSED: (Colour.AMBER, "skip"),
    OVERDUE: (Colour.RED, "hourglass"),
    SETTLED: (SUCCEEDED.colour, SUCCEEDED.icon),
}
LOOKS: Mapping[str, Outcome] = {
    **{str(words): Outcome(str(words), 0, colour, icon) for words, (colour, icon) in _STATES.items()},
    **{each.words: each for each in (*OUTCOMES, NO_NEW_FILE, NO_COMPLETE_FILE)},
}


def look_of(words: str) -> Outcome:
    """The colour and icon of a state or an outcome, by its word; grey with a line for one that has none.

    What came after an outcome (sequels.py) has the look of what is settled.
    """
    if THEN in words:
        return Outcome(words, 0, SUCCEEDED.colour, SUCCEEDED.icon)
    return LOOKS.get(words, Outcome(words, 0, Colour.GREY, "minus"))

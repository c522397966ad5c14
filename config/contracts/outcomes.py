"""The outcomes of an import: words, exit codes, colours and icons, each declared once (docs/contracts.md).

Nothing here needs Django. importer/models/outcomes says which outcome a job or a problem has.
"""

from dataclasses import dataclass
from enum import StrEnum


class Colour(StrEnum):
    """What a colour says: in order, look at it, somebody has to answer, not done, under way, nothing to do."""

    GREEN = "green"
    AMBER = "amber"
    BLUE = "blue"
    RED = "red"
    AZURE = "azure"
    GREY = "grey"

    @property
    def css(self) -> str:
        """Tabler's name of the colour, in the names of classes."""
        return _TABLER.get(self.value, self.value)

    @property
    def hex(self) -> str:
        """The colour of text on white, for mail, which has no style sheet."""
        return _HEX[self.value]


_TABLER = {"amber": "yellow", "grey": "secondary"}
_HEX = {
    "green": "#1f7a3a",
    "amber": "#8a5a00",
    "blue": "#1c5fa8",
    "red": "#b42323",
    "azure": "#1c5fa8",
    "grey": "#5b6470",
}


@dataclass(frozen=True)
class Outcome:
    """How an import or a schedule's run ended. `icon` is the name of a file in templates/shared/icons."""

    words: str
    exit_code: int
    colour: Colour
    icon: str

    def __str__(self) -> str:
        return self.words

    @property
    def is_unwell(self) -> bool:
        """Whether somebody has to look at it, until something makes up for it."""
        return self.colour in (Colour.RED, Colour.AMBER)


SUCCEEDED = Outcome("succeeded", 0, Colour.GREEN, "check")
WITH_REJECTS = Outcome("completed with rejects", 5, Colour.AMBER, "warning")
NEEDS_ANSWER = Outcome("needs an answer", 3, Colour.BLUE, "question")
REFUSED = Outcome("refused", 4, Colour.RED, "forbidden")
FAILED = Outcome("failed", 6, Colour.RED, "cross")
UNREACHABLE = Outcome("target unreachable", 7, Colour.RED, "unplugged")
CANCELLED = Outcome("cancelled", 8, Colour.GREY, "stop")
RESTORED = Outcome("restored", 0, Colour.GREY, "undo")
# Nothing was to be changed.
PREVIEWED = Outcome("previewed", 0, Colour.GREY, "file")
# Not the end: it continues when another person has approved its plan.
UNAPPROVED = Outcome("waits for approval", 9, Colour.BLUE, "person")
# A limit of changes has stopped it; it continues when somebody applies what is staged all the same.
UNDECIDED = Outcome("waits for a decision", 11, Colour.BLUE, "question")
OUTCOMES = (
    *(SUCCEEDED, WITH_REJECTS, NEEDS_ANSWER, REFUSED, FAILED, UNREACHABLE, CANCELLED, RESTORED, PREVIEWED),
    *(UNAPPROVED, UNDECIDED),
)
# Of commands only: the command line is wrong, a check has found rows that could not be loaded, or the command has
# failed or could not follow the import.
WRONG_USAGE = Outcome("wrong usage", 2, Colour.RED, "question")
FOUND_BAD_ROWS = Outcome("rows with problems", 10, Colour.AMBER, "warning")
UNKNOWN = 1
# The reader of the output has gone, as in `millrace history | head`: what a shell says of a program that SIGPIPE ended.
READER_GONE = 141

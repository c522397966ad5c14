"""Where commands say what they have to say: lines for people, or with --json exactly one document."""

import json
from collections.abc import Callable, Iterable, Mapping
from tempfile import SpooledTemporaryFile
from typing import IO, Any

from config.contracts.documents import Document

IN_MEMORY = 1 << 20  # characters of a document; the rest of a long one lies in a temporary file
# What `list` says instead of nothing.
NONE_TO_LIST: Mapping[str, str] = {
    "channel": "There are no channels to list. To add one: millrace channel add NAME --mail ADDRESS",
    "connection": "There are no connections to list. To add one: millrace connection add NAME PLACE",
    "group": "There are no groups to list. To add one: millrace group add NAME",
    "job": "There are no imports to list. To begin one: millrace load FILE --to TARGET --table TABLE",
    "lab": "There are no labs to list. To begin one: millrace lab --help",
    "preset": "There are no presets to list. The page of a new import saves its settings as one.",
    "schedule": "There are no schedules to list. To make one: millrace schedule create-from-job --help",
    "target": "There are no targets to list. To add one: millrace target add NAME mysql://USER@HOST/DATABASE",
    "user": "There are no people to list. To add one: millrace user add NAME --role ROLE",
}


class Output:
    """The output of one command. `report`: that of the import which the command follows, once it has begun."""

    as_json = False
    report: dict[str, Any] | None = None
    _given: IO[str] | None = None

    @property
    def word(self) -> str:
        """The command, as NONE_TO_LIST has it."""
        raise NotImplementedError

    def say(self, line: str) -> None:
        """Print a line; with --json it is in the document of a command without one of its own."""
        raise NotImplementedError

    def write(self, text: str) -> None:
        """Print a part of a text that is no document, as it is."""
        raise NotImplementedError

    def warn(self, line: str) -> None:
        """Print a line to standard error."""
        raise NotImplementedError

    def write_list(self, lines: Iterable[str]) -> None:
        """Print the lines of the verb `list`; on standard error that there are none, and how to add one."""
        empty = True
        for line in lines:
            empty = False
            self.say(line)
        if empty and not self.as_json:
            self.warn(NONE_TO_LIST[self.word])

    def give(self, document: Document, values: Mapping[str, Any]) -> None:
        """Print this document at the end, if --json asks for it."""
        self.give_whole(document.of(values))

    def give_whole(self, document: Mapping[str, Any]) -> None:
        """The same for a document that names its schema."""
        if self.as_json:
            self.give_parts((json.dumps(document, indent=2), "\n"))

    def give_parts(self, parts: Iterable[str]) -> None:
        """The same for the document that these parts are together. It ends with a line feed."""
        given = SpooledTemporaryFile(IN_MEMORY, "w+", encoding="utf-8", newline="")  # noqa: SIM115 - printed later
        for part in parts:
            given.write(part)
        self._given = given

    def print_given(self, write: Callable[[str], object]) -> None:
        """Write the document that was given."""
        assert self._given
        with self._given as given:
            given.seek(0)
            for line in given:
                write(line)

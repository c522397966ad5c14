"""Logs for programs: each record is one JSON object in one line (LOG_FORMAT=json; docs/operations.md)."""

import json
import logging
from collections.abc import Mapping
from datetime import UTC, datetime


class JsonFormatter(logging.Formatter):
    """A record as JSON: time (UTC), level, logger, process and message; job and chunk if the record is about one.

    They are taken from the arguments of the message that have `log_ids`: imports, chunks and runs of chunks. A text is
    never searched for them, since others write file names. Each character beyond ASCII is an escape, so that no text
    from outside begins a line or controls a terminal.
    """

    def format(self, record: logging.LogRecord) -> str:
        """The line of the record."""
        document = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "process": record.process,
            "message": record.getMessage(),
            **ids_of(record),
        }
        if record.exc_info:
            document["exception"] = self.formatException(record.exc_info)
        return json.dumps(document)


def ids_of(record: logging.LogRecord) -> dict[str, int]:
    """The ids of the import and the chunk that the record is about, by `job` and `chunk`."""
    arguments = record.args if isinstance(record.args, tuple) else ()
    ids: dict[str, int] = {}
    for each in arguments:
        found = getattr(each, "log_ids", None)
        if isinstance(found, Mapping):
            ids |= {name: number for name, number in found.items() if name not in ids}
    return ids

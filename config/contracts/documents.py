"""The JSON documents that Millrace prints and sends, each declared once. docs/schemas has the schema of each."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Document:
    """One kind of document. `about`: what it is and who prints it. `version` changes as docs/contracts.md says."""

    name: str
    about: str
    version: int = 1

    @property
    def schema(self) -> str:
        """What its key `schema` has."""
        return f"millrace.{self.name}/{self.version}"

    def of(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The document with these values."""
        return {"schema": self.schema, **values}

    def parts(self, name: str, rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
        """The text of the document that has one list of this name, with each row on a line, as they come."""
        yield f'{{"schema": {json.dumps(self.schema)}, "{name}": ['
        before = ""
        for row in rows:
            yield f"{before}\n{json.dumps(row, ensure_ascii=False)}"
            before = ","
        yield "\n]}\n" if before else "]}\n"


REPORT = Document("report", "an import: load, plan, and the verbs of job")
CHECK = Document("check", "a whole file that was read and not loaded: check")
PROBLEM = Document("problem", "why a command that is not about an import failed")
DONE = Document("done", "what a command without a document of its own has done")
JOBS = Document("jobs", "the latest imports: job list")
CAUSES = Document("causes", "why an import waits or is slow: job why")
HISTORY = Document("history", "facts of ended imports: history, and the download of its page")
KEPT_TABLE = Document("kept-table", "the old table, or old rows, that an import has kept: kept-table restore and drop")
TARGETS = Document("targets", "all targets: target list")
TARGET_CHECK = Document("target-check", "what works on a target, and what does not: target check")
CONNECTIONS = Document("connections", "all connections: connection list")
CONNECTION_CHECK = Document("connection-check", "what works on a connection, and what does not: connection check")
CHANNELS = Document("channels", "all channels: channel list")
CHANNEL = Document("channel", "a new channel, with its secret: channel add")
CHANNEL_TEST = Document("channel-test", "whether a channel accepts a message: channel test")
SCHEDULES = Document("schedules", "all schedules: schedule list")
SCHEDULE = Document("schedule", "one schedule: schedule show, create-from-job, pause and resume")
SCHEDULE_RUN = Document("schedule-run", "one run of a schedule: schedule run")
LABS = Document("labs", "all labs: lab list")
LAB = Document("lab", "one lab with its results: lab run and show")
EXPERIMENTS = Document("experiments", "the published measurements: experiment list")
EXPERIMENT = Document("experiment", "a repeated measurement: experiment run")
PRESETS = Document("presets", "all presets: preset list")
PRESET = Document("preset", "one preset, for another installation: preset export and show")
APPLY = Document("apply", "what a file changes, or would change: apply")
USERS = Document("users", "all people: user list")
USER = Document("user", "one person, with groups, grants and tokens: user show")
INVITATION = Document("invitation", "the link that sets a password: user add and reset")
TOKEN = Document("token", "a new token: user token")
GROUPS = Document("groups", "all groups of people: group list")
RETENTION = Document("retention", "how long things are kept: retention show")
EVENT = Document("event", "the body of a webhook")

DOCUMENTS: Mapping[str, Document] = {
    each.schema: each for each in tuple(globals().values()) if isinstance(each, Document)
}

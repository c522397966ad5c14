"""An import of a step that a scheduler tries again: begun once, continued by later tries, and never loaded twice."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from millrace_client.api import Json, Millrace
from millrace_client.problems import Problem, ServerProblem, SourceProblem, may_be_done

READ_BYTES = 2**20
# Outcomes of imports of which a retry loads what is missing.
RETRIED = ("failed", "cancelled", "target unreachable")
# What a scheduler keeps of a report: the whole of it is on the import's page.
KEPT = ("job", "outcome", "balanced", "rows", "loaded_before", "seconds", "rates")


@dataclass(frozen=True)
class Repeatable:
    """One step of a scheduler that imports.

    `step`: what names the step and its run, the same in each try. `wanted`: the body of POST imports. `file`: a file of
    this machine that is uploaded; "" if the body names another one.
    """

    millrace: Millrace
    step: Sequence[str]
    wanted: Mapping[str, object]
    file: str = ""

    @property
    def key(self) -> str:
        """The Idempotency-Key: another one for another content of the file, so that a corrected file is loaded.

        Raises SourceProblem if the file cannot be read.
        """
        named = json.dumps([*self.step, dict(self.wanted), self.file and _digest(self.file)], sort_keys=True)
        return f"step-{hashlib.sha256(named.encode()).hexdigest()}"

    def begin(self) -> Json:
        """The report of the step's import: that of an earlier try, which is retried if it has failed, or a new one.

        With the option `once` it may be that of another import, which has loaded the content before. Raises Problem.
        """
        report = self.begun()
        if report is None:
            return self._start()
        return self.millrace.retry(report["job"]) if report["outcome"] in RETRIED else report

    def begun(self) -> Json | None:
        """The report of the import that an earlier try has begun; None without one."""
        return self.millrace.started(self.key)

    def _start(self) -> Json:
        body, key = dict(self.wanted), self.key
        if self.file:
            body["file"] = self.millrace.upload(self.file)
        try:
            return self.millrace.start(body, key)
        except Problem as problem:
            if self.file and not may_be_done(problem) and not self.millrace.is_shared(str(body["file"])):
                with suppress(Problem):
                    self.millrace.remove_upload(str(body["file"]))
            before = isinstance(problem, ServerProblem) and (problem.report or {}).get("loaded_before")
            if not before:
                raise
            return self.millrace.report(before["job"])


def kept(report: Mapping[str, object]) -> Json:
    """The part of a report that a scheduler keeps."""
    return {name: report[name] for name in KEPT}


def body_of(target: str, table: str, preset: str, once: bool, more: Mapping[str, object]) -> Json:
    """The body of POST imports from the usual parts of a step; `more`: any other part of it (docs/api.md)."""
    options = {**_mapping(more.get("options")), **({"once": True} if once else {})}
    named = {**more, "target": target, "table": table, "preset": preset, "options": options}
    return {name: value for name, value in named.items() if value}


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def _digest(file: str) -> str:
    digest = hashlib.sha256()
    try:
        with Path(file).open("rb") as content:
            while piece := content.read(READ_BYTES):
                digest.update(piece)
    except OSError as error:
        raise SourceProblem(f"The file cannot be read: {error.strerror or error}.", file) from error
    return digest.hexdigest()

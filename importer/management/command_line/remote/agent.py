"""`millrace --server URL mcp`: a server of the Model Context Protocol, by which an agent works with Millrace.

It speaks over standard input and output, and works by the API with a token: an agent may do what the token may. It
approves nothing itself, so nothing is written that needs a person's approval and does not have it.
"""

import json
import threading
import uuid
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

from config.version import VERSION
from importer.engine.errors import Problem, SourceProblem, how_to_install
from importer.management.command_line.remote.problems import PROBLEMS, in_words
from importer.management.verbs.verb import Context, Verb, option
from millrace_client.api import Json, Millrace
from millrace_client.problems import NOT_FOUND, ServerProblem

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer
ABOUT = "let an agent plan, load and watch (Model Context Protocol)"
MOST_SECONDS = 300  # that one call of `watch` waits
INSTRUCTIONS = """Loads files into MySQL and MariaDB tables, and proves that every row arrived.

Call `plan` first: it writes nothing. If its outcome is "needs an answer", show the questions of `reading.guesses` to a
person, and call `plan` again with `answers`. Then call `load` with the same arguments, and `watch` until the outcome is
not null. An import with the outcome "waits for approval" has written nothing: `approve` says where a person decides.
To show first what a file would change in a table with rows, call `load` with the option `preview` in modes update and
sync: `compared` has counts and first rows. Then `apply` changes exactly that. An import with the outcome "waits for a
decision" would change more than its limits allow: a person applies it on its page, or `drop` ends it."""
# The parts of a report that an agent needs. The page of the import shows a person all of it.
SHOWN = (
    *("job", "outcome", "balanced", "rows", "compared", "undo", "reading", "plan", "loaded_before"),
    *("approval", "rejects", "notices", "outside_changes", "problem"),
)


def _run(context: Context) -> None:
    """Serve an agent until it closes standard input."""
    server(Agent(context.api, context.options.files)).run("stdio")


_FileState = tuple[Path, int, int]  # path, bytes, and time of the last change


class Agent:
    """The tools. Each answers with a part of the report (docs/contracts.md), and raises Problem.

    Signature and docstring of a tool are what an agent is shown of it; so `plan` and `load` both name their arguments.
    """

    def __init__(self, millrace: Millrace, folder: Path) -> None:
        """`folder`: the files below it may be uploaded."""
        self._millrace, self._folder = millrace, folder.resolve()
        # The uploads by path and state of the file, so that a load sends nothing again that a plan has sent. A call
        # that an agent has given up still runs when the agent calls again: each file has a lock while it is sent.
        self._uploads: dict[_FileState, str] = {}
        self._sending: dict[_FileState, threading.Lock] = {}
        # The requests for imports with their keys, by which the server answers a repeated one with the same import.
        self._requests: dict[str, tuple[Json, str]] = {}

    def targets(self) -> list[Json]:
        """List the targets, which are databases, that the token may load into."""
        names = ("name", "host", "database", "needs_approval", "passed")
        return [{name: each[name] for name in names} for each in self._millrace.pages("list_targets")]

    def plan(
        self,
        target: str = "",
        table: str = "",
        files: Sequence[str] = (),
        connection: str = "",
        settings: Mapping[str, Any] | None = None,
        answers: Mapping[str, str] | None = None,
    ) -> Json:
        """Show how files would be read and loaded: reading, plan, SQL, open questions. Writes nothing.

        `files`: paths below the allowed folder, or with `connection` names or patterns there. `settings`: further
        fields of the body of POST /api/v1/plans, such as {"options": {"mode": "upsert", "on_error": "reject"}}.
        {"like": 17} repeats import 17, but for what is given here: then `target` and `table` may be left out.
        `answers`: to the questions, by `name` (or `name:field`), each the `label` of an answer.
        """
        return _shown(self._millrace.plan(self._wanted(target, table, files, connection, settings, answers)))

    def load(
        self,
        target: str = "",
        table: str = "",
        files: Sequence[str] = (),
        connection: str = "",
        settings: Mapping[str, Any] | None = None,
        answers: Mapping[str, str] | None = None,
        again: bool = False,
    ) -> Json:
        """Start an import with the arguments of a plan. Answers at once, with the number of the import in `job`.

        A repeated call with the same arguments and unchanged files starts nothing within 24 hours, and answers with the
        same import. `again`: start another one, which loads all rows once more; only if a person wants that.
        """
        wanted = self._wanted(target, table, files, connection, settings, answers)
        request, new = json.dumps(wanted, sort_keys=True), (wanted, str(uuid.uuid4()))
        if again:
            self._requests[request] = new
        return _shown(self._millrace.start(*self._requests.setdefault(request, new)))

    def watch(self, job: int, seconds: int = 30) -> Json:
        """Wait until an import is over, at most this number of seconds; its outcome is null while it is under way."""
        report = self._millrace.report_within(job, min(seconds, MOST_SECONDS))
        return _shown(report) | {"page": self._page(job)}

    def approve(self, job: int) -> Json:
        """Say whether an import has the approval that it needs, and at which page a person gives it.

        An agent approves none: another person than the one who started it does, by the digest of what it would do.
        """
        report = self._millrace.report(job)
        approval = report["approval"]
        waits = bool(approval) and not approval["approved_at"]
        known = {"job": job, "outcome": report["outcome"], "approval": approval}
        if not waits:
            return {**known, "what_to_do": "It waits for no approval."}
        what = self._millrace.call("import_approval", job=job)
        needed = f"A person has to approve it at {self._page(job)}"
        return {**known, "what_it_does": what["sentence"], "started_by": what["started_by"], "what_to_do": needed}

    def rejects(self, job: int, most: int = 50, cursor: str = "") -> Json:
        """List the rows that an import has rejected: line, column, value, reason. `next` is the cursor of more."""
        page: Json = self._millrace.call("rejects", job=job, limit=most, **({"cursor": cursor} if cursor else {}))
        return page

    def cancel(self, job: int) -> Json:
        """End an import. Committed rows stay, except in a staging table."""
        return _shown(self._millrace.call("cancel_import", job=job))

    def apply(self, job: int) -> Json:
        """Change the table as a preview has shown it, if the table has not changed since. Then `watch` it.

        An agent applies nothing beyond the limits of changes (`stop_if`): a person does, on the page of the import.
        """
        return _shown(self._millrace.apply(job)) | {"page": self._page(job)}

    def compare(self, job: int) -> Json:
        """Compare what an import has staged with its table as it is now, and change nothing. Then `watch` it."""
        return _shown(self._millrace.compare(job)) | {"page": self._page(job)}

    def drop(self, job: int) -> Json:
        """Drop what a preview, or an import that a limit has stopped, has staged and not applied."""
        return _shown(self._millrace.drop(job))

    def undo(self, job: int, overwrite: bool = False) -> Json:
        """Take back what an import has changed, if it ran with the option undo "keep", or in mode replace.

        Answers at once; `watch` shows in `undo` what was taken back. Rows that others have changed since are named
        there and left as they are; `overwrite`: they are overwritten, only if a person wants that.
        """
        return _shown(self._millrace.undo(job, overwrite=overwrite))

    def _page(self, job: int) -> str:
        return f"{self._millrace.address}/jobs/{job}/"

    def _wanted(
        self,
        target: str,
        table: str,
        files: Sequence[str],
        connection: str,
        settings: Mapping[str, Any] | None,
        answers: Mapping[str, str] | None,
    ) -> Json:
        named = {"connection": connection, "paths": list(files)} if connection else {"files": self._sent(files)}
        stated = dict(settings or {})
        answered = {**(stated.get("answers") or {}), **(answers or {})}
        return {**stated, "target": target, "table": table, "answers": answered, **named}

    def _sent(self, files: Sequence[str]) -> list[str]:
        """The uploads of these files. Raises SourceProblem for one outside of the folder."""
        return [self._send(self._allowed(name)) for name in files]

    def _allowed(self, name: str) -> Path:
        path = (self._folder / name).resolve()
        if not path.is_relative_to(self._folder):
            raise SourceProblem(
                f"Only files below {self._folder} may be uploaded.", name, "A person can allow others: --files FOLDER."
            )
        return path

    def _send(self, path: Path) -> str:
        try:
            state = path.stat()
        except OSError as error:
            raise SourceProblem("There is no such file.", str(path), "Name one below the allowed folder.") from error
        known = (path, state.st_size, state.st_mtime_ns)
        with self._sending.setdefault(known, threading.Lock()):
            if known not in self._uploads or not self._is_there(self._uploads[known]):
                self._uploads[known] = self._millrace.upload(path)
            return self._uploads[known]

    def _is_there(self, upload: str) -> bool:
        """Whether the server still has an upload: it deletes those that are not used for a time."""
        try:
            self._millrace.call("show_file", file=upload)
        except ServerProblem as problem:
            if problem.status != NOT_FOUND:
                raise
            return False
        return True


def server(agent: Agent) -> "MCPServer[Any]":
    """The server with all tools. Raises Problem without the package `mcp`."""
    try:
        from mcp.server.mcpserver import MCPServer
        from mcp.types import ToolAnnotations
    except ImportError as error:
        raise Problem(
            "The package mcp, which agents are served by, is missing.", advice=how_to_install("mcp")
        ) from error
    made: MCPServer[Any] = MCPServer("millrace", version=VERSION, instructions=INSTRUCTIONS, log_level="WARNING")
    for tool in (agent.targets, agent.plan, agent.watch, agent.approve, agent.rejects):
        made.tool(annotations=ToolAnnotations(read_only_hint=True))(_with_tool_errors(tool))
    for tool in (agent.load, agent.apply, agent.compare, agent.drop, agent.cancel, agent.undo):
        made.tool(annotations=ToolAnnotations(read_only_hint=False, destructive_hint=True))(_with_tool_errors(tool))
    return made


def _with_tool_errors(tool: Callable[..., Any]) -> Callable[..., Any]:
    """The tool, which reports a Problem to the agent in words, with what to do next."""
    from mcp.server.mcpserver.exceptions import ToolError

    @wraps(tool)
    def reporting(*args: Any, **named: Any) -> Any:
        try:
            return tool(*args, **named)
        except PROBLEMS as problem:
            raise ToolError(in_words(problem)) from problem

    return reporting


def _shown(report: Json) -> Json:
    return {name: report[name] for name in SHOWN}


FILES = "files below it may be uploaded (default: here)"
VERB = Verb(ABOUT, _run, (option("--files", type=Path, default=Path(), metavar="FOLDER", help=FILES),))

"""Everything that the API does, as calls: any operation by its name, and the usual ones as methods."""

import json
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import IO, Any

from urllib3.exceptions import HTTPError

from millrace_client.description import ADDRESS, KEY, Description
from millrace_client.earlier_uploads import EarlierUploads
from millrace_client.events import AGAIN_AFTER, END, events
from millrace_client.http import SILENT_SECONDS, Server
from millrace_client.problems import (
    NOT_ANSWERED_YET,
    NotLoaded,
    ServerProblem,
    ServerUnreachable,
    SourceProblem,
    values_in,
)
from millrace_client.uploads import Look, Upload, may_follow

READ_BYTES = 2**18
WAITS_FOR_APPROVAL = 9  # the exit code of docs/contracts.md
LOOK_EVERY = 0.5  # seconds between two requests about work that sends no events
# Seconds without a byte of the answers that may take longer than others: a check reads the whole file.
SILENT = {"check": 12 * 3600.0}

Json = dict[str, Any]


def is_over(report: Mapping[str, Any]) -> bool:
    """Whether nothing happens any more without somebody else: the import has ended, or waits for approval.

    Before it waits, the whole file is read for the plan that is approved.
    """
    waits = report["exit_code"] == WAITS_FOR_APPROVAL
    return report["outcome"] is not None and (not waits or report["approval"] is not None)


class Millrace:
    """A Millrace server, on behalf of the person of a token.

    Problems that the server reports are raised as ServerProblem, with what, where and advice.
    """

    def __init__(self, address: str, token: str, *, ca_file: str = "", plain_http: bool = False) -> None:
        """Connects to nothing yet. `ca_file` and `plain_http`: as Server has them. Raises Problem for a bad address."""
        self._server = Server(address, token, ca_file=ca_file, plain_http=plain_http)
        self._shared: set[str] = set()

    @property
    def address(self) -> str:
        """Where the server's pages are."""
        return self._server.address

    @cached_property
    def _description(self) -> Description:
        answer = self._server.send("GET", ADDRESS)
        return Description(values_in(answer.status, answer.data))

    def call(self, operation: str, body: Any = None, **values: Any) -> Any:
        """The answer of an operation, by the name that the server's description has for it.

        `values`: the parameters of its address. An operation that creates something has a key of its own, so that a
        request whose answer is lost can be sent again. Raises ServerProblem, ServerUnreachable, and TypeError for
        parameters that the operation does not have.
        """
        return self._call(operation, body, values, str(uuid.uuid4()))

    def _call(self, operation: str, body: Any, values: Mapping[str, Any], key: str) -> Any:
        """`key`: of the request, if the operation takes one."""
        known = self._description.operation(operation)
        headers = {KEY: key} if known.has_key else {}
        content = None if body is None else json.dumps(body).encode()
        if content is not None:
            headers["Content-Type"] = "application/json"
        repeatable, silent = True if known.has_key else None, SILENT.get(operation)
        until: float | None = None
        while True:
            try:
                answer = self._server.send(
                    known.method, known.address(values), content, headers, repeatable=repeatable, silent=silent
                )
                return values_in(answer.status, answer.data) if answer.data else None
            except ServerProblem as problem:
                if problem.kind != NOT_ANSWERED_YET:
                    raise
                # The answer to the first try was lost, and what it does is not done yet.
                until = until or time.monotonic() + SILENT_SECONDS
                if time.monotonic() > until:
                    raise
            time.sleep(AGAIN_AFTER)

    def pages(self, operation: str, **values: Any) -> Iterator[Json]:
        """The rows of a list, page after page."""
        cursor: Json = {}
        while True:
            page = self.call(operation, **values, **cursor)
            yield from page["items"]
            if page["next"] is None:
                return
            cursor = {"cursor": page["next"]}

    def upload(self, path: Path | str, look: Look = lambda _: None) -> str:
        """Upload a file; its key. `look` gets the bytes that have arrived. Raises SourceProblem if it is unreadable."""
        try:
            with Path(path).open("rb") as file:
                return self.upload_from(file, Path(path).name, look)
        except OSError as error:
            raise SourceProblem(
                f"The file cannot be read: {error.strerror or error}.", str(path), "Name a file that can be read."
            ) from error

    def upload_from(self, file: IO[bytes], name: str, look: Look = lambda _: None) -> str:
        """Upload an open file under a name; its key.

        An upload of the same file that was interrupted is continued, and one that is complete is used, unless an import
        reads it. What has arrived is removed again if the rest cannot follow. After Ctrl-C, and where the rest may
        follow later, it stays, to be continued; the server removes it after some time.
        """
        size = file.seek(0, 2)
        upload = self._earlier(file, name, size) or Upload.begin(self._server, name, size)
        try:
            upload.send(file, look)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            if not upload.shared and not may_follow(error):
                with suppress(ServerProblem, ServerUnreachable):
                    upload.remove()
            raise
        if upload.shared:
            self._shared.add(upload.key)
        return upload.key

    def _earlier(self, file: IO[bytes], name: str, size: int) -> Upload | None:
        """The newest upload of this file that no import reads; None without one, and of an older server."""
        wanted = {"name": name, "size": size, "unused": True}
        if not size or not wanted.keys() <= self._description.operation("list_files").takes.keys():
            return None
        earlier = EarlierUploads(self._server, self.call, file)
        return next(filter(None, map(earlier.of, self.pages("list_files", **wanted))), None)

    def is_shared(self, key: str) -> bool:
        """Whether an upload was complete before it was asked for: another command or page may use it, too."""
        return key in self._shared

    def remove_upload(self, key: str) -> None:
        """Delete an upload that no import reads."""
        Upload(self._server, key).remove()

    def plan(self, wanted: Json) -> Json:
        """The report of an import as it would begin. `wanted`: the body of POST plans."""
        planned: Json = self.call("plan", wanted)
        return planned

    def start(self, wanted: Json, key: str = "") -> Json:
        """Start an import; its report. `wanted`: the body of POST imports.

        `key`: of the sender's own, such as a UUID. The same request with the same key starts one import within 24
        hours, however often it is made; without one, each call starts an import.
        """
        begun: Json = self._call("start_import", wanted, {}, key or str(uuid.uuid4()))
        return begun

    def started(self, key: str) -> Json | None:
        """The report of the import that start() with this key has started within 24 hours; None without one."""
        found = next(self.pages("list_imports", key=key), None)
        return found and self.report(found["job"])

    def cancel(self, job: int) -> Json:
        """Cancel an import; its report. What is committed stays, except in a staging table."""
        cancelled: Json = self.call("cancel_import", job=job)
        return cancelled

    def retry(self, job: int) -> Json:
        """Load what is missing of an import that has failed or was cancelled; its report."""
        retried: Json = self.call("retry_import", job=job)
        return retried

    def apply(self, job: int, *, all_the_same: bool = False) -> Json:
        """Change the table as a preview has shown it; its report. `all_the_same`: also beyond its limits (stop_if)."""
        applied: Json = self.call("apply_import", {"all_the_same": all_the_same}, job=job)
        return applied

    def compare(self, job: int) -> Json:
        """Compare what an import has staged with its table once more; its report. Changes nothing."""
        compared: Json = self.call("compare_import", job=job)
        return compared

    def drop(self, job: int) -> Json:
        """Drop what an import has staged and not applied; its report."""
        dropped: Json = self.call("drop_import", job=job)
        return dropped

    def undo(self, job: int, *, overwrite: bool = False) -> Json:
        """Take back what an import has changed, if it has kept the old rows or the old table; its report.

        `overwrite`: also rows that others have changed since. While workers put rows back, `undo` has `asked`.
        """
        asked: Json = self.call("restore_import", {"overwrite": overwrite}, job=job)
        return asked

    def report(self, job: int) -> Json:
        """The report of an import; its outcome is None while it is under way."""
        shown: Json = self.call("show_import", job=job)
        return shown

    def events(self, job: int) -> Iterator[tuple[str, Json]]:
        """The events of an import until it has ended: `progress` with figures, and `end` with the report."""
        path = self._description.operation("events").address({"job": job})
        for each in events(self._server, path):
            yield each.name, json.loads(each.data)

    def wait(self, job: int, look: Callable[[Json], None] = lambda _: None) -> Json:
        """The report of an import once it has ended, or waits for another person; `look` gets figures until then."""
        status, asks = "", False
        for name, values in self.events(job):
            if name == END:
                return values
            look(values)
            if asks or values["status"] != status:
                status, now = values["status"], self.report(job)
                if is_over(now):
                    return now
                asks = now["outcome"] is not None
        return self.report(job)

    def result(self, job: int, look: Callable[[Json], None] = lambda _: None) -> Json:
        """The report of an import that has loaded all rows of its file, once it is over. Raises NotLoaded otherwise."""
        report = self.wait(job, look)
        if report["exit_code"]:
            raise NotLoaded(report)
        return report

    def report_within(self, job: int, seconds: float) -> Json:
        """The report of an import once it is over, or as it is after this number of seconds."""
        until = time.monotonic() + seconds
        while not is_over(report := self.report(job)) and time.monotonic() < until:
            time.sleep(LOOK_EVERY)
        return report

    def download(self, operation: str, **values: Any) -> Iterator[bytes]:
        """The pieces of the file that an operation answers with. Raises before the first one if there is no file."""
        path = self._description.operation(operation).address(values)
        answer = self._server.send("GET", path, streamed=True)
        try:
            yield from answer.stream(READ_BYTES)
        except HTTPError as error:
            raise self._server.unreachable(error) from error
        finally:
            answer.close()

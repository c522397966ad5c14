"""Millrace in Apache Airflow 3: a hook, and an operator that loads a file. docs/clients.md has an example."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from airflow.sdk import BaseHook, BaseOperator
from airflow.sdk.exceptions import AirflowFailException

from millrace_client.api import Json, Millrace
from millrace_client.problems import ServerProblem
from millrace_client.repeatable import Repeatable, body_of, kept

# What names a task's run in each of its tries.
STEP = ("dag_id", "run_id", "task_id", "map_index")


class MillraceHook(BaseHook):
    """A Millrace server by an Airflow connection: `host` is its address, `password` a token.

    `extra` may have `ca_file` and `plain_http`, as Millrace has them.
    """

    conn_name_attr = "millrace_conn_id"
    default_conn_name = "millrace_default"
    conn_type = "millrace"
    hook_name = "Millrace"

    def __init__(self, millrace_conn_id: str = default_conn_name) -> None:
        super().__init__()
        self.millrace_conn_id = millrace_conn_id

    def get_conn(self) -> Millrace:
        """The client. Connects to nothing yet. Raises Problem for a bad address."""
        known = self.get_connection(self.millrace_conn_id)
        more = known.extra_dejson
        return Millrace(
            str(known.host),
            str(known.password),
            ca_file=str(more.get("ca_file", "")),
            plain_http=bool(more.get("plain_http", False)),
        )

    def test_connection(self) -> tuple[bool, str]:
        """Whether the server takes the token, and what it says."""
        try:
            return True, f"Signed in as {self.get_conn().call('show_account')['name']}."
        except Exception as error:
            return False, str(error)


class MillraceLoadOperator(BaseOperator):
    """Loads a file into a table, and waits until every row has arrived. Its result is a part of the report.

    `file`: a file that the worker sees; without it, `body` names files of a connection or an address. `target`, `table`
    or `preset`: where it goes. `once`: a content that was loaded into the table before is not loaded once more, and the
    result is that of the import which had it. `body`: anything else that POST imports takes.

    A later try continues the import of an earlier one: it waits for it, or loads what is missing. So does a task that
    was cleared, within 24 hours and with the same file.
    """

    template_fields: Sequence[str] = ("file", "target", "table", "preset", "body", "millrace_conn_id")
    template_fields_renderers = {"body": "json"}
    ui_color = "#d8ecf3"

    def __init__(
        self,
        *,
        file: str = "",
        target: str = "",
        table: str = "",
        preset: str = "",
        once: bool = False,
        body: Mapping[str, Any] | None = None,
        millrace_conn_id: str = MillraceHook.default_conn_name,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.file, self.target, self.table, self.preset = file, target, table, preset
        self.once, self.body, self.millrace_conn_id = once, dict(body or {}), millrace_conn_id
        self._import: Repeatable | None = None
        self._killed = self._cancelled = False

    @property
    def hook(self) -> MillraceHook:
        """The hook of the connection."""
        return MillraceHook(self.millrace_conn_id)

    def execute(self, context: Any) -> Json:
        """Load the file. Raises NotLoaded, ServerUnreachable, and AirflowFailException for what no try can change."""
        step = ["airflow", *(str(getattr(context["ti"], name)) for name in STEP)]
        wanted = body_of(self.target, self.table, self.preset, self.once, self.body)
        self._import = Repeatable(self.hook.get_conn(), step, wanted, self.file)
        try:
            job = self._import.begin()["job"]
            self.log.info("Import %s", job)
            # The server does not name an import by its key before it has answered the request that started it.
            if self._killed:
                self._cancel()
            return kept(self._import.millrace.result(job))
        except ServerProblem as problem:
            if problem.retryable:
                raise
            raise AirflowFailException(str(problem)) from problem

    def on_kill(self) -> None:
        """Cancel the import of this try, at once or as soon as it has begun: a later try continues it."""
        self._killed = True
        self._cancel()

    def _cancel(self) -> None:
        # The server refuses to cancel an import that is being cancelled. on_kill() comes in another thread, or while
        # this one waits for the server's answer.
        if self._cancelled or not self._import:
            return
        if (report := self._import.begun()) and report["outcome"] is None and not self._cancelled:
            self._cancelled = True
            self._import.millrace.cancel(report["job"])

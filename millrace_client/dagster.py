"""Millrace in Dagster: a resource that loads a file. docs/clients.md has an example."""

from collections.abc import Mapping
from typing import Any

from dagster import AssetExecutionContext, ConfigurableResource, OpExecutionContext

from millrace_client.api import Json, Millrace
from millrace_client.repeatable import Repeatable, body_of, kept


class MillraceResource(ConfigurableResource):
    """A Millrace server by its address and a token. `ca_file` and `plain_http`: as Millrace has them."""

    url: str
    token: str
    ca_file: str = ""
    plain_http: bool = False

    def client(self) -> Millrace:
        """The client. Connects to nothing yet. Raises Problem for a bad address."""
        return Millrace(self.url, self.token, ca_file=self.ca_file, plain_http=self.plain_http)

    def load(
        self,
        context: AssetExecutionContext | OpExecutionContext,
        file: str = "",
        *,
        target: str = "",
        table: str = "",
        once: bool = False,
        body: Mapping[str, Any] | None = None,
    ) -> Json:
        """Load a file into a table, and wait until every row has arrived; a part of the report.

        `file`: of this machine; without it, `body` names files of a connection or an address. `once`: a content that
        was loaded into the table before is not loaded once more. `body`: anything else that POST imports takes, such as
        a preset. A retry of the step, or of the run from its failure, continues the import of the earlier try. Raises
        NotLoaded, ServerProblem and ServerUnreachable.
        """
        run = context.run
        step = [
            "dagster",
            run.root_run_id or run.run_id,
            str(context.op_handle),
            context.get_mapping_key() or "",
        ]
        step.append(context.partition_key if context.has_partition_key else "")
        more = dict(body or {})
        wanted = body_of(target, table, str(more.pop("preset", "")), once, more)
        step_import = Repeatable(self.client(), step, wanted, file)
        return kept(step_import.millrace.result(step_import.begin()["job"]))

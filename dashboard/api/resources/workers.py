"""Workers: those that are alive."""

from typing import Annotated, Any

from django.http import HttpRequest
from ninja import Router, Schema
from pydantic import Field

from dashboard.system.workers import overview

router = Router(tags=["workers"])


class WorkerOut(Schema):
    """A live worker: `slots` tasks at once, of which `busy` run now; `silent`: seconds since its last report."""

    host: str
    role: Annotated[str, Field(examples=["load"])]
    version: str
    slots: int
    busy: int
    queues: list[str]
    labels: list[str]
    silent: float


class WorkersOut(Schema):
    """The live workers, by name, and the queues that none of them serves."""

    workers: Annotated[list[WorkerOut] | None, Field(description="Null: Redis does not answer.")]
    idle_queues: list[str]
    idle_labels: Annotated[
        dict[str, list[str]], Field(description="Labels of targets without a loading or a control worker.")
    ]
    wrong_clocks: Annotated[
        dict[str, int], Field(description="By host: seconds by which its clock is ahead of that of the web server.")
    ]
    versions: Annotated[list[str], Field(description="Those of the workers and of this web process.")]


@router.get("workers", response=WorkersOut, url_name="api_workers", summary="List workers")
def list_workers(request: HttpRequest) -> Any:
    """The workers that reported within 20 seconds, with hosts, versions, slots and load."""
    return overview()

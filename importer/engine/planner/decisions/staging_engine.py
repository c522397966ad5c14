"""Checks and explains the staging table of a table whose engine cannot roll back (MyISAM)."""

from collections.abc import Iterator

from importer.engine.errors import Problem, TargetProblem
from importer.engine.plan.plan import Reason
from importer.engine.planner.context import PlanningContext


def check_staging_engine(context: PlanningContext) -> None:
    """Raise Problem for options that a staging table without rollback does not allow."""
    if context.rolls_back:
        return
    options, engine = context.options, context.table.engine
    to_innodb = f"ALTER TABLE {context.table.schema}.{context.table.name} ENGINE=InnoDB"
    if options.on_error != "stop" or options.on_clash != "fail":
        raise Problem(
            f"{engine} cannot roll back, so no row can be left out or replaced once the server has seen it.",
            advice=f"Choose on_error stop and on_duplicate fail, or {to_innodb}.",
            option="on_error" if options.on_error != "stop" else "on_duplicate",
        )
    if (options.parallelism or 1) > 1:
        raise Problem(
            f"{engine} lets one session load at a time.", advice="Leave parallelism out.", option="parallelism"
        )
    if context.dependencies.partitioned:
        raise TargetProblem(f"{engine} has no partitions on every server.", advice=f"{to_innodb}.")
    if context.server.cluster:
        raise TargetProblem(f"A Galera cluster does not copy {engine} tables.", advice=f"{to_innodb}.")


def staging_engine_reasons(context: PlanningContext) -> Iterator[Reason]:
    """Explains what a staging table without rollback gains and gives up."""
    if context.rolls_back:
        return
    cost = "a chunk that fails, or whose worker dies, ends the import, and a retry stages all rows again"
    why = f"as the table is; its keys come back before it takes its place; {cost}"
    yield Reason(f"The staging table is {context.table.engine}, its keys off", why, holds_back=True)

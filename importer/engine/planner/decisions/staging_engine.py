"""Checks and explains a staging table whose engine cannot roll back (MyISAM)."""

from collections.abc import Iterator

from importer.engine.errors import Problem, TargetProblem
from importer.engine.plan.plan import Reason
from importer.engine.planner.context import PlanningContext
from importer.engine.target import write_modes


def check_staging_engine(context: PlanningContext) -> None:
    """Raise Problem for options that a staging table without rollback does not allow."""
    if context.rolls_back:
        return
    options, engine = context.options, context.staging_engine
    if options.mode not in write_modes.SWAPPING:
        raise Problem(
            f"Only a table that takes its place at the end may be loaded as {engine}.",
            advice="Choose mode replace or create, or load_as innodb.",
            option="load_as",
        )
    if options.on_error != "stop" or options.on_duplicate != "fail":
        raise Problem(
            f"{engine} cannot roll back, so no row can be left out or replaced once the server has seen it.",
            advice="Choose on_error stop and on_duplicate fail, or load_as innodb.",
            option="load_as",
        )
    if (options.parallelism or 1) > 1:
        raise Problem(
            f"{engine} lets one session load at a time.", advice="Leave parallelism out.", option="parallelism"
        )
    if context.dependencies.partitioned or options.partitions:
        raise Problem(
            f"{engine} has no partitions on every server.",
            advice="Leave partitions out, or choose load_as innodb.",
            option="load_as",
        )
    if context.server.cluster:
        raise TargetProblem(f"A Galera cluster does not copy {engine} tables.", advice="Choose load_as innodb.")


def staging_engine_reasons(context: PlanningContext) -> Iterator[Reason]:
    """Explains what a staging table without rollback gains and gives up."""
    if context.rolls_back:
        return
    cost = "a chunk that fails, or whose worker dies, ends the import, and a retry stages all rows again"
    if context.converted:
        # Measured by others (server-behaviour.md, Speed): never faster than loading into InnoDB.
        why = f"as requested; the table is converted to {context.table.engine} before it takes its place; {cost}"
        yield Reason(f"The staging table is {context.staging_engine}, its keys off", why, True, "load_as")
    else:
        why = f"as the table is; its keys come back before it takes its place; {cost}"
        yield Reason(f"The staging table is {context.staging_engine}, its keys off", why, True, "load_as")

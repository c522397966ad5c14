"""Decides whether the server can read the file on its host itself, and explains what that means for the import."""

from collections.abc import Iterator

from importer.engine.errors import Problem
from importer.engine.load.methods.field_expressions import numbers
from importer.engine.plan.plan import Reason
from importer.engine.planner.context import PlanningContext
from importer.engine.source import encodings
from importer.engine.source.chunks.chunk_sizes import ChunkSizes
from importer.engine.units import human_bytes


def check_server_file(context: PlanningContext) -> None:
    """Raise Problem if the server would read other rows than the file has, or if an option needs rows that are sent."""
    obstacle = next(_obstacles(context), "") if context.server_file else ""
    if obstacle:
        raise Problem(
            f"The server cannot read this file itself: {obstacle}.",
            advice="Let the rows be sent: choose another method.",
            option="method",
        )


def _obstacles(context: PlanningContext) -> Iterator[str]:
    dialect, options = context.dialect, context.options
    yield from dialect.rewriting
    if encodings.feed_steps(dialect.encoding):
        yield f"it is in {dialect.encoding}, which is converted on the way"
    if dialect.skip_footer or dialect.comment or dialect.skip_repeated_header:
        yield "lines below the first record are left out"
    if numbers(context.staged_fillings):
        yield "a column gets the number of the row or line, which is put before each row"
    if options.sort == "key":
        yield "its rows are to be loaded in the order of the key"
    if options.on_clash == "skip":
        yield "the server does not say which rows it skips"
    if options.commit_rows:
        yield "one statement loads all of it, and a commit after some rows is requested"


def whole_file(context: PlanningContext) -> ChunkSizes | None:
    """The size of the one chunk of a file that the server reads itself; None for others."""
    return ChunkSizes(max(1, context.data_bytes)) if context.server_file else None


def whole_file_reason(context: PlanningContext) -> Reason:
    """Explains the one chunk."""
    return Reason(
        f"One chunk of {human_bytes(context.data_bytes)}: the whole file",
        "the server reads it in one statement, which is one transaction: a retry begins at the first row",
        holds_back=True,
        option="chunk_bytes",
    )


def server_file_reasons(context: PlanningContext) -> Iterator[Reason]:
    """Explains how it is known which bytes the server reads, and what happens to bad rows."""
    file = context.server_file
    if not file:
        return
    if file.digest:
        yield Reason(
            f"The server reads {file.path} on its host",
            "its bytes have the same SHA-256 there as here, also afterwards",
        )
    else:
        yield Reason(
            f"The server reads {file.path} on its host",
            "it is too large for the server to show its bytes (max_allowed_packet), so rows are counted, and values"
            " compared only with verify full",
        )
    yield Reason(
        "Blank lines and bad rows are left out from here",
        "a file that has some is read here and sent without them",
    )

"""Explains how every value is compared with the file, and what that costs."""

from collections.abc import Iterator

from importer.engine.plan.plan import Reason
from importer.engine.plan.readback import Readback
from importer.engine.source.dialect import Dialect

# Measured: docs/server-behaviour.md, Rejects, checks and read-back.
DIGEST_COST = (
    "the server computes digests of each chunk before its commit; that takes up to 1.3 times the processor time"
)
READ_BACK_COST = "which takes five to six times as long"


def verification_reasons(readback: Readback | None, dialect: Dialect) -> Iterator[Reason]:
    """Says that every value is compared, and which values are read back for that, with the reason."""
    if not readback:
        return
    from importer.engine.load.readback.canonical_forms import unknown_columns
    from importer.engine.load.readback.file_digests import why_no_digests

    if why := why_no_digests(dialect):
        yield Reason("Every value is read back", f"{why}, {READ_BACK_COST}", holds_back=True)
        return
    yield Reason("Every value is compared with the file", DIGEST_COST, holds_back=True)
    for why, columns in unknown_columns(readback).items():
        names = ", ".join(columns)
        yield Reason(f"Values of {names} are read back one by one", f"{why}; that takes longer", holds_back=True)

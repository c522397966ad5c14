"""Explains how the file's bytes get to the server."""

from collections.abc import Iterator

from importer.engine.plan.plan import Reason
from importer.engine.planner.context import PlanningContext
from importer.engine.source.archives import PACKING_NAMES
from importer.engine.source.encodings import EncodingKind
from importer.engine.source.formats.registry import FORMATS


def file_format_reasons(context: PlanningContext) -> Iterator[Reason]:
    """Explains the copy, the transcoding and the rewriting of the file, if it needs them."""
    dialect, packing = context.dialect, context.packing
    kind = dialect.encoding_kind
    if packing or kind is EncodingKind.OTHER:
        unpacked = [f"it is packed ({PACKING_NAMES[packing]})"] if packing else []
        slow = FORMATS[dialect.format].label if dialect.is_converted else dialect.encoding
        decoded = [f"{slow} cannot be read in parallel"] if kind is EncodingKind.OTHER else []
        yield Reason("A plain copy is made first", f"{' and '.join(unpacked + decoded)}; it goes when the import ends")
    if kind is EncodingKind.SINGLE:
        # Measured (server-behaviour.md, Encodings and packed files).
        why = "on the way to the server, at about 670 MiB/s; what is pure ASCII goes as it is"
        yield Reason(f"Transcoded from {dialect.encoding}", why)
    if dialect.rewriting:
        # Measured (server-behaviour.md, Reading): at 140 to 300 MB/s, while the server takes some 20 MB/s a session.
        cost = "costs up to 10 % of the speed, more where quotes or escapes are unusual"
        yield Reason("Records are rewritten", f"{'; '.join(dialect.rewriting)}; that {cost}", holds_back=True)
    elif kind is not EncodingKind.SINGLE:
        yield Reason("Bytes go as they are", "the server reads this dialect itself")

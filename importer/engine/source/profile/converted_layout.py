"""The layout of a file in another format than CSV: its format, encoding and fields, and the decisions about them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from importer.engine.source.arriving import ArrivingBytes, NotArrived
from importer.engine.source.byte_source import Readable
from importer.engine.source.compression import unpacking_limits
from importer.engine.source.decisions import Decision, Standing
from importer.engine.source.decoding import SourceHead
from importer.engine.source.dialect import COPY, CSV, Dialect
from importer.engine.source.encodings import UTF8
from importer.engine.source.file_signature import NoCSV
from importer.engine.source.formats.contents import Contents
from importer.engine.source.formats.format import Format, Layout, Wanted
from importer.engine.source.formats.options import require_suitable, stated_for
from importer.engine.source.formats.registry import FORMATS, NAMES, stated_format
from importer.engine.source.profile.encoding_detection import DetectedEncoding, detect_encoding
from importer.engine.source.profile.expected_columns import ExpectedColumn


@dataclass(frozen=True)
class ConvertedLayout:
    """What is known of a file in another format before its rows are read. `dialect` has its fields."""

    dialect: Dialect
    encoding: DetectedEncoding
    decisions: tuple[Decision, ...]
    layout: Layout


def converted_layout(
    fd: Readable,
    head: SourceHead,
    dialect: Dialect | None,
    known: Mapping[str, Any],
    expected: Sequence[ExpectedColumn],
) -> ConvertedLayout | None:
    """The layout of an open file if it is in another format than CSV, else None.

    `dialect`: that of an earlier file, whose format this one must have. `known`: stated fields of the dialect.
    `expected`: the table's columns. Raises NoCSV if the file has another format than `dialect`, and SourceProblem if it
    cannot be read in its format, a stated option does not suit it, or it has not arrived as a whole.
    """
    name = stated_format(known) or (dialect.format if dialect else head.format)
    if dialect and not stated_format(known) and head.format not in (CSV, name):
        raise NoCSV(
            f"This is {NAMES[head.format]}, and {NAMES[name]} is expected.",
            advice="Import it with settings of its own, or choose another file.",
        )
    if name == CSV:
        return None
    found = FORMATS[name]
    require_suitable(found, known)
    if isinstance(fd, ArrivingBytes):
        raise NotArrived(
            f"{found.label} is read when all of the file has arrived: {fd.arrived:,} of {fd.size:,} bytes have.",
            advice="Wait for the rest of the upload.",
        )
    stated = {**(stated_for(found, dialect) if dialect else {}), **known}
    encoding = _encoding(found, head, stated.get("encoding", ""))
    wanted = Wanted(stated, tuple(column.name for column in expected))
    contents = Contents(fd, head.packing, unpacking_limits(), encoding.encoding, head.member, tolerate=True)
    layout = found.layout(contents, wanted)
    options = {key: value for key, value in stated.items() if key in found.options} | dict(layout.chosen)
    copied = replace(
        COPY,
        **{**options, "format": name, "member": head.member, "fields": layout.fields, "encoding": encoding.encoding},
        sampled=tuple(each for each in dialect.sampled if each in found.options) if dialect else layout.sampled,
    )
    noted = (Decision("content", "as it is", Standing.RULE, note) for note in layout.notes)
    decisions = (_format_decision(found, bool(stated_format(known))), encoding.decision, *layout.decisions, *noted)
    return ConvertedLayout(copied, encoding, decisions, layout)


def _encoding(found: Format, head: SourceHead, requested: str) -> DetectedEncoding:
    if "encoding" in found.options:
        if not requested and (named := found.encoding_of(head.data)):
            evidence = f"The file states that it is {named}."
            return DetectedEncoding(named, Decision("encoding", named, Standing.PROVED, evidence))
        return detect_encoding(head, requested)
    return DetectedEncoding(UTF8, Decision("encoding", UTF8, Standing.PROVED, ""))


def _format_decision(found: Format, stated: bool) -> Decision:
    evidence = f"Format: {found.label}. The file is converted to text before it is read."
    if found.unknown:
        evidence += f" {found.unknown}"
    return Decision("format", found.label, Standing.STATED if stated else Standing.PROVED, evidence)

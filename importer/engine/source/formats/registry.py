"""The formats of files, each declared once in a file of its own; everything else asks here."""

from collections.abc import Mapping
from typing import Any

from importer.engine.source.dialect import CSV
from importer.engine.source.encodings import UTF8, detect_byte_order_mark
from importer.engine.source.formats.columnar import ARROW, PARQUET
from importer.engine.source.formats.fixed_width import FIXED_WIDTH
from importer.engine.source.formats.format import Format
from importer.engine.source.formats.json.declared import JSON, JSON_LINES
from importer.engine.source.formats.own_line_ends import OWN_LINE_ENDS, has_own_line_ends
from importer.engine.source.formats.spreadsheet.declared import ODS, XLSX
from importer.engine.source.formats.sql.declared import SQL

# In the order in which a file's first bytes are compared with them.
OTHERS: tuple[Format, ...] = (JSON_LINES, JSON, SQL, ODS, XLSX, PARQUET, ARROW, FIXED_WIDTH, OWN_LINE_ENDS)
FORMATS: dict[str, Format] = {each.name: each for each in OTHERS}
# The endings of file names that are no part of the name of a table.
ENDINGS = (".csv", ".tsv", ".txt", *(ending for each in OTHERS for ending in each.endings))
# What a user may state, in words.
NAMES: dict[str, str] = {CSV: "CSV", **{each.name: each.label for each in OTHERS}}


def stated_format(known: Mapping[str, Any]) -> str:
    """The format that stated fields of a dialect give: by its name, its widths, or its line ends; "" for none."""
    stated = str(known.get("format", ""))
    if stated in ("", CSV) and has_own_line_ends(known):
        return OWN_LINE_ENDS.name
    return stated or (FIXED_WIDTH.name if known.get("widths") else "")


def detect_format(head: bytes) -> str:
    """The name of the format of a file that begins with these bytes, unpacked; CSV for a file of no other format."""
    marked, length = detect_byte_order_mark(head)
    if marked and marked != UTF8:
        head = head[length:].decode(marked, "replace").encode()
    return next((each.name for each in OTHERS if each.begins(head)), CSV)

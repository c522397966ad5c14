"""The two formats of workbooks: how a file of each begins."""

from collections.abc import Iterator
from struct import Struct

from importer.engine.source.formats.format import Format, later

_SHEETS = "importer.engine.source.formats.spreadsheet.sheets"
# Before each file in a ZIP archive (APPNOTE.TXT 4.3.7): the flags, and the sizes of the data, the name and more fields.
_MAGIC, _HEADER = b"PK\x03\x04", Struct("<6xH10xL4xHH")
_SIZE_FOLLOWS = 8  # the flag of a file whose sizes stand behind its data
# One of the first files shows the format.
_LOOKED_AT = 4096
_PARTS = (".xml", ".rels", ".bin")


def _names(head: bytes) -> Iterator[bytes]:
    """The names of the files whose headers begin in the first bytes of a ZIP archive."""
    at = 0
    while at < _LOOKED_AT and head.startswith(_MAGIC, at) and len(head) >= at + _HEADER.size:
        flags, size, name, more = _HEADER.unpack_from(head, at)
        at += _HEADER.size
        yield head[at : at + name]
        at += name + more
        at = head.find(_MAGIC, at) if flags & _SIZE_FOLLOWS and not size else at + size


def _is_workbook(head: bytes) -> bool:
    names = (each.decode(errors="replace") for each in _names(head))
    return any(each == "[Content_Types].xml" or (each.startswith("xl/") and each.endswith(_PARTS)) for each in names)


def _is_spreadsheet(head: bytes) -> bool:
    return head.startswith(_MAGIC) and b"opendocument.spreadsheet" in head[:120]


_OPTIONS = ("sheet", "header", "skip_rows", "skip_footer")
_UNKNOWN = "Cells that were merged have their value in the first one only. Times are exact to a millisecond."
XLSX = Format(
    "xlsx",
    "Excel workbook",
    (".xlsx", ".xlsm"),
    _is_workbook,
    later(_SHEETS, "xlsx_layout"),
    later(_SHEETS, "xlsx_convert"),
    _OPTIONS,
    _UNKNOWN,
)
ODS = Format(
    "ods",
    "OpenDocument spreadsheet",
    (".ods",),
    _is_spreadsheet,
    later(_SHEETS, "ods_layout"),
    later(_SHEETS, "ods_convert"),
    _OPTIONS,
    _UNKNOWN,
)

"""The two formats of workbooks: how a file of each begins."""

from importer.engine.source.formats.format import Format, later

_SHEETS = "importer.engine.source.formats.spreadsheet.sheets"


def _is_workbook(head: bytes) -> bool:
    return head.startswith(b"PK\x03\x04") and (b"xl/" in head[:4096] or b"[Content_Types]" in head[:2000])


def _is_spreadsheet(head: bytes) -> bool:
    return head.startswith(b"PK\x03\x04") and b"opendocument.spreadsheet" in head[:120]


_OPTIONS = ("sheet", "header", "skip_rows")
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

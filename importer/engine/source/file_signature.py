"""Recognises files of formats that cannot be imported by their first bytes, and refuses them."""

import re

from importer.engine.errors import SourceProblem

_SAVE = "Open it in the program it was made with and save the table as .xlsx or CSV."
_UNPACK = "Unpack it, then import the CSV file inside."
_EXPORT = "Export the table as CSV (UTF-8), then import that."

# If a CSV file's header could begin with the same letters, the pattern requires a byte after them that no text has.
_NO_TEXT = rb"[\x00-\x08\x0e-\x1f\x80-\xff]"
_OLE = rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_KINDS: tuple[tuple[bytes, str, str], ...] = (
    (rb"\x89PNG\r\n", "a PNG image", _EXPORT),
    (rb"\xff\xd8\xff", "a JPEG image", _EXPORT),
    (rb"GIF8[79]a", "a GIF image", _EXPORT),
    (rb"%PDF-", "a PDF document", _EXPORT),
    (_OLE + rb".*" + "EncryptedPackage".encode("utf-16-le"), "a workbook with a password", "Save it without one."),
    (_OLE, "an old Excel workbook (.xls), or one with a password", _SAVE),
    (rb"7z\xbc\xaf", "a 7z archive", _UNPACK),
    (rb"Rar!\x1a\x07", "a RAR archive", _UNPACK),
    (rb"ORC" + _NO_TEXT, "an ORC file", _EXPORT),
    (rb"Obj\x01", "an Avro file", _EXPORT),
    (rb"FEA1", "a Feather file of the first version", _EXPORT),
    (rb"SQLite format 3\x00", "an SQLite database", _EXPORT),
    (rb"\x7fELF", "a program", "Choose the CSV file."),
    (
        rb"\s*<(?i:!doctype html|html)\b",
        "a web page (HTML)",
        "Download the CSV file itself.",
    ),
    (rb"\s*<\?xml\b", "an XML document", _EXPORT),
    (rb"\{\\rtf", "an RTF document", _EXPORT),
)
_COMPILED = tuple((re.compile(pattern, re.DOTALL), what, advice) for pattern, what, advice in _KINDS)


class NoCSV(SourceProblem):
    """The file is in another format than CSV."""


def refuse_other_kinds(sample: bytes) -> None:
    """Raise NoCSV, with the format's name and advice, for a file that begins like one of another format."""
    for pattern, what, advice in _COMPILED:
        if pattern.match(sample):
            raise NoCSV(f"This is not a CSV file: it is {what}.", advice=advice)

"""The two formats of JSON: how a file of each begins."""

import json
import re

from importer.engine.source.formats.format import Format, later

_LINES_LOOKED_AT = 20
_BEGINS_ARRAY = re.compile(rb"\[\s*(?:\{\s*\"|\[|\{\s*\})")
_BEGINS_OBJECT = re.compile(rb"\{\s*\"(?:[^\"\\\n]|\\.)*\"\s*:")
_TEXT = "importer.engine.source.formats.json.text"


def _begins_json_lines(head: bytes) -> bool:
    """Whether one of the first lines is a JSON object, and the file begins like one."""
    text = _stripped(head)
    lines = [line for line in text.split(b"\n", _LINES_LOOKED_AT)[:_LINES_LOOKED_AT] if line.strip()]
    return text.startswith(b"{") and any(map(_is_object, lines))


def _begins_json(head: bytes) -> bool:
    """Whether the file begins with an array of objects or arrays, or with an object over several lines."""
    text = _stripped(head)
    if _BEGINS_ARRAY.match(text):
        return True
    if not _BEGINS_OBJECT.match(text) or _begins_json_lines(head):
        return False
    try:  # A CSV file may begin with a value that is an object.
        begin = text.decode(errors="replace")
        _, end = json.JSONDecoder().raw_decode(begin)
    except (ValueError, RecursionError):
        return True
    return begin[end:].lstrip()[:1] in ("", "{")


def _stripped(head: bytes) -> bytes:
    return head.removeprefix(b"\xef\xbb\xbf").lstrip(b" \t\r\n")


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


_UNKNOWN = "JSON has no dates: they are texts, read as those of a CSV file. Objects and arrays in a row are JSON text."
JSON_LINES = Format(
    "jsonl",
    "JSON Lines",
    (".jsonl", ".ndjson"),
    _begins_json_lines,
    later(_TEXT, "layout_of_lines"),
    later(_TEXT, "convert_lines"),
    ("encoding",),
    _UNKNOWN,
)
JSON = Format(
    "json",
    "JSON",
    (".json",),
    _begins_json,
    later(_TEXT, "layout_of_elements"),
    later(_TEXT, "convert_elements"),
    ("encoding",),
    _UNKNOWN,
)

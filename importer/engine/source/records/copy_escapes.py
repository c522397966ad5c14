"""How the bytes of a value stand in the working copy of a file in another format (Dialect COPY)."""

import re

# As the server reads them (Manual, LOAD DATA, "Escape Sequence"): a value of the copy has no line end and no tab.
_ESCAPES = {b"\\": b"\\\\", b"\t": b"\\t", b"\n": b"\\n", b"\r": b"\\r", b"\0": b"\\0"}
ESCAPED = tuple(_ESCAPES)
_ESCAPED = re.compile(rb"[\\\t\n\r\0]")
_UNESCAPED = {escape: byte for byte, escape in _ESCAPES.items()}
_ESCAPE = re.compile(rb"\\[\\tnr0]")


def escaped(value: bytes) -> bytes:
    """A value as it stands in the copy."""
    return _ESCAPED.sub(lambda found: _ESCAPES[found[0]], value)


def unescaped(value: bytes) -> bytes:
    """A value of the copy as it was before it was escaped."""
    return _ESCAPE.sub(lambda found: _UNESCAPED[found[0]], value)

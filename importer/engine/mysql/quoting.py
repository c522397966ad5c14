"""Names and texts as they stand in a statement."""

from importer.engine.errors import TargetProblem

_ESCAPES = str.maketrans({"\\": "\\\\", "'": "\\'", "\0": "\\0", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\x1a": "\\Z"})


def quote_name(name: str) -> str:
    """An identifier (manual, Schema Object Names: a backtick inside is doubled). Raises TargetProblem for a NUL."""
    if "\0" in name:
        raise TargetProblem(f"The name {name!r} contains a NUL character.", advice="MySQL allows none in names.")
    return "`" + name.replace("`", "``") + "`"


def quote_text(text: str) -> str:
    """A string literal (manual, String Literals), for our own sessions: their sql_mode leaves backslash an escape."""
    return "'" + text.translate(_ESCAPES) + "'"

"""The cases that are not right yet: kind and name, and the reason. One that is right by now fails until it leaves."""

STILL_WRONG: dict[tuple[str, str], str] = {}

"""What a dump sets for the session that would execute it: the SQL mode, and the time zone."""

import re

# A statement that sets variables of the session, also one in a comment that MySQL executes.
SET = re.compile(rb"(?:/\*![0-9]*+\s*+)?SET\s++(?!GLOBAL\b|PERSIST)[^;]{0,400}", re.IGNORECASE)


class SessionVariable:
    """A variable of the session as the dump has set it last. `value`: b"" if it has not, and for the server's own."""

    def __init__(self, name: bytes) -> None:
        self.value = b""
        self._saved: dict[bytes, bytes] = {}
        of_session = rb"@@(?:(?:SESSION|LOCAL)\s*+\.\s*+)?" + name + rb"\b"
        self._saving = re.compile(rb"(?<!@)@(?P<into>\w++)\s*+:?=\s*+" + of_session, re.IGNORECASE)
        self._setting = re.compile(
            rb"(?:(?<![\w@.])" + name + rb"|" + of_session + rb")\s*+:?=\s*+"
            rb"(?:'(?P<single>[^']*+)'|\"(?P<double>[^\"]*+)\"|(?<!@)@(?P<saved>\w++)|(?P<word>\w++)(?!\s*+\())",
            re.IGNORECASE,
        )

    def read(self, statement: bytes) -> None:
        """Learn the value from a statement of SET. mysqldump saves it in a variable of its own, and sets it again."""
        for saved in self._saving.finditer(statement):
            self._saved[saved["into"].lower()] = self.value
        if not (found := self._setting.search(statement)):
            return
        if found["saved"] is not None:
            self.value = self._saved.get(found["saved"].lower(), b"")
        else:
            self.value = found["single"] or found["double"] or found["word"] or b""


# Zones that stand for that of the server.
_OWN = ("SYSTEM", "DEFAULT")


def zone_of(variable: SessionVariable) -> str:
    """The time zone that the dump has set; "" for none, and for the server's own."""
    zone = variable.value.decode(errors="replace").strip()
    return "" if zone.upper() in _OWN else zone

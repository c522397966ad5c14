"""Django system checks (`manage.py check`): parts of the installation that are missing without an error."""

from typing import Any

from django.core.checks import CheckMessage, Warning

OWN = "millrace"  # the tag of these checks


def native_library(**_: Any) -> list[CheckMessage]:
    """Warn if this process works without the C library."""
    from importer.engine.native import loader

    if loader.library():
        return []
    return [
        Warning(
            "The C library is not in use: imports work, but more slowly.",
            hint=f"Install a C compiler, then run: python -I {loader.__file__}",
            id="importer.W001",
        )
    ]

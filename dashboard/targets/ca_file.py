"""The form field for a file with certificate authorities."""

import ssl
from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError


class WithCAFile:
    """Mixin for a form with a field `tls_ca`, which accepts only the path of a file with certificate authorities.

    All other paths get the same answer, so that nobody learns which files there are.
    """

    cleaned_data: dict[str, Any]

    def clean_tls_ca(self) -> str:
        path: str = self.cleaned_data["tls_ca"]
        if path and not _has_authorities(path):
            raise ValidationError(
                f"No certificate authorities can be read from {path}. Name a PEM file on this machine."
            )
        return path


def _has_authorities(path: str) -> bool:
    # A device or a pipe would be read for ever.
    if not Path(path).is_file():
        return False
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cafile=path)
    except OSError:  # ssl.SSLError is one.
        return False
    return True

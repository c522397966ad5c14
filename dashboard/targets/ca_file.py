"""The form field for a file with certificate authorities."""

from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError


class WithCAFile:
    """Mixin for a form with a field `tls_ca`, which accepts only the path of an existing file."""

    cleaned_data: dict[str, Any]

    def clean_tls_ca(self) -> str:
        path: str = self.cleaned_data["tls_ca"]
        if path and not Path(path).is_file():
            raise ValidationError(f"There is no file {path} on this machine.")
        return path

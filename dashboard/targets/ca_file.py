"""A form that names a file with certificate authorities."""

from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError


class WithCAFile:
    """Put before the form's own class: its field `tls_ca` takes only a file that is there."""

    cleaned_data: dict[str, Any]

    def clean_tls_ca(self) -> str:
        path: str = self.cleaned_data["tls_ca"]
        if path and not Path(path).is_file():
            raise ValidationError(f"There is no file {path} on this machine.")
        return path

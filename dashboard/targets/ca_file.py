"""The form field for a file with certificate authorities."""

from typing import Any

from django.core.exceptions import ValidationError

from importer.engine.errors import Problem
from importer.security.ca_files import require_authorities


class WithCAFile:
    """Mixin for a form with a field `tls_ca`, which accepts only the path of a file with certificate authorities."""

    cleaned_data: dict[str, Any]

    def clean_tls_ca(self) -> str:
        path: str = self.cleaned_data["tls_ca"]
        try:
            require_authorities(path)
        except Problem as problem:
            raise ValidationError(str(problem)) from problem
        return path

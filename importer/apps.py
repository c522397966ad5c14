from django.apps import AppConfig
from django.core import checks


class ImporterConfig(AppConfig):
    name = "importer"

    def ready(self) -> None:
        """Register the system checks."""
        from importer.checks import native_library

        checks.register(native_library)

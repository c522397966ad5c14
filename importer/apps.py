from django.apps import AppConfig
from django.core import checks


class ImporterConfig(AppConfig):
    name = "importer"

    def ready(self) -> None:
        """Register the system checks, and decide who sees why a connection failed."""
        from importer.access.policy import sees_everything
        from importer.engine.mysql import reasons
        from importer.management.checks import OWN, native_library

        reasons.show_reasons_if(sees_everything)

        checks.register(native_library, OWN)

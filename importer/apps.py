from django.apps import AppConfig
from django.core import checks
from django.db.models.signals import post_migrate


class ImporterConfig(AppConfig):
    name = "importer"

    def ready(self) -> None:
        """Register the system checks and what follows migrations, and decide who sees why a connection failed."""
        from importer.access.policy import sees_everything
        from importer.engine.mysql import reasons
        from importer.management.checks import OWN, native_library

        reasons.show_reasons_if(sees_everything)

        checks.register(native_library, OWN)
        post_migrate.connect(_migrated, sender=self)


def _migrated(**_: object) -> None:
    from importer.management.application_tables import continue_numbers

    continue_numbers()

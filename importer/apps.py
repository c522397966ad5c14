import sys
from typing import TYPE_CHECKING

from django.apps import AppConfig
from django.conf import settings
from django.core import checks
from django.db import connection
from django.db.models.signals import post_migrate

if TYPE_CHECKING:
    from importer.engine.source.compression import DecompressionLimits


class ImporterConfig(AppConfig):
    name = "importer"

    def ready(self) -> None:
        """Register checks and what follows migrations, and give the engine what settings and roles decide.

        Ends the process, whichever it is, if this Python would misread files.
        """
        from importer.access.policy import sees_everything
        from importer.engine.mysql.sign_in import own_tables, reasons
        from importer.engine.source.compression import limit_unpacking
        from importer.engine.source.records.boundary.self_check import reader_problem
        from importer.management.checks import OWN, native_library

        if problem := reader_problem():
            sys.exit(f"Millrace: {problem}")
        reasons.show_reasons_if(sees_everything)
        own_tables.own_database_is(_own_database)
        limit_unpacking(_limits_of_settings)

        checks.register(native_library, OWN)
        post_migrate.connect(_migrated, sender=self)


def _limits_of_settings() -> "DecompressionLimits":
    from importer.engine.source.compression import DecompressionLimits
    from importer.sources.room import kept_free_among_temporary_files

    return DecompressionLimits(
        settings.UNPACKED_MAX_BYTES, settings.UNPACKED_MAX_RATIO, kept_free=kept_free_among_temporary_files()
    )


def _own_database() -> str:
    return str(connection.settings_dict["NAME"]) if connection.vendor == "mysql" else ""


def _migrated(**_: object) -> None:
    from importer.management.application_tables import continue_numbers

    continue_numbers()

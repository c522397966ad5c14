"""The file and table of the tests of `import_csv`, and what came of an import."""

from typing import Any

from django.core.management import call_command

from config.contracts.documents import REPORT
from importer.engine.mysql.connection import connect, fetch_all
from importer.models import Target
from tests.documents import read

ROWS = 2000


def loaded(target: Target) -> tuple:
    with connect(target.address) as connection:
        return fetch_all(connection, "SELECT COUNT(*), COUNT(born), MAX(name) FROM people")[0]


def report_of(printed: str) -> dict[str, Any]:
    """The one report that was printed."""
    report = read(printed)
    assert report["schema"] == REPORT.schema
    return report


def run(capsys, *args: str) -> str:
    """Run the command in this process; its output."""
    call_command("import_csv", *args)
    return capsys.readouterr().out

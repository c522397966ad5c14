"""The file and table of the tests of `import_csv`, and what came of an import."""

import json
from typing import Any

import jsonschema

from importer.engine.mysql.connection import connect, fetch_all
from importer.models import Target
from tests.stack import ROOT

ROWS = 5000


def loaded(target: Target) -> tuple:
    with connect(target.address) as connection:
        return fetch_all(connection, "SELECT COUNT(*), COUNT(born), MAX(name) FROM people")[0]


def report_of(printed: str) -> dict[str, Any]:
    """The one report that was printed, which docs/report.schema.json describes."""
    report = json.loads(printed)
    jsonschema.validate(report, json.loads((ROOT / "docs" / "report.schema.json").read_text()))
    return report

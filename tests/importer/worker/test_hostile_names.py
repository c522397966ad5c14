"""Names and values that are SQL: an import uses each as what it is, and runs none of it."""

from pathlib import Path

import pytest

from importer.engine.load import ledger
from importer.engine.mapping.columns import ColumnMapping, GeneratedColumn
from importer.engine.mysql.connection import Address, connect, execute, fetch_all
from importer.engine.mysql.quoting import quote_name
from importer.engine.plan.options import Options
from importer.models import ImportJob
from importer.preparation.prepare import ImportRequest
from tests.importer.steps import import_of, run
from tests.targets import saved_target

pytestmark = [pytest.mark.usefixtures("no_workers"), pytest.mark.django_db(transaction=True)]

DROP = "DROP TABLE victim; -- "
TABLE = f"t`; {DROP}x"
KEY, WORD, MADE = f"n`) ; {DROP}x", f"w', '); {DROP}\\", f"@m = 1; {DROP}%s"
VALUES = [f"'); {DROP}", f'"); {DROP}', "\\'; x", f"*/ {DROP}", "%s %(n)s", "`", "\\"]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A file whose name, header and values are SQL."""
    path = tmp_path / f"f'; {DROP}.csv"
    rows = [(KEY, WORD), *((str(number), value) for number, value in enumerate(VALUES, 1))]
    path.write_text("".join(",".join('"' + cell.replace('"', '""') + '"' for cell in row) + "\n" for row in rows))
    return path


@pytest.fixture
def database(database: Address) -> Address:
    columns = f"{quote_name(KEY)} INT PRIMARY KEY, {quote_name(WORD)} VARCHAR(90), {quote_name(MADE)} VARCHAR(90)"
    with connect(database) as connection:
        ledger.create(connection)
        execute(connection, "CREATE TABLE victim (n INT)")
        execute(
            connection, f"CREATE TABLE {quote_name(TABLE)} ({columns}, KEY {quote_name(WORD)} ({quote_name(WORD)}))"
        )
    return database


@pytest.mark.one_of("method")
@pytest.mark.parametrize("mode", ["append", "atomic", "replace", "upsert"])
@pytest.mark.parametrize("method", ["auto", "insert"])
def test_an_import_runs_none_of_it(database: Address, source: Path, mode: str, method: str):
    request = ImportRequest(
        options=Options(mode=mode, method=method, verify="counts" if mode == "upsert" else "full", on_error="reject"),
        mapping=[ColumnMapping(KEY), ColumnMapping(WORD, null_markers=(VALUES[0].strip(),), transforms=("trim",))],
        fillings=[GeneratedColumn(MADE, "text", VALUES[1])],
    )
    job = run(import_of(source, saved_target(database), TABLE, request))
    assert (job.status, job.problem) == (ImportJob.Status.SUCCEEDED, {})
    with connect(database) as connection:
        rows = fetch_all(connection, f"SELECT * FROM {quote_name(TABLE)} ORDER BY 1")
        assert fetch_all(connection, "SELECT COUNT(*) FROM victim") == [(0,)]
    assert rows == [
        (number, value.strip() if number > 1 else None, VALUES[1]) for number, value in enumerate(VALUES, 1)
    ]

"""A DBA loads a file while somebody holds a lock: the live page says who that is, and the import ends balanced."""

from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from importer.engine.load import ledger
from importer.engine.mysql.connection import Address, connect, execute
from importer.engine.plan.options import Options
from importer.jobs.actions import commands
from importer.models import ImportJob
from tests.browser.test_reach import expect_reachable
from tests.engine.loads import run_sql
from tests.importer.steps import import_of
from tests.stack import wait_until
from tests.targets import TestServer, saved_target

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.both_servers]
ROWS = 200_000
# How many questions the end of an import asks. Just after an answer, while the regular ones wait for their turn.
ASKED_AT_THE_END = """() => {
    let asked = 0;
    const count = ({ detail }) => { if (detail.requestConfig.path.endsWith("/why/")) asked += 1; };
    document.addEventListener("htmx:beforeRequest", count);
    htmx.trigger(document.body, "import-ended");
    document.removeEventListener("htmx:beforeRequest", count);
    return asked;
}"""


@pytest.fixture
def database(server: TestServer):
    """On each server, because each tells its locks in another way."""
    with server.fresh_database() as address:
        yield address


def test_the_page_of_an_import_that_waits_for_a_lock_says_who_holds_it(page: Page, database: Address, tmp_path: Path):
    with connect(database) as connection:
        ledger.create(connection)
        execute(connection, "CREATE TABLE orders (id INT PRIMARY KEY, amount INT)")
    path = tmp_path / "orders.csv"
    path.write_text("id,amount\n" + "".join(f"{n},{n % 977}\n" for n in range(ROWS)))
    options = Options(chunk_bytes=256 * 1024, parallelism=2)
    target = saved_target(database, "shop")
    job = import_of(path, target, "orders", options=options)
    banner = page.locator("#job-why")
    with connect(database) as other:
        execute(other, "LOCK TABLES orders WRITE")
        number = other.thread_id()
        commands.start(job.pk)
        page.goto(f"/jobs/{job.pk}/")
        expect(banner).to_contain_text("orders is locked")
        expect(banner).to_contain_text(f"connection {number} (root@")
        expect(banner.get_by_role("button", name=f"Copy KILL {number}")).to_be_visible()
        expect(page.locator("#job-server")).to_contain_text("Redo log")
        expect(page.get_by_role("img", name="The load over")).to_be_visible()
        with page.expect_response("**/why/*"):
            pass
        assert page.evaluate(ASKED_AT_THE_END) == 1
        expect_reachable(page)
        execute(other, "UNLOCK TABLES")
    wait_until(lambda: ImportJob.objects.get(pk=job.pk).ended, what="the import's end")
    expect(banner).to_have_text("")
    ended = ImportJob.objects.get(pk=job.pk)
    assert (ended.status, ended.balanced, ended.loaded_rows) == (ImportJob.Status.SUCCEEDED, True, ROWS)


@pytest.mark.parametrize("lock", ["a row", "the table"])
def test_with_the_prescribed_account_a_standstill_is_an_issue_until_a_grant_names_the_holder(
    page: Page, server: TestServer, database: Address, tmp_path: Path, lock: str
):
    run_sql(database, "CREATE TABLE orders (id INT PRIMARY KEY, amount INT)", f"INSERT INTO orders VALUES ({ROWS}, 0)")
    account = "'prescribed'@'127.0.0.1'"
    rights = "INSERT, SELECT, UPDATE, DELETE, CREATE, ALTER, DROP"
    server.run(f"CREATE USER {account} IDENTIFIED BY 'mill-race-9'")
    server.run(f"GRANT {rights} ON {database.database}.* TO {account}")
    own = replace(database, user="prescribed", password="mill-race-9")
    path = tmp_path / "orders.csv"
    path.write_text("id,amount\n" + "".join(f"{n},{n % 977}\n" for n in range(ROWS)))
    job = import_of(path, saved_target(own, "shop"), "orders", options=Options(parallelism=2))
    banner = page.locator("#job-why")
    try:
        with connect(database) as other:
            number = other.thread_id()
            # A transaction that has looked at the table, or has locked the place that the last row goes to.
            execute(other, "LOCK TABLES orders WRITE" if lock == "the table" else "START TRANSACTION")
            if lock == "a row":
                execute(other, "SELECT * FROM orders WHERE id >= 0 FOR UPDATE")
            commands.start(job.pk)
            page.goto(f"/jobs/{job.pk}/")
            expect(page.locator("#job-headline")).to_contain_text("Standstill", timeout=40_000)
            expect(page.locator("#job-headline")).to_contain_text("nothing has moved since")
            expect(banner).to_contain_text("GRANT")
            server.run(f"GRANT PROCESS ON *.* TO {account}")
            if server.flavour == "mysql":
                server.run(f"GRANT SELECT ON performance_schema.* TO {account}")
            expect(banner).to_contain_text(f"connection {number} (root@")
            execute(other, "UNLOCK TABLES" if lock == "the table" else "ROLLBACK")
        wait_until(lambda: ImportJob.objects.get(pk=job.pk).ended, what="the import's end")
        expect(page.locator("#job-headline")).not_to_contain_text("Standstill")
    finally:
        server.run(f"DROP USER {account}")

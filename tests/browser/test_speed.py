"""Speed settings in a browser: chosen on the new import page, seen in the plan, in the import and on its page."""

import re

from playwright.sync_api import expect

from importer.engine.load import ledger
from importer.engine.mysql.connection import connect, execute
from importer.engine.schema.indexes import read_indexes
from importer.models import ImportJob
from tests.targets import saved_target

ROWS = 2000


def test_settings_change_the_plan_and_stand_on_the_imports_page(page, web, database, tmp_path):
    with connect(database) as connection:
        ledger.create(connection)
        execute(connection, "CREATE TABLE orders (id INT PRIMARY KEY, name VARCHAR(40), KEY by_name (name))")
    target = saved_target(database)
    path = tmp_path / "orders.csv"
    path.write_text("id,name\n" + "".join(f"{n},name {n % 97}\n" for n in range(ROWS)))

    page.goto("/new/")
    page.locator("#file-choice").set_input_files(path)
    with page.expect_response(lambda answer: answer.request.method == "POST" and "/new/" in answer.url):
        page.get_by_label("Target").select_option(str(target.pk))
    card = page.locator(".speed")
    expect(page.locator(".htmx-request")).to_have_count(0)
    expect(card.locator("summary").first).to_contain_text("LOAD DATA LOCAL")
    card.locator("summary").first.focus()
    page.keyboard.press("Enter")
    card.get_by_label("Secondary indexes").select_option("defer")
    expect(page.locator(".plan-sentence")).to_contain_text("1 index after the load")
    # Still open, and the next field can be filled at once.
    card.get_by_label("Rows per commit").fill("many")
    page.keyboard.press("Tab")
    expect(card.get_by_text("Give a whole number")).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("^Import "))).to_be_disabled()
    card.get_by_label("Rows per commit").fill("500")
    page.keyboard.press("Tab")
    expect(card.get_by_text("2 chosen")).to_be_visible()
    page.get_by_role("button", name=re.compile("^Import ")).click()

    page.wait_for_url("**/jobs/*/")
    expect(page.locator("#job-status")).to_contain_text("Succeeded", timeout=60_000)
    expect(page.locator("[aria-labelledby=plan-title] .job-options").first).to_contain_text(
        "take off, put back after the load"
    )
    page.reload()
    expect(page.locator("#job-timeline")).to_contain_text("Index")
    job = ImportJob.objects.get()
    assert job.balanced
    assert job.chunks.count() == ROWS / 500
    with connect(database) as connection:
        assert "by_name" in [key.name for key in read_indexes(connection, database.database, "orders").keys]

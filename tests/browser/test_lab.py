"""A newcomer's way, in a browser and with real workers: from the history to a lab, its advice, and an import by it."""

import re
from pathlib import Path

from playwright.sync_api import Page, expect

from importer.engine.mysql.connection import Address, connect, fetch_all
from importer.jobs.actions import commands
from importer.models import ImportJob, Lab
from tests.engine.loads import run_sql
from tests.importer.steps import import_of
from tests.stack import wait_until
from tests.targets import saved_target

ROWS = 3000


def imported(address: Address, folder: Path) -> ImportJob:
    """What the demonstration begins with: an import that has ended."""
    run_sql(address, "CREATE TABLE orders (id INT PRIMARY KEY, name VARCHAR(40), KEY by_name (name))")
    path = folder / "orders.csv"
    path.write_text("id,name\n" + "".join(f"{n},name {n % 97}\n" for n in range(ROWS)))
    job = import_of(path, saved_target(address), "orders")
    commands.start(job.pk)
    wait_until(lambda: ImportJob.objects.get(pk=job.pk).ended, what="the first import")
    return job


def test_from_the_history_to_a_lab_and_to_an_import_by_its_advice(page: Page, database: Address, tmp_path: Path):
    first = imported(database, tmp_path)
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto("/")
    page.get_by_role("link", name="Performance").click()
    page.get_by_role("link", name="Try in the lab").click()

    # What it will take is shown before it starts, and changes with what is chosen.
    page.locator(".lab-grid", has_text="Rows per commit").click()
    values = page.get_by_role("textbox", name="Rows per commit")
    values.fill("500, lots")
    page.keyboard.press("Tab")
    expect(page.locator(".invalid-feedback")).to_contain_text("is not a whole number")
    expect(page.get_by_role("button", name="Start the lab")).to_be_disabled()
    values.fill("500")
    page.keyboard.press("Tab")
    # The answer replaces the form: what is typed before it comes would be lost.
    expect(page.locator(".start-message")).to_contain_text("8 trials, about")
    page.get_by_label("Rounds that count").fill("1")
    page.keyboard.press("Tab")
    expect(page.locator(".start-message")).to_contain_text("4 trials, about")
    page.reload()
    expect(values).to_have_value("500")
    page.get_by_role("button", name="Start the lab").click()

    # It fills in by itself.
    page.wait_for_url(re.compile(r"/labs/\d+/$"))
    expect(page.locator("#lab-status")).to_contain_text("Done", timeout=60_000)
    expect(page.locator("#lab-bars")).to_be_visible()
    expect(page.locator(".lab-ranking tbody tr")).to_have_count(2)
    # Its labels are whole, also where there is little room.
    page.set_viewport_size({"width": 390, "height": 844})
    labels = "Chart.getChart('lab-bars').scales.y.ticks.map((each) => each.label.join(' '))"
    shorts = page.evaluate("fetch(document.getElementById('lab-live').dataset.charts).then((answer) => answer.json())")
    assert page.evaluate(labels) == [each["short"] for each in shorts["bars"]]
    page.set_viewport_size({"width": 1280, "height": 800})
    # The lines of the progress card keep their spacing next to a taller chart.
    box = "[...document.querySelector('#lab-progress .card-body').children].map((each) => each.getBoundingClientRect())"
    assert page.evaluate(f"{box}.every((each, n, all) => !n || each.top - all[n - 1].bottom < 20)")
    page.locator(".lab-round a").last.click()
    expect(page.locator("#trial-4")).to_be_visible()
    page.get_by_role("link", name="Import this file").click()

    # Rows with these keys are there already: the page says so, and the newcomer chooses replace.
    expect(page.get_by_text(re.compile("Mode append adds"))).to_be_visible()
    page.get_by_text("Import mode", exact=True).click()
    page.locator("[id^=mode-replace-]").check()
    expect(page.get_by_text(re.compile("Mode append adds"))).to_be_hidden()
    page.get_by_role("button", name=re.compile("^Import ")).click()
    page.wait_for_url(re.compile(r"/jobs/\d+/$"))
    expect(page.locator("#job-status")).to_contain_text("Succeeded", timeout=60_000)
    done, made = ImportJob.objects.get(rejects_of=None, trial=None, pk__gt=first.pk), Lab.objects.get()
    assert (made.of_job, done.balanced, done.options.mode) == (first, True, "replace")
    assert errors == []
    with connect(database) as connection:
        assert fetch_all(connection, "SELECT COUNT(*) FROM orders") == [(ROWS,)]
        assert fetch_all(connection, "SHOW TABLES LIKE 'millrace\\_lab\\_%'") == []

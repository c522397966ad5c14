"""The speed settings on the new import page: shown with what the plan makes of them, kept, refused at their field."""

import re

from django.urls import reverse
from django.utils.html import escape

from importer.engine.mysql.connection import connect, execute
from importer.engine.plan.option_specs import SPEED
from importer.engine.plan.options import OF_CREATING
from importer.models import ImportJob, MappingPreset
from tests.dashboard.new_import.test_page import HTMX, TABLES, show, shown_form, start, uploaded
from tests.dashboard.new_import.test_presets import save
from tests.dashboard.new_import.test_questions import buttons

__all__ = ["TABLES"]

ASKED = {"commit_rows": "2", "isolation": "READ-COMMITTED", "session": "Sort_Buffer_Size = 4M\nnet_read_timeout=60"}
MEANT = {
    "commit_rows": 2,
    "isolation": "READ-COMMITTED",
    "session": {"sort_buffer_size": "4M", "net_read_timeout": "60"},
}


def at_field(answer, name: str) -> str:
    """The problem shown at a field that is marked as invalid; "" if it is not."""
    html = answer.content.decode()
    found = re.search(rf'<div class="invalid-feedback" id="{name}-[^"]*-problem">([^<]*)', html)
    return found[1] if found and re.search(rf'is-invalid" id="{name}-', html) else ""


class TestPage:
    def test_closed_it_says_what_the_planner_chose(self, browser, user, target):
        html = show(browser, uploaded(user)).content.decode()
        assert re.search(r'speed-summary break">LOAD DATA LOCAL · 1 in parallel · One chunk of', html)
        assert not re.search(r'<details class="speed"[^>]* open', html)
        for setting in SPEED:
            if setting.name not in ("rows_per_statement", *OF_CREATING):
                assert f">{escape(setting.label)}</label>" in html
        assert " chosen<" not in html

    def test_a_choice_changes_the_plan_and_stays_in_the_form(self, browser, user, target):
        source = uploaded(user)
        answer = show(browser, source, **shown_form(show(browser, source)) | ASKED)
        html = answer.content.decode()
        assert "Sort_Buffer_Size = 4M\nnet_read_timeout=60" in html
        assert "sort_buffer_size = 4M in each session" in html
        assert "3 chosen" in html
        assert shown_form(answer)["commit_rows"] == "2"

    def test_options_that_are_not_the_default_say_where_they_come_from(self, browser, user, target):
        source = uploaded(user)
        fresh = show(browser, source)
        assert "Chosen options:" not in fresh.text
        asked = {"on_error": "reject", "max_rejects": "7", "parallelism": "3", "null_markers": "NA"}
        shown = show(browser, source, **shown_form(fresh) | asked)
        assert "Chosen options: as you set them for this file." in shown.text
        assert re.findall(r'group-title">([^<]*) <span class="badge bg-azure-lt">([^<]*)<', shown.text) == [
            ("Error handling", "2 chosen"),
            ("Speed", "1 chosen"),
        ]
        assert 'NULL is written as <span class="badge bg-azure-lt">chosen</span>' in shown.text
        # Of 100 bytes no session but one gets any.
        assert "1 of up to 3 in parallel · One chunk" in shown.text
        again = show(browser, source, **shown_form(shown), answer=buttons(shown)["Use the defaults"])
        assert "Chosen options:" not in again.text
        assert (shown_form(again)["on_error"], shown_form(again)["parallelism"]) == (shown_form(fresh)["on_error"], "")
        assert shown_form(again)["null_markers"] == "NA"

    def test_options_of_a_preset_say_so(self, browser, user, target):
        source = uploaded(user)
        shown = shown_form(show(browser, source)) | {"parallelism": "3", "preset_name": "monthly"}
        browser.post(reverse("save_preset", args=[source.key]), shown, headers=HTMX)
        preset = MappingPreset.objects.get()
        page = browser.get(f"{reverse('new_source', args=[source.key])}?preset={preset.pk}", headers=HTMX)
        assert "Chosen options: as in the preset monthly." in page.text
        page = show(browser, source, **shown_form(page) | {"on_error": "reject"})
        assert "Chosen options: as in the preset monthly, with your changes." in page.text

    def test_a_bad_value_is_said_beside_its_field(self, browser, user, target):
        source = uploaded(user)
        values = shown_form(show(browser, source))
        answer = show(browser, source, **{**values, "commit_rows": "many"})
        assert answer.status_code == 422
        assert "whole number" in at_field(answer, "commit_rows")
        assert re.search(r'<details class="speed"[^>]* open', answer.content.decode())
        answer = show(browser, source, **{**values, "session": "sql_mode = ANSI"})
        assert "sql_mode cannot be set" in at_field(answer, "session")
        assert start(browser, source, **{**values, "method": "telepathy"}).status_code == 422
        assert not ImportJob.objects.exists()

    def test_the_page_comes_back_as_it_was_left(self, browser, user, target):
        source = uploaded(user)
        show(browser, source, **shown_form(show(browser, source)) | ASKED)
        assert shown_form(browser.get(reverse("new_source", args=[source.key])))["commit_rows"] == "2"
        afresh = browser.get(reverse("new_source", args=[source.key]), {"afresh": "yes"})
        assert shown_form(afresh)["commit_rows"] == ""
        assert shown_form(show(browser, source))["commit_rows"] == ""

    def test_indexes_after_the_load_are_planned_with_their_sql(self, browser, user, target):
        with connect(target.address) as connection:
            execute(connection, "ALTER TABLE cities ADD KEY by_name (name), ADD KEY by_seen (seen)")
        source = uploaded(user)
        html = show(browser, source, **shown_form(show(browser, source)) | {"indexes": "defer"}).content.decode()
        assert re.search(r'setting-now break">2 indexes after the load', html)
        assert "DROP KEY `by_name`, DROP KEY `by_seen`" in html
        assert "ADD KEY `by_name`" in html

    def test_an_import_starts_with_them_and_shows_them(self, browser, user, target):
        source = uploaded(user)
        start(browser, source, **shown_form(show(browser, source)) | ASKED)
        job = ImportJob.objects.get()
        assert {name: getattr(job.options, name) for name in MEANT} == MEANT


class TestKept:
    def test_in_a_preset(self, browser, user, target):
        save(browser, uploaded(user), **ASKED, mode="atomic")
        preset = MappingPreset.objects.get()
        assert {name: getattr(preset.options, name) for name in MEANT} == MEANT
        values = shown_form(show(browser, uploaded(user, name="next.csv")))
        assert (values["commit_rows"], values["mode"]) == ("2", "atomic")
        assert values["session"] == "net_read_timeout = 60\nsort_buffer_size = 4M"

    def test_for_the_rejected_rows_of_an_import(self, browser, user, target):
        source = uploaded(user)
        start(browser, source, **shown_form(show(browser, source)) | ASKED)
        again = {"again": str(ImportJob.objects.get().pk)}
        answer = browser.get(reverse("new_source", args=[uploaded(user, name="corrected.csv").key]), again)
        assert shown_form(answer)["commit_rows"] == "2"

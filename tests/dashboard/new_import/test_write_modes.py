"""The modes on the new import page, and the kept table on the page of an import."""

import re
from html import unescape

import pytest
from django.urls import reverse

from importer.engine.plan.options import Options
from importer.engine.stored import to_json
from importer.engine.target.write_modes import MODES
from importer.models import ImportJob
from tests.dashboard.job_data import make_job
from tests.dashboard.new_import.grid.test_grid import press
from tests.dashboard.new_import.test_page import show, shown_form, start, uploaded

pytestmark = pytest.mark.django_db

ITEMS = b"code,amount,day\n007,1,2024-01-01\n008,2,\n"
TABLES = (
    "CREATE TABLE items (code VARCHAR(10), amount INT, day DATE)",
    "CREATE TABLE articles (id INT PRIMARY KEY, name VARCHAR(9) NOT NULL, price INT)",
    "CREATE TABLE parent (id INT PRIMARY KEY)",
    "CREATE TABLE child (id INT, FOREIGN KEY (id) REFERENCES parent (id))",
)


def form(target, table, mode, **values):
    return {"target": str(target.pk), "table": table, "mode": mode, **values}


def basis(html):
    return html.split('name="basis" value="')[1].split('"')[0]


class TestModes:
    def test_append_is_the_one_to_begin_with(self, browser, user, target):
        html = show(browser, uploaded(user, ITEMS, "items.csv")).content.decode()
        assert html.count('name="mode"') == len(MODES)
        assert 'value="append" checked' in html

    def test_the_plan_of_a_mode_that_stages_shows_all_its_statements(self, browser, user, target):
        source = uploaded(user, ITEMS, "items.csv")
        html = show(browser, source, **form(target, "items", "replace")).content.decode()
        for words in ("take the table&#x27;s place in one instant", "LIKE", "RENAME TABLE", "millrace_stage_"):
            assert words in html
        assert ".<wbr>items</span></button>" in html

    def test_what_a_mode_cannot_keep_is_refused_with_the_cure(self, browser, user, target):
        source = uploaded(user, b"id\n1\n", "parent.csv")
        answer = show(browser, source, **form(target, "parent", "replace"))
        assert answer.status_code == 422
        assert "point at parent" in answer.content.decode()
        assert "Choose mode sync, upsert or atomic" in answer.content.decode()

    def test_an_update_needs_no_field_for_a_column_that_must_have_a_value(self, browser, user, target):
        source = uploaded(user, b"id,price\n1,2\n", "prices.csv")
        refused = show(browser, source, **form(target, "articles", "upsert"))
        assert (refused.status_code, "must have a value" in refused.text) == (422, True)
        shown = show(browser, source, **form(target, "articles", "update"))
        assert (shown.status_code, "stays as it is" in shown.text) == (200, True)
        assert all(f'name="{name}"' in shown.text for name in ("key", "stop_if", "preview", "undo"))
        assert 'name="missing"' not in shown.text

    def test_a_preview_is_started_like_an_import(self, browser, user, target):
        source = uploaded(user, b"id,name,price\n1,one,2\n", "articles.csv")
        shown = show(browser, source, **form(target, "articles", "sync", preview="yes", missing="keep", undo="keep"))
        assert 'name="missing"' in shown.text
        start(browser, source, **shown_form(shown))
        options = ImportJob.objects.get().options
        assert (options.mode, options.preview, options.missing, options.undo) == ("sync", True, "keep", "keep")

    def test_a_mode_that_is_none_is_refused(self, browser, user, target):
        answer = show(browser, uploaded(user, ITEMS, "items.csv"), **form(target, "items", "nonsense"))
        assert answer.status_code == 422

    def test_an_import_starts_in_the_chosen_mode(self, browser, user, target):
        source = uploaded(user, ITEMS, "items.csv")
        values = form(target, "items", "atomic")
        shown = show(browser, source, **values).content.decode()
        fields = {f"column_{number}": name for number, name in enumerate(("code", "amount", "day"))}
        start(browser, source, **values, **fields, basis=basis(shown))
        job = ImportJob.objects.get()
        assert job.options.mode == "atomic"
        assert str(job.key).replace("-", "") in job.plan.table


class TestCreate:
    def test_types_are_suggested_and_can_be_changed(self, browser, user, target):
        source = uploaded(user, ITEMS, "fresh.csv")
        values = form(target, "fresh", "create")
        html = show(browser, source, **values).content.decode()
        for number, type_ in enumerate(("varchar(16)", "int", "date")):
            assert f'name="type_{number}" value="{type_}"' in html
        assert "CREATE TABLE" in html
        changed = {
            "type_1": "DECIMAL(9,2)",
            "nulls_0": "key",
            "nulls_2": "not_null",
            "widen": "yes",
            "mode_shown": "create",
        }
        fields = {f"column_{number}": name for number, name in enumerate(("code", "price", "day"))}
        html = show(browser, source, **values, **changed, **fields, basis=basis(html)).content.decode()
        assert "`price` decimal(9,2) NULL" in html
        assert "`day` date NOT NULL" in html
        assert "PRIMARY KEY (`code`)" in html
        start(browser, source, **values, **changed, **fields, basis=basis(html))
        assert ImportJob.objects.get().new_table.primary_key == ("code",)

    def test_the_columns_of_a_key_are_put_in_order(self, browser, user, target):
        source = uploaded(user, ITEMS, "fresh.csv")
        values = shown_form(show(browser, source, **form(target, "fresh", "create")))
        for chosen, keys in (
            ({"nulls_2": "key"}, "`day`"),
            ({"nulls_0": "key"}, "`day`, `code`"),
            ({"nulls_1": "key"}, "`day`, `code`, `amount`"),
            ({"nulls_1": "key_1"}, "`amount`, `day`, `code`"),
            ({"nulls_1": "key_3"}, "`day`, `code`, `amount`"),
            ({"nulls_2": "null"}, "`code`, `amount`"),
            ({"nulls_0": "key_2"}, "`amount`, `code`"),
        ):
            shown = show(browser, source, **{**values, **chosen})
            assert f"PRIMARY KEY ({keys})" in shown.content.decode()
            values = shown_form(shown)
        assert ">2nd of the key</option>" in shown.content.decode()
        start(browser, source, **values)
        assert ImportJob.objects.get().new_table.primary_key == ("amount", "code")

    def test_a_type_that_is_none_is_refused_and_stays_editable(self, browser, user, target):
        source = uploaded(user, ITEMS, "fresh.csv")
        values = form(target, "fresh", "create")
        html = show(browser, source, **values).content.decode()
        answer = show(browser, source, **values, type_1="int); DROP TABLE items", basis=basis(html))
        assert answer.status_code == 422
        assert "not a column type" in answer.content.decode()
        assert 'name="type_1" value="int); DROP TABLE items"' in answer.content.decode()

    def test_a_field_without_a_name_has_no_column(self, browser, user, target):
        source = uploaded(user, ITEMS, "fresh.csv")
        values = shown_form(show(browser, source, **form(target, "fresh", "create"))) | {"column_1": ""}
        start(browser, source, **shown_form(show(browser, source, **values)))
        assert [each.name for each in ImportJob.objects.get().new_table.columns] == ["code", "day"]

    @pytest.mark.parametrize(
        ("name", "words"), [("CODE", "two columns named CODE"), ("x\u200b", "No column can be named")]
    )
    def test_a_name_that_no_table_takes_is_refused_and_stays_editable(self, browser, user, target, name, words):
        source = uploaded(user, ITEMS, "fresh.csv")
        values = shown_form(show(browser, source, **form(target, "fresh", "create"))) | {"column_1": name}
        answer = show(browser, source, **values)
        assert words in unescape(answer.content.decode())
        assert shown_form(answer)["column_1"] == name

    def test_a_table_that_is_there_is_refused(self, browser, user, target):
        source = uploaded(user, ITEMS, "items.csv")
        answer = show(browser, source, **form(target, "items", "create"))
        assert answer.status_code == 422
        assert "There is a table" in answer.content.decode()
        append = press(shown_form(answer), answer.content.decode(), "Append to the table")
        assert shown_form(show(browser, source, **append))["mode"] == "append"

    def test_a_name_that_no_server_takes_is_refused(self, browser, user, target):
        answer = show(browser, uploaded(user, ITEMS, "fresh.csv"), **form(target, "new \N{GRINNING FACE}", "create"))
        assert answer.status_code == 422
        assert "No table can be named new \N{GRINNING FACE}." in answer.content.decode()

    def test_a_name_that_is_no_table_offers_to_create_it(self, browser, user, target):
        source = uploaded(user, ITEMS, "items.csv")
        answer = show(browser, source, **form(target, "nowhere", "append"))
        button = re.search(r'value="([^"]*)">Create table nowhere<', answer.content.decode())
        created = show(browser, source, **shown_form(answer), answer=unescape(button[1]))
        assert (shown_form(created)["mode"], shown_form(created)["type_2"]) == ("create", "date")


class TestKeptTable:
    def kept(self, **fields):
        options = to_json(Options(mode="replace"))
        return make_job(
            ImportJob.Status.SUCCEEDED, chunks=2, options_json=options, staging="done",
            kept_table="millrace_old_1", kept_rows=1234, kept_bytes=5_000_000, **fields,
        )  # fmt: skip

    def test_its_size_is_told_and_there_are_two_buttons(self, browser):
        html = browser.get(reverse("job", args=[self.kept().pk])).content.decode()
        assert "about 1,234 rows, 4.77 MiB" in html
        assert 'id="job-restore"' in html
        assert 'id="job-drop-backup"' in html

    def test_a_later_import_takes_the_restore_away_and_says_why(self, browser):
        job = self.kept()
        later = make_job(ImportJob.Status.SUCCEEDED, chunks=1)
        ImportJob.objects.filter(pk=later.pk).update(started_at=job.finished_at)
        html = browser.get(reverse("job", args=[job.pk])).content.decode()
        assert 'id="job-restore"' not in html
        assert f"Import {later.pk} has worked on the table since" in html
        assert 'id="job-drop-backup"' in html

    def test_without_one_there_is_no_card(self, browser):
        html = browser.get(reverse("job", args=[make_job(chunks=1).pk])).content.decode()
        assert 'id="job-restore"' not in html
        assert 'id="job-drop-backup"' not in html

    def test_a_failed_import_that_staged_says_that_the_table_is_as_it_was(self, browser):
        job = make_job(ImportJob.Status.FAILED, chunks=2, loaded=0, options_json=to_json(Options(mode="atomic")))
        html = browser.get(reverse("job", args=[job.pk])).content.decode()
        assert "Failed; the table is as it was" in html
        assert "Retry from the start" in html
        ImportJob.objects.filter(pk=job.pk).update(staging="ready")
        assert "not known yet" in browser.get(reverse("job", args=[job.pk])).content.decode()

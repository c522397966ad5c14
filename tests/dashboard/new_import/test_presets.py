"""Presets on the pages: saved from a new import and from one that has ended, offered, renamed, deleted."""

import json
import re

import pytest
from django.urls import reverse

from importer.engine.mapping.columns import GeneratedColumn
from importer.engine.mapping.transforms import TRANSFORMS
from importer.engine.mysql.connection import connect, execute
from importer.models import ImportJob, MappingPreset
from tests.dashboard.new_import.test_page import HTMX, TABLES, show, shown_form, start, uploaded

__all__ = ["TABLES"]


def save(browser, source, name: str = "monthly", **values):
    shown = {**shown_form(show(browser, source)), "preset_name": name, **values}
    return browser.post(reverse("save_preset", args=[source.key]), shown, headers=HTMX)


class TestSaving:
    def test_from_a_new_import(self, browser, user, target):
        answer = save(browser, uploaded(user), trim_1="trim", on_error="reject", max_rejects="7")
        assert "Saved as preset" in answer.content.decode()
        preset = MappingPreset.objects.get()
        assert (preset.name, preset.created_by, preset.table_name) == ("monthly", user, "cities")
        assert preset.mapping[1].transforms == ("trim",)
        assert (preset.options.on_error, preset.options.max_rejects) == ("reject", 7)

    def test_from_a_new_import_for_a_schedule(self, browser, user, target):
        answer = save(browser, uploaded(user), preset_schedule="yes")
        preset = MappingPreset.objects.get()
        assert answer["HX-Redirect"] == f"{reverse('schedule_new')}?preset={preset.pk}"
        form = browser.get(answer["HX-Redirect"]).content.decode()
        assert "Files with preset monthly" in form

    def test_a_name_that_is_taken(self, browser, user, target):
        save(browser, uploaded(user))
        answer = save(browser, uploaded(user, name="b.csv"), preset="")
        assert answer.status_code == 422
        assert "cannot be the preset" in answer.content.decode()
        assert shown_form(answer)["preset_name"] == "monthly"
        assert MappingPreset.objects.count() == 1

    def test_from_an_import_that_has_been(self, browser, user, target):
        source = uploaded(user)
        start(browser, source, **shown_form(show(browser, source)))
        job = ImportJob.objects.get()
        assert browser.post(reverse("job_preset", args=[job.pk]), {"name": "as before"}).status_code == 302
        assert MappingPreset.objects.get().mapping == job.mapping

    def test_from_an_import_whose_table_is_gone(self, browser, user, target):
        source = uploaded(user)
        start(browser, source, **shown_form(show(browser, source)))
        with connect(target.address) as connection:
            execute(connection, "DROP TABLE cities")
        job = ImportJob.objects.get()
        ImportJob.objects.update(status=ImportJob.Status.SUCCEEDED, table_claim=None)
        answer = browser.post(reverse("job_preset", args=[job.pk]), {"name": "a & b"}, follow=True)
        page = answer.content.decode()
        assert answer.redirect_chain[0][0].startswith(reverse("job", args=[job.pk]))
        assert 'class="alert alert-danger"' in page
        assert 'name="name" value="a &amp; b"' in page
        assert not MappingPreset.objects.exists()
        assert "There is no table “cities”" in answer.content.decode()


class TestOffering:
    def test_the_only_one_for_a_header_is_chosen_by_itself(self, browser, user, target):
        save(browser, uploaded(user), null_3="-", parallelism="3", on_error="reject", max_rejects="7")
        values = shown_form(show(browser, uploaded(user, name="other.csv")))
        assert values["preset"] == str(MappingPreset.objects.get().pk)
        assert (values["table"], values["null_3"], values["parallelism"]) == (f"{target.database}.cities", "-", "3")
        assert (values["on_error"], values["max_rejects"]) == ("reject", "7")

    def test_what_this_file_shows_otherwise_is_asked_about(self, browser, user, target):
        """The preset is chosen by itself, and its encoding would store other characters in silence."""
        save(browser, uploaded(user, "id,name\n1,Zürich\n".encode("cp1252")), answer='{"encoding": "cp1252"}')
        assert MappingPreset.objects.get().file_dialect.encoding == "cp1252"
        source = uploaded(user, "id,name\n1,Zürich\n2,Graz\nTotal\n".encode(), name="other.csv")
        answer = show(browser, source)
        page, values = answer.content.decode(), shown_form(answer)
        assert "The file is UTF-8, and the file that showed the format is cp1252." in page
        assert "The file has 1 line of a footer, and the file that showed the format has no lines" in page
        assert (values["preset"], values["encoding"], values["skip_footer"]) != ("", "cp1252", "0")
        assert start(browser, source, **values).status_code == 422
        assert not ImportJob.objects.exists()
        for given in ({"encoding": "utf-8"}, {"skip_footer": "1"}):
            values = shown_form(show(browser, source, **values, answer=json.dumps(given)))
        start(browser, source, **values)
        job = ImportJob.objects.get()
        assert (job.file_dialect.encoding, job.file_dialect.skip_footer) == ("utf-8", 1)

    def test_one_for_files_without_a_header_is_for_people_to_choose(self, browser, user, target):
        """Any file with as many fields would be taken for one of its kind."""
        source = uploaded(user, b"1,one\n2,two\n")
        save(browser, source, header="no", answered='["header"]', column_0="id", column_1="name")
        preset = MappingPreset.objects.get()
        assert not preset.file_dialect.header
        answer = show(browser, uploaded(user, b"3,three\n4,four\n", name="other.csv"))
        assert f'value="{preset.pk}"' in answer.content.decode()
        assert shown_form(answer)["preset"] == ""

    def test_one_of_two_is_for_people_to_choose(self, browser, user, target):
        save(browser, uploaded(user), "one")
        save(browser, uploaded(user), "two", preset="")
        values = shown_form(show(browser, uploaded(user)))
        assert values["preset"] == ""
        two = MappingPreset.objects.get(name="two")
        assert shown_form(show(browser, uploaded(user), **{**values, "preset": two.pk}))["preset_shown"] == str(two.pk)

    def test_none_for_another_header(self, browser, user, target):
        save(browser, uploaded(user))
        assert "preset" not in shown_form(show(browser, uploaded(user, b"id,other\n1,x\n")))

    def test_what_has_changed_in_the_table_is_said(self, browser, user, target):
        save(browser, uploaded(user))
        with connect(target.address) as connection:
            execute(connection, "ALTER TABLE cities DROP COLUMN population, ADD COLUMN people BIGINT")
        answer = show(browser, uploaded(user))
        assert "population is gone; people is new" in answer.content.decode()
        assert shown_form(answer)["column_3"] == ""

    def test_starting_with_it_counts_as_using_it(self, browser, user, target):
        save(browser, uploaded(user))
        MappingPreset.objects.update(used_at=None)
        source = uploaded(user)
        start(browser, source, **shown_form(show(browser, source)))
        assert MappingPreset.objects.get().used_at is not None

    def test_one_with_another_delimiter_is_named_beside_the_way_back(self, browser, user, target):
        save(browser, uploaded(user))
        other = uploaded(user, b"id;name\n1;Ann\n", "other.csv")
        page = show(browser, other, preset=str(MappingPreset.objects.get().pk)).content.decode()
        assert "The preset monthly does not fit this file.</strong> It states the format comma, UTF-8" in page
        assert f'{reverse("new_source", args=[other.key])}?afresh=yes">Read the file as detected' in page
        assert page.index('role="alert"') < page.index("Read the file as detected") < page.index('id="grid-')
        # The step that has the problem is not done.
        assert re.findall(r'step-number( step-done)?" aria-hidden="true">([23])<', page) == [("", "2"), ("", "3")]


class TestPage:
    def test_rename_and_delete(self, browser, user, target):
        save(browser, uploaded(user))
        preset = MappingPreset.objects.get()
        browser.post(reverse("preset_rename", args=[preset.pk]), {"name": "yearly <b>"})
        assert "yearly &lt;b&gt;" in browser.get(reverse("presets")).content.decode()
        browser.post(reverse("preset_delete", args=[preset.pk]))
        assert "No presets yet" in browser.get(reverse("presets")).content.decode()

    @pytest.mark.parametrize("name", ["", "x" * 65, "a\0b"])
    def test_a_name_that_cannot_be(self, browser, user, target, name):
        save(browser, uploaded(user))
        answer = browser.post(reverse("preset_rename", args=[MappingPreset.objects.get().pk]), {"name": name})
        assert answer.status_code == 422
        assert shown_form(answer)["name"] == name
        assert "monthly</h1>" in answer.content.decode()
        assert MappingPreset.objects.get().name == "monthly"


class TestFillings:
    def test_they_are_planned_and_kept(self, browser, user, target):
        source = uploaded(user)
        with connect(target.address) as connection:
            execute(connection, "ALTER TABLE cities ADD COLUMN source TEXT, ADD COLUMN note VARCHAR(40)")
        values = shown_form(show(browser, source)) | {"fill_4": "file", "fill_5": "text"}
        values = shown_form(show(browser, source, **values))
        assert (values["fill_4"], values["filltext_5"]) == ("file", "")
        start(browser, source, **values)
        assert ImportJob.objects.get().fillings == (
            GeneratedColumn("source", "file"),
            GeneratedColumn("note", "text", ""),
        )

    def test_a_column_that_has_got_a_field_is_not_filled(self, browser, user, target):
        source = uploaded(user)
        values = shown_form(show(browser, source)) | {"column_3": ""}
        values = shown_form(show(browser, source, **values)) | {"fill_3": "row"}
        values = shown_form(show(browser, source, **values)) | {"column_3": "population"}
        answer = show(browser, source, **values)
        assert answer.status_code == 200
        assert "fill_3" not in shown_form(answer)

    def test_names_that_are_not_offered_are_refused(self, browser, user, target):
        source = uploaded(user)
        values = shown_form(show(browser, source)) | {"column_3": "", "fill_3": "version()"}
        assert "filled from &#x27;version()&#x27;" in show(browser, source, **values).content.decode()
        values |= {"fill_3": "", "read_1": "sleep(1)"}
        assert "no transform &#x27;sleep(1)&#x27;" in show(browser, source, **values).content.decode()


class TestChanging:
    def test_the_chosen_preset_gets_what_the_form_says(self, browser, user, target):
        source = uploaded(user)
        save(browser, source)
        preset = MappingPreset.objects.get()
        page = browser.get(reverse("preset", args=[preset.pk])).content.decode()
        assert "Choose another file" in page
        assert source.name not in page
        assert ">Format:</span> comma, UTF-8, header row" in page
        shown = shown_form(show(browser, source)) | {"preset_update": "yes", "parallelism": "3", "trim_1": "trim"}
        answer = browser.post(reverse("save_preset", args=[source.key]), shown, headers=HTMX)
        assert "Saved as preset <strong>monthly</strong>" in answer.content.decode()
        changed = MappingPreset.objects.get()
        assert (changed.pk, changed.options.parallelism, changed.mapping[1].transforms) == (preset.pk, 3, ("trim",))
        page = browser.get(reverse("preset", args=[preset.pk])).content.decode()
        assert f'data-label="Conversion">{TRANSFORMS["trim"].label}</td>' in page
        assert ">Parallel chunks:</span> 3" in page

    def test_a_file_that_was_imported_into_its_table_opens_the_form_with_it(self, browser, user, target):
        source = uploaded(user)
        start(browser, source, **shown_form(show(browser, source)))
        browser.post(reverse("job_preset", args=[ImportJob.objects.get().pk]), {"name": "as before"})
        preset = MappingPreset.objects.get()
        opened = f"{reverse('new_source', args=[source.key])}?preset={preset.pk}"
        assert opened in browser.get(reverse("preset", args=[preset.pk])).content.decode()
        assert browser.get(opened).status_code == 200

    def test_files_that_are_chosen_for_a_preset_begin_with_it(self, browser, user, target):
        source = uploaded(user)
        save(browser, source)
        preset = MappingPreset.objects.get()
        address = f"{reverse('new')}?preset={preset.pk}"
        for page in (reverse("preset", args=[preset.pk]), reverse("presets")):
            assert f'href="{address}"' in browser.get(page).text
        page = browser.get(address).text
        assert "begin with the settings of the preset" in page
        assert re.search(rf'data-preview="[^"]*\?preset={preset.pk}"', page)
        assert f"{reverse('new_source', args=[source.key])}?preset={preset.pk}" in page
        assert "?preset=" not in browser.get(reverse("new")).text

"""The policy for rows that cannot be loaded, chosen on the new import page."""

import pytest
from django.urls import reverse

from dashboard.new_import.form import NewImportForm
from importer.models import ImportJob, MappingPreset
from tests.dashboard.new_import.test_page import TABLES, show, shown_form, start, uploaded

__all__ = ["TABLES"]

pytestmark = pytest.mark.django_db


class TestWhatDoesNotFit:
    def test_nothing_is_left_out_unless_asked(self, browser, user, target):
        answer = show(browser, uploaded(user))
        values = shown_form(answer)
        assert (values["on_error"], values["on_duplicate"], values["rounding"]) == ("stop", "", "notice")
        assert "max_rejects" not in values

    def test_limits_are_asked_for_with_leaving_out(self, browser, user, target):
        source = uploaded(user)
        values = shown_form(show(browser, source)) | {"on_error": "reject"}
        values = shown_form(show(browser, source, **values)) | {"max_rejects": "0", "max_reject_percent": "0,5"}
        answer = show(browser, source, **values)
        assert answer.status_code == 200
        assert shown_form(answer)["max_rejects"] == "0"
        start(browser, source, **shown_form(answer))
        options = ImportJob.objects.get().options
        assert (options.on_error, options.max_rejects, options.max_reject_percent) == ("reject", 0, 0.5)

    def test_the_default_limit_holds_until_another_is_chosen(self, browser, user, target):
        source = uploaded(user)
        values = shown_form(show(browser, source)) | {"on_error": "reject"}
        values = shown_form(show(browser, source, **values))
        assert (values["max_rejects"], values["max_reject_percent"]) == ("", "")
        assert NewImportForm(values).options.most_rejects(1000) == 100
        assert NewImportForm(values | {"max_reject_percent": "3"}).options.most_rejects(1000) == 30
        assert not NewImportForm(values | {"max_rejects": "none"}).options.limits_rejects

    def test_a_preset_without_a_limit_stays_without(self, browser, user, target):
        source = uploaded(user)
        values = shown_form(show(browser, source)) | {"on_error": "reject", "max_rejects": "none"}
        browser.post(reverse("save_preset", args=[source.key]), values | {"preset_name": "all"})
        preset = MappingPreset.objects.get()
        assert not NewImportForm({"preset": str(preset.pk)}).options.limits_rejects

    def test_a_limit_is_forgotten_where_the_import_stops_anyway(self):
        options = NewImportForm({"on_error": "stop", "max_rejects": "5"}).options
        assert (options.on_error, options.max_rejects) == ("stop", None)

    @pytest.mark.parametrize(("name", "value"), [("max_rejects", "-1"), ("max_rejects", "many"), ("max_rejects", "1.5"),
        ("max_reject_percent", "101"), ("max_reject_percent", "nan"), ("max_reject_percent", "1e1")])  # fmt: skip
    def test_a_limit_that_is_none_is_said_in_place(self, browser, user, target, name, value):
        source = uploaded(user)
        values = shown_form(show(browser, source)) | {"on_error": "reject", name: value}
        answer = show(browser, source, **values)
        assert answer.status_code == 422
        assert "or leave it empty" in answer.content.decode()

    @pytest.mark.parametrize("name", ["on_error", "on_duplicate", "rounding", "verify"])
    def test_what_nobody_offers_is_refused(self, browser, user, target, name):
        source = uploaded(user)
        values = shown_form(show(browser, source)) | {name: "unknown"}
        assert start(browser, source, **values).status_code == 422
        assert not ImportJob.objects.exists()

"""A page that is older than an import of its file: of the browser's way back, or in another tab."""

import pytest

from importer.models import ImportJob
from tests.dashboard.new_import.test_page import show, shown_form, start, uploaded
from tests.dashboard.new_import.test_page import target as target  # noqa: PLC0414 -- a fixture

pytestmark = pytest.mark.django_db(transaction=True)


def test_one_press_does_not_load_a_file_twice(browser, user, target):
    source = uploaded(user)
    values = shown_form(show(browser, source))
    start(browser, source, **values)
    ImportJob.objects.update(status=ImportJob.Status.SUCCEEDED, table_claim=None)
    answer = start(browser, source, **values)
    assert answer.status_code == 422
    assert f"Import {ImportJob.objects.get().pk} of this file into" in answer.content.decode()
    start(browser, source, **shown_form(answer))
    assert ImportJob.objects.count() == 2

"""Checks say when imports are slower than they need to be, and what does not work, before anything starts."""

from io import StringIO

import pytest
from django.core.management import call_command

from importer.engine.native import loader
from importer.management.commands import prepare


def test_before_the_start_a_store_that_does_not_answer_is_named(settings, closed_port):
    assert prepare._store_problem() == ""
    settings.FILE_STORE, settings.FILE_STORE_ENDPOINT = "s3://files/x", f"http://127.0.0.1:{closed_port}"
    settings.FILE_STORE_REGION = settings.FILE_STORE_ACCESS_KEY = settings.FILE_STORE_SECRET_KEY = "x"
    said = prepare._store_problem()
    assert said.startswith("The store FILE_STORE does not work yet: s3://files/x: The store for files does not answer.")


def warnings() -> str:
    stderr = StringIO()
    call_command("check", stdout=StringIO(), stderr=stderr)
    return stderr.getvalue()


@pytest.mark.skipif(not loader.library(), reason="the library is not compiled here")
def test_the_check_is_silent_with_the_c_library():
    assert "importer.W001" not in warnings()


def test_the_check_warns_without_the_c_library_and_says_how_to_compile_it(monkeypatch):
    monkeypatch.setattr(loader, "library", lambda: None)
    warning = warnings()
    assert "importer.W001" in warning
    assert f"python -I {loader.__file__}" in warning

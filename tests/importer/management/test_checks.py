"""The system check says when imports are slower than they need to be."""

from io import StringIO

import pytest
from django.core.management import call_command

from importer.engine.native import loader


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

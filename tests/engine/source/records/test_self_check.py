"""Every start reads a small file, and a Python that misreads it goes no further."""

import re

import pytest
from django.apps import apps

from importer.engine.source.records.boundary import patterns, self_check
from importer.management.command_line.start import set_up_or_refuse
from tests import possessive

OTHER = re.compile(rb"(?P<plain>[^|]*)"), re.compile(rb"(?!)")


@pytest.fixture
def misread(monkeypatch):
    monkeypatch.setattr(self_check, "field_patterns", lambda _: patterns.FieldPatterns(*OTHER))
    self_check.reader_problem.cache_clear()
    yield
    self_check.reader_problem.cache_clear()


def test_this_python_reads_the_small_file():
    assert self_check.reader_problem() is None


def test_a_command_ends_with_the_problem(misread, capsys):
    with pytest.raises(SystemExit) as ended:
        set_up_or_refuse("load")
    assert ended.value.code
    assert re.search(r"Python 3\.\d+\.\d+ misreads CSV files: .* Install a newer Python", capsys.readouterr().err)


def test_any_other_process_ends_with_the_problem(misread):
    with pytest.raises(SystemExit, match=r"^Millrace: Python 3\.\d+\.\d+ misreads CSV files"):
        apps.get_app_config("importer").ready()


# Whether this Python has the fault of those before 3.11.5. Debian has fixed it in its 3.11.2.
MISREADS = re.match(rb"(?:a++|(?!b)b)*+", b"aab").end() == 3


def test_the_patterns_as_they_were_are_found_out(monkeypatch):
    """Without NOTHING as the last alternative, a Python that MISREADS passes the delimiter."""
    monkeypatch.setattr(possessive, "_OURS", ())
    monkeypatch.setattr(patterns, "any_number_of", lambda *each: rb"(?:%b++|%b)*+" % (each[0], b"|".join(each[1:])))
    monkeypatch.setattr(self_check, "field_patterns", patterns.field_patterns.__wrapped__)
    problem = self_check.reader_problem.__wrapped__()
    assert (problem is None) == (not MISREADS)

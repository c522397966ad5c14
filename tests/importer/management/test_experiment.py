"""`millrace experiment` where its harness (bench/) is not installed, as from a wheel."""

import sys
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("words", [["list"], ["run", "methods", "--target", "here", "--json"]])
def test_without_the_harness_experiment_says_where_to_run_it(words, monkeypatch):
    for name in [each for each in sys.modules if each.partition(".")[0] == "bench"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "bench", None)
    with pytest.raises(CommandError, match="In a clone of Millrace's source, run `make setup`"):
        call_command("experiment", *words, stdout=StringIO())

"""What an installation of an earlier state knows is still known after the migrations that it lacks."""

from pathlib import Path

from tests.importer.management.installation import Installation
from tests.importer.management.test_backup import application_database, each_kind
from tests.targets import TestServer

# As the code of that state writes it: an attempt of the oldest kind, and one with all that is known of it.
RETRIED_BEFORE = """
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
apps = MigrationExecutor(connection).loader.project_state(("importer", "0001_initial")).apps
model = lambda name: apps.get_model("importer", name).objects
began, ended = "2026-01-02T03:04:05.000006+00:00", "2026-01-02T03:05:05+00:00"
oldest = {"number": 1, "started": None, "ended": ended, "outcome": "cancelled"}
later = {
    "number": 2, "started": began, "ended": ended, "outcome": "failed", "problem": {"what": "too long"}, "rows": 7,
    "chunks": {"loaded": 3, "failed": 1},
    "seconds": {"waiting": 1.5, "loading": 2.5, "paused": 0, "indexing": 0.25, "verifying": 0},
}
given = dict(
    target=model("Target").create(name="w", host="h", port=1, user="u", database="d"),
    source=model("SourceFile").create(name="f", path="/f", size=1),
    dialect_json={}, mapping_json=[], plan_json={},
)
model("ImportJob").create(**given, attempts=3, past_attempts_json=[oldest, later])
for flags in (
    *("", "leftover", "leftover staged", "leftover staged finished", "finished"),
    *("unrestored", "unrestored arranged", "arranged", "arranged left_changed"),
):
    model("ImportJob").create(**given, **dict.fromkeys(flags.split(), True))
answer = 0
"""
STATES = """
from importer.models import ImportJob
answer = list(ImportJob.objects.filter(attempts=1).order_by("pk").values_list("staging", "changes"))
"""
ATTEMPTS = """
from django.forms import model_to_dict
from importer.models import Attempt
left_out = ("id", "job", "plan_json")
answer = [{**model_to_dict(each, exclude=left_out),
           "started_at": each.started_at and each.started_at.isoformat(),
           "ended_at": each.ended_at.isoformat()} for each in Attempt.objects.order_by("job", "number")]
"""


@each_kind
def test_earlier_attempts_become_rows_and_flags_a_state(kind: str, server: TestServer, tmp_path: Path):
    with application_database(kind, server) as url:
        with Installation(tmp_path, url).shell() as shell:
            shell.manage("migrate", "importer", "0001", "--skip-checks")
            assert shell.python(RETRIED_BEFORE) == 0
            shell.manage("migrate", "--skip-checks")
            oldest, later = shell.python(ATTEMPTS)
            staging, changes = map(list, zip(*shell.python(STATES), strict=True))
        assert staging == ["", "begun", "ready", "merged", "done", "", "", "", ""]
        assert changes == ["", "", "", "", "", "begun", "made", "settled", "left"]
    assert (oldest["number"], oldest["started_at"], oldest["outcome"]) == (1, None, "cancelled")
    assert (oldest["problem"], oldest["rows"], oldest["loading"], oldest["loaded_chunks"]) == ({}, None, None, 0)
    assert later == {
        "number": 2,
        "started_at": "2026-01-02T03:04:05.000006+00:00",
        "ended_at": "2026-01-02T03:05:05+00:00",
        "outcome": "failed",
        "problem": {"what": "too long"},
        "loaded_chunks": 3,
        "failed_chunks": 1,
        "rows": 7,
        "waiting": 1.5,
        "loading": 2.5,
        "paused": 0,
        "indexing": 0.25,
        "verifying": 0,
    }

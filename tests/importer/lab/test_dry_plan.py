"""What a lab does not try, because it cannot run or does the same as another combination: known before it starts."""

from dataclasses import replace
from pathlib import Path

import pytest

from importer import lab
from importer.engine.errors import Problem
from importer.engine.mysql.connection import Address
from importer.engine.plan.options import Options
from importer.engine.tuning.grid import GRIDS, Settings
from importer.engine.tuning.sampling import Sample
from importer.engine.units import MIB
from importer.lab.commands import choose
from importer.lab.sample_size import least_rows
from importer.models import ImportJob, Lab
from importer.preparation.prepare import PreparedImport, prepare
from importer.sources import uploads
from importer.worker.hosts import presence
from tests.engine.loads import run_sql
from tests.importer.labs import ROWS, created_lab, grid, take_step, write_rows
from tests.importer.steps import import_of
from tests.targets import saved_target

pytestmark = pytest.mark.usefixtures("no_workers")

TABLE = "CREATE TABLE t (n INT PRIMARY KEY, word VARCHAR(80), p INT, KEY word (word))"
TABLES = (TABLE,)


@pytest.fixture
def prepared(mariadb: Address, transactional_db, tmp_path: Path) -> PreparedImport:
    """On one server: the planner's own refusals are tried on each in tests/engine/planner."""
    run_sql(mariadb, TABLE)
    return prepare(uploads.register(write_rows(tmp_path / "rows.csv")), saved_target(mariadb, "here"), "t")


def to_first_trial(of: Lab) -> Lab:
    """The lab with its sample and its trials, before the first one begins."""
    while (shown := take_step(of)).status != Lab.Status.RUNNING:
        assert not shown.ended
    return shown


def left_out(prepared: PreparedImport, values: dict[str, tuple], of_job: ImportJob | None = None) -> dict[str, str]:
    """What is left out of a grid with these values and two chunk sizes that differ: the reasons by settings."""
    request = lab.LabRequest(grid(chunk_bytes=(4096, MIB), **values), Sample(rows=ROWS))
    return {repr(without_size(each["settings"])): each["why"] for each in choose(prepared, request, of_job).left_out}


def without_size(settings: Settings) -> Settings:
    return {name: value for name, value in settings.items() if name != "chunk_bytes"}


def test_chunk_sizes_that_come_to_the_same_chunks_are_said_to_and_tried_once(target, tmp_path):
    """Of the sample of 500 rows each size from 1 MiB on makes one chunk. Not even the warm-up repeats them."""
    path = write_rows(tmp_path / "rows.csv")
    values = {"chunk_bytes": (4096, MIB, 4 * MIB, 16 * MIB)}
    request = lab.LabRequest(grid(**values), Sample(share=1), repeats=1)
    expected = lab.estimate(prepare(uploads.register(path), target, "t"), request)
    (alike,) = expected.alike
    assert alike == (
        "With this file chunk size 1 MiB, chunk size 4 MiB and chunk size 16 MiB give the same chunks:"
        " the lab cannot tell them apart."
    )
    assert [each["settings"] for each in expected.left_out] == [{"chunk_bytes": 4 * MIB}, {"chunk_bytes": 16 * MIB}]
    ready = to_first_trial(created_lab(target, path, values))
    assert [each.settings for each in ready.trials.filter(round=0)] == [{"chunk_bytes": 4096}, {"chunk_bytes": MIB}]
    assert {each["why"] for each in lab.outcome(ready)["left_out"]} == {
        "the same chunks as chunk size 1 MiB, so both are one trial"
    }


def test_what_only_the_sample_shows_is_left_out_before_the_first_trial(target, tmp_path):
    """By its short first rows the file has some 40,000; those that follow are longer, and it has 9,000."""
    path = tmp_path / "rows.csv"
    short = "".join(f"{n},a,{n % 3}\n" for n in range(1000))
    path.write_text("n,word,p\n" + short + "".join(f"{n},{'long' * 15},1\n" for n in range(1000, 9000)))
    begun = created_lab(target, path, {"commit_rows": (2000, 10_000, 20_000)}, sample=Sample(share=0.9))
    assert begun.left_out_json == []
    ready = to_first_trial(begun)
    left = lab.outcome(ready)["left_out"]
    assert [each["settings"] for each in left] == [{"commit_rows": 10_000}, {"commit_rows": 20_000}]
    assert "the same chunks as commit rows" in left[0]["why"]
    assert {each.settings.get("commit_rows") for each in ready.trials.all()} == {None, 2000}


def test_a_lab_with_nothing_to_compare_is_refused(prepared):
    with pytest.raises(Problem, match="nothing is left to compare") as refused:
        choose(prepared, lab.LabRequest(GRIDS["chunks"], Sample(rows=ROWS)))
    assert "give the same chunks" in refused.value.what
    assert refused.value.option == "grid"


def test_the_suggested_sample_lets_each_session_load_the_largest_chunks(prepared):
    large = replace(prepared, profile=replace(prepared.profile, size=10**11))
    rows, record = lab.suggest_sample(large, GRIDS["chunks"]), prepared.profile.record_bytes
    assert rows >= least_rows(large, GRIDS["chunks"]) > 16 * MIB * large.target.ceiling / record
    choice = choose(large, lab.LabRequest(GRIDS["chunks"], Sample(rows=rows)))
    assert (choice.alike, [each for each in choice.left_out if "same" in each["why"]]) == ((), [])
    # With few rows it would not.
    assert choose(large, lab.LabRequest(GRIDS["chunks"], Sample(rows=100_000))).alike


def test_settings_that_the_planner_refuses_are_left_out_with_its_reason(prepared, mariadb):
    run_sql(mariadb, "ALTER TABLE t DROP KEY word, ADD UNIQUE KEY word (word)")
    prepared = prepare(prepared.source, prepared.target, "t")
    out = left_out(prepared, {"indexes": ("keep", "defer")})
    assert out == {
        "{'indexes': 'defer'}": "Secondary indexes “take off, put back after the load” is not possible here:"
        " each of them is needed while rows come: by AUTO_INCREMENT, by a foreign key, or to be unique"
    }
    # Partitions need a primary key that each unique key contains.
    (why,) = set(left_out(prepared, {"partitions": (None, 4)}).values())
    assert why.startswith("word of t is unique without all columns of its primary key")


def test_methods_that_this_server_refuses_are_left_out_with_the_remedy(prepared):
    context = prepared.planned_from
    off = replace(context.server, variables={**context.server.variables, "local_infile": "OFF"})
    changed = replace(prepared, planned_from=replace(context, server=off))
    (why,) = set(left_out(changed, {"method": ("load_data_local", "insert")}).values())
    assert "The server refuses LOAD DATA LOCAL" in why
    assert "SET GLOBAL local_infile = 1" in why


@pytest.mark.parametrize(("mode", "kept"), [("append", True), ("replace", True), ("atomic", False)])
def test_settings_without_effect_in_the_mode_of_the_import_are_left_out(prepared, mode, kept):
    past = import_of(prepared.source, prepared.target, options=Options(mode=mode))
    out = left_out(lab.prepare_again(past), {"indexes": ("keep", "defer")}, past)
    assert (out == {}) == kept
    if not kept:
        assert "is not possible here: the finishing step" in out["{'indexes': 'defer'}"]


def test_only_workers_with_the_label_of_the_target_count(prepared, monkeypatch):
    asked = []
    monkeypatch.setattr(presence, "parallel_loads", lambda label="": asked.append(label) or 1)
    prepared.target.label = "eu-west"
    out = left_out(prepared, {"parallelism": (1, 2)})
    assert out["{'parallelism': 2}"] == "the workers with the label eu-west load 1 chunk in parallel"
    assert set(asked) == {"eu-west"}

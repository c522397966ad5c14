"""The registry of facts is complete: every decision, measurement and requested option has a fact."""

import ast
import dataclasses
import re
from pathlib import Path

import pytest

from importer.engine.errors import Problem
from importer.engine.load import loader
from importer.engine.mysql.server_info import SPEED_VARIABLES
from importer.engine.mysql.variables.global_variables import SERVER_VARIABLES
from importer.engine.mysql.variables.session_variables import SESSION_VARIABLES
from importer.engine.plan.option_specs import SPEED
from importer.engine.plan.options import Options
from importer.engine.plan.plan import ImportPlan, LoadStatements
from importer.history.facts import CHOSEN, FACTS, PHASES, REQUESTED, fact
from importer.models import JobFact

PLANNER = Path(loader.__file__).parents[1] / "planner"
# Fields of a plan that are no setting: its statements, its columns with those that the table gets and what they look
# up, how equal rows are told, and the sources of other facts.
NOT_CHOICES = {
    "schema", "table", "table_digest", "fields", "sources", "statements", "plain", "null_word", "no_markers",
    "traced", "as_bytes_ascii_only", "pipe_folder", "server_file", "fed", "reasons", "seen", "updates_per_row",
    "added_columns", "loaded_before", "server", "exactness", "continues_empty",
    "raw_fields", "lookups", "new_parents", "left_out_by",
}  # fmt: skip
CHOICES = {
    "readback": "verify",
    "chunk_rows": "commit_rows",
    "temporary_changes": "indexes",
}


def test_each_option_has_a_fact_with_its_requested_value():
    assert {each.option for each in REQUESTED} == {each.name for each in dataclasses.fields(Options)}


def test_each_speed_option_has_a_fact_with_its_chosen_value():
    assert {each.name for each in SPEED} <= {each.option for each in CHOSEN}


def test_each_reason_of_the_planner_explains_a_chosen_fact():
    explained = set()
    for path in PLANNER.rglob("*.py"):
        for call in ast.walk(ast.parse(path.read_text())):
            if isinstance(call, ast.Call) and ast.unparse(call.func) == "Reason":
                given = [keyword.value for keyword in call.keywords if keyword.arg == "option"] + call.args[3:]
                explained |= {each.value for each in given if isinstance(each, ast.Constant)}
    assert {"method", "parallelism", "indexes", "sort"} <= explained
    assert explained <= {each.option for each in CHOSEN}


def test_each_decision_of_a_plan_has_a_fact():
    fields = [*dataclasses.fields(ImportPlan), *dataclasses.fields(LoadStatements)]
    choices = {each.name for each in fields} - NOT_CHOICES
    assert {name for name in choices if CHOICES.get(name, name) not in FACTS} == set()


def test_each_phase_of_chunk_timings_has_a_fact():
    laps = set(re.findall(r'stopwatch\.lap\("(\w+)"\)', Path(loader.__file__).read_text()))
    assert {"connect", "load", "commit"} <= laps
    assert {f"phase_{lap}" for lap in laps} == {each.name for each in PHASES} - {"phase_wait"}


def test_each_session_and_global_variable_has_a_fact():
    named = [f"server_{name}" for name in SPEED_VARIABLES]
    named += [f"session_{name}" for name in SESSION_VARIABLES] + [f"set_{name}" for name in SERVER_VARIABLES]
    assert [name for name in named if name not in FACTS] == []


def test_fact_names_are_unique_and_short_enough():
    from importer.history import facts

    groups = (getattr(facts, name) for name in ("JOB", "FILE", "TABLE", "SERVER", "RESULT", "TIMING", "CHUNKS", "LIKE"))
    names = [each.name for group in (*groups, REQUESTED, CHOSEN, PHASES) for each in group]
    assert sorted(names) == sorted(FACTS)
    assert max(map(len, names)) <= JobFact._meta.get_field("name").max_length


def test_an_unknown_fact_is_refused_with_similar_names():
    with pytest.raises(Problem, match=r"no fact 'chunk_size'.*Did you mean .*chunk_bytes"):
        fact("chunk_size")

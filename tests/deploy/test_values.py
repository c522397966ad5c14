"""Tests the chart's values without Helm: the schema, the examples, and that the chart names what Millrace has."""

import copy
import re
from pathlib import Path

import jsonschema
import pytest

from config.version import VERSION
from importer.management.processes.command_lines import COMMANDS
from importer.management.processes.supervision import APPLICATION
from tests.deploy.values import CHART, EXAMPLES, Values, all_values, merged, read, schema
from tests.stack import ROOT
from tests.test_project import documented

TEMPLATES = "\n".join(path.read_text() for path in sorted((CHART / "templates").iterdir()))
SMALL = CHART / "examples" / "small.yaml"


def problems(values: Values) -> list[str]:
    return [error.message for error in jsonschema.Draft7Validator(schema()).iter_errors(values)]


def test_the_schema_is_one():
    jsonschema.Draft7Validator.check_schema(schema())


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_has_allowed_values(example: Path):
    assert problems(all_values(example)) == []


def test_there_are_three_examples():
    assert [path.stem for path in EXAMPLES] == ["many-hosts", "shared-folder", "small"]


@pytest.mark.parametrize(
    "change",
    [
        {"existingSecret": ""},
        {"image": {"repository": ""}},
        {"secretKeys": ["DATABASE_URL", "REDIS_URL", "SECRET_KEY"]},
        {"secretKeys": ["DATABASE_URL", "REDIS_URL", "SECRET_KEY", "ENCRYPTION_KEYS", "ADMIN_PASSWORD"]},
        {"env": {"UPLOAD_MAX_BYTES": 107374182400}},
        {"env": {"log_level": "INFO"}},
        {"beat": {"replicas": 2}},
        {"load": {"replica": 3}},
        {"persistence": {"accessMode": "ReadOnlyMany"}},
        {"host": "", "ingress": {"enabled": True}},
        {"autoscaling": {"enabled": True, "kind": "keda", "prometheus": ""}},
        {"autoscaling": {"minReplicas": 0}},
        {"persistence": {"shared": False}},
        {"persistence": {"enabled": False}},
        {"workersOnly": True},
        {"load": {"env": {"LOADS": "eu-west"}}},
    ],
    ids=lambda change: " ".join(map(str, change.items())),
)
def test_a_wrong_value_is_refused(change: Values):
    assert problems(merged(copy.deepcopy(all_values(SMALL)), change))


def test_all_values_have_a_default():
    """A key that values.yaml lacks would be found by nobody."""
    assert set(schema()["properties"]) - {"global"} == set(read(CHART / "values.yaml"))


def test_the_version_is_that_of_millrace():
    chart = read(CHART / "Chart.yaml")
    assert (chart["version"], chart["appVersion"]) == (VERSION, VERSION)


def test_the_pods_run_the_processes_that_millrace_has():
    named = re.findall(r'include "millrace\.process" "([\w-]+)"', TEMPLATES)
    assert sorted(named) == sorted(APPLICATION)
    assert set(named) <= set(COMMANDS)


def test_the_pods_run_commands_that_exist():
    named = re.findall(r'"manage\.py", "(\w+)"', TEMPLATES)
    assert named == ["prepare", "collectstatic"]
    assert (ROOT / "importer" / "management" / "commands" / "prepare.py").exists()


def test_a_worker_is_asked_for_the_name_that_it_announces():
    asked = re.findall(r'include "millrace\.presence" "(\w+)"', TEMPLATES)
    announced = {name for name in ("load", "control") if f"--hostname={name}@%h" in COMMANDS[f"worker-{name}"]()}
    assert set(asked) - {"beat"} == announced == {"load", "control"}


def test_each_setting_that_the_chart_names_exists():
    own = re.findall(r"^([A-Z_]+): ", TEMPLATES, re.MULTILINE)
    assert "VAR_DIR" in own
    examples = [all_values(each) for each in EXAMPLES]
    named = {*own, *(name for each in examples for name in (*each["env"], *each["load"]["env"], *each["secretKeys"]))}
    assert named - set(documented()) == set()


def test_what_comes_from_the_secret_may_come_from_a_file():
    read_as_secret = set(re.findall(r'secret\("([A-Z_]+)"\)', (ROOT / "config" / "settings.py").read_text()))
    keys = {key for each in EXAMPLES for key in all_values(each)["secretKeys"]}
    assert keys | {"ADMIN_PASSWORD"} <= read_as_secret


def test_no_process_uses_another_account_than_the_image_has():
    made = re.findall(r"--uid (\d+)", (ROOT / "Dockerfile").read_text())
    assert re.findall(r"run(?:AsUser|AsGroup): (\d+)|fsGroup: (\d+)", TEMPLATES)
    used = {number for found in re.findall(r"runAsUser: (\d+)|fsGroup: (\d+)", TEMPLATES) for number in found if number}
    assert used == set(made)

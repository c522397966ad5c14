"""Tests the objects that Helm makes of the chart with each example. Without Helm it skips: `make chart` builds it."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from importer.management.processes.supervision import APPLICATION
from tests.deploy.values import CHART, EXAMPLES, KUBERNETES, Values, helm, rendered, tool
from tests.stack import ROOT

pytestmark = pytest.mark.skipif(not tool("helm"), reason="helm is not installed; `make chart` builds it with Go")
SHARED = CHART / "examples" / "shared-folder.yaml"
SMALL = CHART / "examples" / "small.yaml"
MANY = CHART / "examples" / "many-hosts.yaml"
# The first version of Kubernetes that the chart allows (Chart.yaml), and the newest whose schemas are installed.
VERSIONS = ("1.25", KUBERNETES)
HAS_PODS = {"Deployment", "Job"}


@pytest.fixture(scope="module", params=EXAMPLES, ids=lambda path: path.stem)
def objects(request: pytest.FixtureRequest) -> list[Values]:
    return rendered(request.param)


@pytest.fixture(scope="module")
def shared() -> list[Values]:
    return rendered(SHARED)


def pods(objects: list[Values]) -> dict[str, Values]:
    """The pod's spec of each role."""
    return {
        each["metadata"]["labels"]["app.kubernetes.io/component"]: each["spec"]["template"]["spec"]
        for each in objects
        if each["kind"] in HAS_PODS
    }


def containers(objects: list[Values]) -> Iterator[Values]:
    for pod in pods(objects).values():
        yield from (*pod.get("initContainers", ()), *pod["containers"])


def named(objects: list[Values], kind: str, suffix: str = "") -> Values:
    [found] = [each for each in objects if each["kind"] == kind and each["metadata"]["name"] == f"millrace{suffix}"]
    return found


def settings_of(container: Values) -> dict[str, str]:
    return {each["name"]: each["value"] for each in container["env"]}


class TestKubernetes:
    def test_accepts_each_object(self, objects: list[Values]):
        validator = pytest.importorskip("kubernetes_validate", reason="`make chart` installs the schemas")
        checked = [each for each in objects if each["kind"] not in ("ScaledObject", "ServiceMonitor")]
        assert len(checked) > 10
        for each in checked:
            for version in VERSIONS:
                validator.validate(each, version, strict=True)

    def test_refuses_a_field_that_it_does_not_know(self, shared: list[Values]):
        validator = pytest.importorskip("kubernetes_validate", reason="`make chart` installs the schemas")
        service = named(shared, "Service")
        service = {**service, "spec": {**service["spec"], "selectors": {}}}
        with pytest.raises(validator.ValidationError):
            validator.validate(service, VERSIONS[-1], strict=True)

    def test_finds_the_pods_of_each_object_by_their_labels(self, objects: list[Values]):
        labels = [each["spec"]["template"]["metadata"]["labels"] for each in objects if each["kind"] in HAS_PODS]
        selectors = [
            each["spec"]["selector"].get("matchLabels", each["spec"]["selector"])
            for each in objects
            if each["kind"] in ("Deployment", "PodDisruptionBudget", "Service")
        ]
        assert len(selectors) == 8
        for selector in selectors:
            assert len([each for each in labels if selector.items() <= each.items()]) == 1, selector


class TestPods:
    def test_run_what_millrace_runs(self, objects: list[Values]):
        commands = {role: pod["containers"][0]["command"] for role, pod in pods(objects).items()}
        assert commands.pop("prepare") == ["python", "manage.py", "prepare"]
        module = ["python", "-m", "importer.management.processes"]
        assert sorted(commands.values()) == sorted([*module, name] for name in APPLICATION)

    def test_may_change_nothing_but_their_volumes(self, objects: list[Values]):
        for pod in pods(objects).values():
            security = pod["securityContext"]
            assert (security["runAsNonRoot"], security["runAsUser"]) == (True, 10001)
            assert pod["automountServiceAccountToken"] is False
        for each in containers(objects):
            assert each["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            }
            assert each["resources"]["requests"]["memory"]
            assert each["resources"]["limits"]["memory"]

    def test_have_each_volume_that_they_mount(self, objects: list[Values]):
        for pod in pods(objects).values():
            volumes = {each["name"] for each in pod["volumes"]}
            for each in (*pod.get("initContainers", ()), *pod["containers"]):
                mounts = [mount["name"] for mount in each["volumeMounts"]]
                assert set(mounts) <= volumes
                assert len(set(mounts)) == len(mounts)

    def test_get_secrets_as_files_only(self, shared: list[Values]):
        for role, pod in pods(shared).items():
            settings = settings_of(pod["containers"][0])
            files = {name for name in settings if name.endswith("_FILE")}
            assert "DATABASE_URL_FILE" in files
            assert not {name.removesuffix("_FILE") for name in files} & set(settings)
            assert ("ADMIN_PASSWORD_FILE" in files) is (role == "prepare")
            [secrets] = [each["secret"] for each in pod["volumes"] if each["name"] == "secrets"]
            assert {f"{item['key']}_FILE" for item in secrets["items"]} == files

    def test_beat_is_one(self, objects: list[Values]):
        spec = named(objects, "Deployment", "-beat")["spec"]
        assert (spec["replicas"], spec["strategy"]) == (1, {"type": "Recreate"})

    def test_the_migrations_need_nothing_that_is_made_after_them(self, objects: list[Values]):
        """A hook runs before the objects of the chart exist (helm.sh/docs/topics/charts_hooks)."""
        job = named(objects, "Job", "-prepare")
        assert job["metadata"]["annotations"]["helm.sh/hook"] == "pre-install,pre-upgrade"
        pod = job["spec"]["template"]["spec"]
        assert not [each for each in pod["volumes"] if "persistentVolumeClaim" in each]
        assert pod["serviceAccountName"] == "default"

    def test_are_probed(self, objects: list[Values]):
        roles = pods(objects)
        web = roles["web"]["containers"][0]
        for probe in (web["startupProbe"], web["readinessProbe"]):
            assert probe["httpGet"]["path"] == "/healthz"
            assert probe["httpGet"]["httpHeaders"] == [{"name": "Host", "value": "localhost"}]
        for role in ("load", "control", "beat"):
            [worker] = roles[role]["containers"]
            command = ["python", "-m", "importer.worker.hosts.presence", role]
            assert worker["startupProbe"]["exec"] == worker["readinessProbe"]["exec"] == {"command": command}
            assert "livenessProbe" not in worker


class TestSettings:
    @pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
    def test_millrace_starts_with_them(self, example: Path, tmp_path: Path):
        """Each process imports its settings, with the secrets from the files and the folders of the volumes."""
        for role, pod in pods(rendered(example)).items():
            environment = on_this_machine(pod["containers"][0], tmp_path)
            program = "from config import settings as s; print(s.ALLOWED_HOSTS[0], s.VAR_DIR, s.REDIS_URL, s.SITE_URL)"
            done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, env=environment, capture_output=True)
            assert done.returncode == 0, (role, done.stderr.decode())
            folder = f"{tmp_path}/var/lib/millrace/data"
            assert done.stdout.decode().split() == [
                *("import.example.org", folder, "redis://redis:6379/0", "https://import.example.org")
            ]

    def test_those_of_the_values_win(self):
        objects = rendered(SMALL, "--set-string", "env.WEB_THREADS=3", "--set-string", "load.env.LOG_LEVEL=DEBUG")
        roles = pods(objects)
        load, web = (settings_of(roles[role]["containers"][0]) for role in ("load", "web"))
        assert (web["WEB_THREADS"], load["WEB_THREADS"]) == ("3", "3")
        assert (load["LOG_LEVEL"], "LOG_LEVEL" in web) == ("DEBUG", False)
        assert (web["WEB_PROCESSES"], load["WORKER_CONCURRENCY"]) == ("1", "2")


SECRETS = {
    "DATABASE_URL": "mysql://millrace:x@mysql:3306/millrace",
    "REDIS_URL": "redis://redis:6379/0",
    "SECRET_KEY": "an unguessable text of many characters, 0123456789",
    "ENCRYPTION_KEYS": "bWlsbHJhY2UtbWlsbHJhY2UtbWlsbHJhY2UtMDEyMzQ=",
    "FILE_STORE_SECRET_KEY": "x",
    "SENTRY_DSN": "https://key@sentry.example.org/1",
    "EMAIL_URL": "smtp+tls://millrace:x@mail:587",
    "ADMIN_PASSWORD": "x",
}


def on_this_machine(container: Values, root: Path) -> dict[str, str]:
    """The container's environment, with the folders of its mounts below `root` and a file for each secret."""
    folders = {mount["mountPath"]: f"{root}{mount['mountPath']}" for mount in container["volumeMounts"]}
    environment: dict[str, str] = {"PATH": os.environ["PATH"]}
    for name, value in settings_of(container).items():
        mounted = [folder for folder in folders if value.startswith(f"{folder}/")]
        environment[name] = f"{root}{value}" if mounted else value
    for folder in folders.values():
        Path(folder).mkdir(parents=True, exist_ok=True)
    for name, value in SECRETS.items():
        if path := environment.get(f"{name}_FILE"):
            Path(path).write_text(f"{value}\n")
    return environment


class TestOptions:
    def test_volumes_of_one_node_keep_the_pods_together(self):
        for role, pod in pods(rendered(SMALL)).items():
            together = "podAffinity" in pod.get("affinity", {})
            assert together is (role in ("web", "load", "control")), role

    @pytest.mark.parametrize(
        ("option", "sharing"),
        [("shared=true", {"web", "load", "control"}), ("shared=false", {"web"}), ("enabled=false", set())],
    )
    def test_claims_are_for_those_that_share_files(self, option: str, sharing: set[str]):
        objects = rendered(MANY, "--set", f"persistence.{option},persistence.accessMode=ReadWriteOnce")
        claims = [each for each in objects if each["kind"] == "PersistentVolumeClaim"]
        assert len(claims) == (2 if sharing else 0)
        using = {role for role, pod in pods(objects).items() if "persistentVolumeClaim" in str(pod["volumes"])}
        assert using == {role for role, pod in pods(objects).items() if "podAffinity" in str(pod)} == sharing

    def test_claims_outlive_the_release(self, shared: list[Values]):
        claims = [each for each in shared if each["kind"] == "PersistentVolumeClaim"]
        assert [each["metadata"]["name"] for each in claims] == ["millrace-state"]
        assert claims[0]["metadata"]["annotations"]["helm.sh/resource-policy"] == "keep"
        for role in ("web", "load", "control"):
            volumes = {each["name"]: each for each in pods(shared)[role]["volumes"]}
            assert volumes["uploads"]["persistentVolumeClaim"] == {"claimName": "uploads"}
            assert volumes["incoming"]["persistentVolumeClaim"] == {"claimName": "incoming"}

    @pytest.mark.parametrize("kind", ["keda", "hpa"])
    def test_the_number_of_load_pods_follows_the_chunks(self, kind: str):
        objects = rendered(MANY, "--set", f"autoscaling.kind={kind}")
        load = named(objects, "Deployment", "-load")
        assert "replicas" not in load["spec"]
        scaler = named(objects, {"keda": "ScaledObject", "hpa": "HorizontalPodAutoscaler"}[kind], "-load")
        assert scaler["spec"]["scaleTargetRef"]["name"] == load["metadata"]["name"]
        assert "millrace_chunks_in_flight" in str(scaler)
        if kind == "keda":
            check_scaled_object(scaler)

    def test_prometheus_scrapes_one_address(self):
        monitor = named(rendered(MANY), "ServiceMonitor")
        [endpoint] = monitor["spec"]["endpoints"]
        targets = {
            each["targetLabel"]: each["replacement"] for each in endpoint["relabelings"] if "targetLabel" in each
        }
        assert targets["__address__"] == "millrace.imports.svc:80"
        allowed = settings_of(pods(rendered(MANY))["web"]["containers"][0])["ALLOWED_HOSTS"].split(",")
        assert targets["__address__"].partition(":")[0] in allowed

    def test_a_policy_opens_the_pages_only(self):
        objects = rendered(MANY)
        assert named(objects, "NetworkPolicy")["spec"]["ingress"] == []
        [rule] = named(objects, "NetworkPolicy", "-web")["spec"]["ingress"]
        assert rule["ports"] == [{"port": "http"}]

    def test_the_notes_lead_to_the_pages_and_the_first_password(self, tmp_path: Path):
        """Helm shows them only after an installation, so a copy of the chart has them in an object."""
        chart = tmp_path / "chart"
        shutil.copytree(CHART, chart)
        (chart / "templates" / "NOTES.txt").rename(chart / "notes.txt")
        (chart / "templates" / "notes.yaml").write_text('notes: {{ tpl (.Files.Get "notes.txt") . | quote }}\n')
        shown = {
            example.stem: rendered(example, "--show-only", "templates/notes.yaml", chart=chart)[0]["notes"]
            for example in (SHARED, SMALL)
        }
        assert "https://import.example.org/" in shown["small"]
        assert "logs job/millrace-prepare" in shown["small"]
        workers_only = ("--set", "workersOnly=true", "--show-only", "templates/notes.yaml")
        [notes] = rendered(MANY, *workers_only, chart=chart)
        assert "page Workers" in notes["notes"]
        assert "prepare" not in notes["notes"]
        # There the Secret has the password.
        assert "logs job/millrace-prepare" not in shown["shared-folder"]

    def test_a_release_may_have_workers_only(self):
        """Both kinds: the steps of a target with a label go to control workers with that label, too."""
        objects = rendered(MANY, "--set", "workersOnly=true,env.LOADS=eu-west")
        assert {(each["kind"], each["metadata"]["name"]) for each in objects} == {
            ("Deployment", "millrace-control"),
            ("Deployment", "millrace-load"),
            ("NetworkPolicy", "millrace"),
            ("PodDisruptionBudget", "millrace-control"),
            ("PodDisruptionBudget", "millrace-load"),
            ("ScaledObject", "millrace-load"),
        }
        labels = {role: settings_of(pod["containers"][0])["LOADS"] for role, pod in pods(objects).items()}
        assert labels == {"load": "eu-west", "control": "eu-west"}

    def test_a_wrong_value_is_named(self):
        done = helm("--values", str(SMALL), "--set", "load.replica=3")
        assert done.returncode != 0
        assert "load" in done.stderr
        assert "replica" in done.stderr


def check_scaled_object(scaler: Values) -> None:
    """Fields that KEDA has (keda.sh/docs, ScaledObject specification, Prometheus trigger), without a schema here."""
    spec: dict[str, Any] = scaler["spec"]
    assert set(spec) <= {"scaleTargetRef", "minReplicaCount", "maxReplicaCount", "advanced", "triggers"}
    [trigger] = spec["triggers"]
    assert trigger["type"] == "prometheus"
    types = {name: type(value) for name, value in trigger["metadata"].items()}
    assert types == dict.fromkeys(("serverAddress", "query", "threshold"), str)

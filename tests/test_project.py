"""The project keeps its own rules: the promises of its documents, settings and containers hold."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SECRETS = {"SECRET_KEY", "ENCRYPTION_KEYS", "ADMIN_PASSWORD", "DATABASE_URL", "REDIS_URL"}
# Their defaults depend on where VAR_DIR is.
BELOW_VAR = {"VAR_DIR", "UPLOAD_DIR", "PLAIN_DIR", "REJECTS_DIR", "IMPORT_FOLDERS"}


def run(*command: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True)


def settings_read() -> set[str]:
    """Names that config/settings.py asks the environment for."""
    calls = [
        node for node in ast.walk(ast.parse((ROOT / "config/settings.py").read_text())) if isinstance(node, ast.Call)
    ]
    return {
        call.args[0].value
        for call in calls
        if call.args
        and isinstance(call.args[0], ast.Constant)
        and re.match(r"(env\.\w+|secret)$", ast.unparse(call.func))
    }


def compose_read() -> set[str]:
    """Names that docker-compose.yml asks the environment for."""
    return set(re.findall(r"(?<!\$)\$\{([A-Z_]+)", (ROOT / "docker-compose.yml").read_text()))


def documented() -> dict[str, str]:
    """Names in .env.example with the value shown for each."""
    return dict(re.findall(r"^#?([A-Z_]+)=(.*)$", (ROOT / ".env.example").read_text(), re.MULTILINE))


class TestSettings:
    def test_every_setting_is_explained_in_env_example_and_nothing_else_is(self):
        assert settings_read() >= {"VAR_DIR", "SECRET_KEY", "PORT"}, "the reader of settings.py found too little"
        assert set(documented()) == settings_read() | compose_read()

    def test_env_example_changes_nothing_when_copied_as_it_is(self):
        assert not re.findall(r"^[^#\n].*$", (ROOT / ".env.example").read_text(), re.MULTILINE)

    def test_no_secret_has_a_default(self):
        assert {name for name in SECRETS if documented()[name]} == set()
        for default in re.findall(r"\$\{[A-Z_]*PASSWORD[^}]*\}", (ROOT / "docker-compose.yml").read_text()):
            assert ":?" in default

    @pytest.mark.parametrize("name", sorted(set(documented()) - BELOW_VAR))
    def test_the_default_shown_is_the_one_in_force(self, name, tmp_path):
        shown = documented()[name]
        if not shown:
            return
        code = (
            "import environ; environ.Env.read_env = lambda *_: None\n"  # a developer's own .env changes nothing here
            "from config import settings\n"
            f"print(getattr(settings, {name!r}, settings.LOGGING['root']['level']))"
        )
        done = run(sys.executable, "-c", code, env={"PATH": "/usr/bin:/bin", "VAR_DIR": str(tmp_path)})
        assert done.stdout.strip() in (shown, f"{shown}.0"), done.stderr


class TestRequirements:
    @pytest.mark.parametrize("lock", ["requirements.txt", "requirements-dev.txt", "requirements-bench.txt"])
    def test_every_package_is_pinned_and_carries_hashes(self, lock):
        entries = re.split(r"\n(?=[A-Za-z])", (ROOT / lock).read_text().strip())
        assert len(entries) > 10
        for entry in entries:
            assert re.match(r"[\w.\-\[\]]+==\S+", entry), entry
            assert "--hash=sha256:" in entry, entry

    @pytest.mark.parametrize("name", ["requirements", "requirements-dev", "requirements-bench"])
    def test_what_is_asked_for_is_what_is_locked(self, name):
        wanted = re.findall(r"^([\w.\-]+==[^\s;]+)", (ROOT / f"{name}.in").read_text(), re.MULTILINE)
        locked = (ROOT / f"{name}.txt").read_text().lower()
        assert [each for each in wanted if f"{each.lower()} " not in locked] == []


class TestContainers:
    def test_the_compose_file_is_valid(self):
        check = ("-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec", "docker-compose.yml")
        done = run(sys.executable, *check)
        assert done.returncode == 0, done.stdout

    def test_images_are_pinned(self):
        images = re.findall(r"image: (\S+)", (ROOT / "docker-compose.yml").read_text())
        images += re.findall(r"^FROM (\S+)", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
        assert [image for image in images if image != "millrace" and not re.search(r":\d+\.\d+", image)] == []

    def test_containers_run_processes_that_exist(self):
        from scripts.processes import COMMANDS

        named = re.findall(r'"scripts\.processes", "([\w-]+)"', (ROOT / "docker-compose.yml").read_text())
        assert set(named) == {"web", "worker-load", "worker-control", "beat"}
        assert set(named) <= set(COMMANDS)


def test_every_test_that_the_table_of_values_names_exists():
    named = re.findall(r"`((?:engine|importer)/\S+?\.py)((?:::\w+)+)`", (ROOT / "docs" / "values.md").read_text())
    assert len(named) == 30
    for path, names in named:
        text = (ROOT / "tests" / path).read_text()
        for name in names.strip(":").split("::"):
            assert re.search(rf"^\s*(?:class|def) {name}\b", text, re.MULTILINE), f"{path}{names}"

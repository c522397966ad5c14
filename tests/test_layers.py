"""Tests the order of the layers: each part of the code imports only parts above it, and there are no circles."""

import ast
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

# Each list is in reading order. A part may import the parts that stand before it in its list.
WHOLE = ["millrace_client", "config", "importer", "dashboard"]
ENGINE = [
    "errors", "units", "stored", "failpoints", "native", "mysql", "source", "schema", "mapping", "reading", "target",
    "validation", "sorting", "feed", "plan", "load", "planner", "preflight", "tuning",
]  # fmt: skip
IMPORTER = [
    "engine", "lease", "security", "queue", "models", "access", "sources", "connections", "targets", "preparation",
    "history", "notifications", "jobs", "worker", "diagnosis", "schedules", "lab", "retention", "management",
    "experiments", "tasks", "apps", "commands",
]  # fmt: skip
DASHBOARD = [
    "access", "sign_in", "formatting", "fields", "history", "templatetags", "new_import", "jobs", "lab",
    "schedules", "targets", "connections", "channels", "people", "system", "home", "api", "urls", "apps",
]  # fmt: skip
LAYERS = {"": WHOLE, "importer.engine": ENGINE, "importer": IMPORTER, "dashboard": DASHBOARD}
# Allowed imports against the order, each with its reason.
EXCEPTIONS: dict[tuple[str, str], str] = {
    ("importer.engine.source.formats.sql.values", "importer.engine.schema.column_types"): (
        "a dump states the types of its columns, and these are declared there; column_types imports nothing"
    ),
}
FOREIGN_TO_ENGINE = {"django", "celery", "kombu", "redis", "config", "dashboard", "millrace_client"}
NEVER_IN_PRODUCT = {"tests", "scripts", "bench"}

# Django finds commands in this folder only; they stand above everything that they call.
COMMANDS = "importer.management.commands"

Imports = Mapping[str, set[str]]


def module_name(path: Path, root: Path) -> str:
    name = ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
    return name.replace(COMMANDS, "importer.commands")


def imports(root: Path, folders: Sequence[str]) -> dict[str, set[str]]:
    """Each module below the folders of `root`, with the names it imports: modules, and names in modules."""
    result = {}
    for path in (each for folder in folders for each in sorted((root / folder).rglob("*.py"))):
        names: set[str] = set()
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                assert not node.level, f"{path}: a relative import hides where a module comes from"
                names |= {f"{node.module}.{alias.name}" for alias in node.names}
        result[module_name(path, root)] = names
    return result


def module_of(name: str, modules: Imports) -> str:
    """The module that an imported name is, or is in; "" for a module of a library."""
    while name and name not in modules:
        name = name.rpartition(".")[0]
    return name


def edges(modules: Imports) -> Iterator[tuple[str, str]]:
    """Each pair of our modules of which the first imports the second."""
    for module, names in modules.items():
        for target in sorted({module_of(name, modules) for name in names} - {"", module}):
            yield module, target


def against_the_order(modules: Imports, package: str, order: Sequence[str]) -> list[str]:
    """Imports within `package` of a part that stands below the importing one, or that the order does not know."""
    depth = len(package.split(".")) if package else 0
    breaches = []
    for module, target in edges(modules):
        parts = [name.split(".") for name in (module, target)]
        if any(package and not f"{name}.".startswith(f"{package}.") for name in (module, target)):
            continue
        if any(len(each) <= depth for each in parts):
            continue  # The package itself, which gathers what is in it.
        upper, lower = parts[1][depth], parts[0][depth]
        known = upper in order and lower in order
        if upper != lower and (not known or order.index(upper) > order.index(lower)):
            breaches.append((module, target))
    return [f"{module} imports {target}" for module, target in breaches if (module, target) not in EXCEPTIONS]


def circles(modules: Imports) -> list[list[str]]:
    """Groups of modules that import each other, directly or by way of others (Tarjan, 1972)."""
    graph: dict[str, list[str]] = {}
    for module, target in edges(modules):
        # A package's __init__ is loaded with each module in it, so importing its own modules is no circle.
        if not target.startswith(f"{module}.") and not module.startswith(f"{target}."):
            graph.setdefault(module, []).append(target)
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    groups: list[list[str]] = []

    def visit(module: str) -> None:
        index[module] = low[module] = len(index)
        stack.append(module)
        for target in graph.get(module, []):
            if target not in index:
                visit(target)
                low[module] = min(low[module], low[target])
            elif target in stack:
                low[module] = min(low[module], index[target])
        if low[module] == index[module]:
            group = stack[stack.index(module) :]
            del stack[-len(group) :]
            if len(group) > 1:
                groups.append(sorted(group))

    for module in modules:
        if module not in index:
            visit(module)
    return groups


@pytest.fixture(scope="module")
def product() -> dict[str, set[str]]:
    return imports(ROOT, WHOLE)


@pytest.mark.parametrize("package", LAYERS, ids=lambda package: package or "whole")
def test_no_import_goes_against_the_order(product, package):
    assert against_the_order(product, package, LAYERS[package]) == []


def test_no_modules_import_each_other_in_a_circle(product):
    assert circles(product) == []


def test_every_part_has_a_place_in_the_order(product):
    for package, order in LAYERS.items():
        depth = len(package.split(".")) if package else 0
        names = {
            name.split(".")[depth]
            for name in product
            if f"{name}.".startswith(f"{package}." if package else "") and len(name.split(".")) > depth
        }
        assert names - {"migrations"} - set(order) == set(), package or "whole"


def test_the_engine_knows_no_django_no_celery_and_nothing_above_it(product):
    engine = {module: names for module, names in product.items() if module.startswith("importer.engine")}
    assert engine
    foreign = [
        f"{module} imports {name}"
        for module, names in engine.items()
        for name in names
        if name.split(".")[0] in FOREIGN_TO_ENGINE
        or (name.startswith("importer.") and not name.startswith("importer.engine."))
    ]
    assert foreign == []


def test_the_product_knows_neither_its_tests_nor_its_scripts(product):
    known = [
        f"{module} imports {name}"
        for module, names in product.items()
        for name in names
        if name.split(".")[0] in NEVER_IN_PRODUCT
    ]
    assert known == []


def test_every_exception_is_still_needed(product):
    assert set(EXCEPTIONS) <= set(edges(product))


class TestOfTheCheckItself:
    """The checks find an import against the order and a circle."""

    @pytest.fixture
    def tree(self, tmp_path: Path) -> Path:
        for name in ("upper/__init__.py", "upper/a.py", "lower/__init__.py", "lower/b.py"):
            (tmp_path / "app" / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / "app" / name).write_text("")
        (tmp_path / "app/lower/b.py").write_text("from app.upper.a import name\n")
        return tmp_path

    def test_import_with_the_order_passes(self, tree):
        assert against_the_order(imports(tree, ["app"]), "app", ["upper", "lower"]) == []

    @pytest.mark.parametrize("line", ["from app.lower import b", "from app.lower.b import name", "import app.lower.b"])
    def test_import_against_the_order_is_named(self, tree, line):
        (tree / "app/upper/a.py").write_text(f"def call():\n    {line}\n")
        modules = imports(tree, ["app"])
        assert against_the_order(modules, "app", ["upper", "lower"]) == ["app.upper.a imports app.lower.b"]
        assert circles(modules) == [["app.lower.b", "app.upper.a"]]

    def test_import_of_an_unknown_part_is_named(self, tree):
        assert against_the_order(imports(tree, ["app"]), "app", ["lower"]) == ["app.lower.b imports app.upper.a"]

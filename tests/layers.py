"""The order of the layers: each part of the code imports only parts above it, in every package.

The order of the large packages is stated here. In all others the imports make it: `python -m tests.layers` prints it.
"""

import ast
from collections.abc import Iterator, Mapping, Sequence
from graphlib import TopologicalSorter
from pathlib import Path

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
    "tasks", "apps",
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

Imports = Mapping[str, set[str]]


def module_name(path: Path, root: Path) -> str:
    return ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")


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


def packages(modules: Imports) -> dict[str, dict[str, set[str]]]:
    """The parts of each package ("" for the whole), each with the parts of the same package that it imports.

    A package itself, which gathers what is in it, is none of its parts.
    """
    found: dict[str, dict[str, set[str]]] = {}
    for module in modules:
        names = module.split(".")
        for depth, name in enumerate(names):
            found.setdefault(".".join(names[:depth]), {}).setdefault(name, set())
    for module, target in edges(modules):
        own, other = module.split("."), target.split(".")
        depth = next((at for at, (one, two) in enumerate(zip(own, other, strict=False)) if one != two), None)
        if depth is not None and (module, target) not in EXCEPTIONS:
            found[".".join(own[:depth])][own[depth]].add(other[depth])
    return found


def order_of(parts: Mapping[str, set[str]]) -> list[str]:
    """The parts, each below all that it imports. Raises graphlib.CycleError, which names a circle of parts."""
    return list(TopologicalSorter({name: sorted(parts[name]) for name in sorted(parts)}).static_order())


def main() -> None:
    """Print the order of the parts of every package."""
    for package, parts in sorted(packages(imports(ROOT, WHOLE)).items()):
        print(f"{package or 'whole'}: {', '.join(LAYERS.get(package) or order_of(parts))}")


if __name__ == "__main__":
    main()

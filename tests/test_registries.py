"""One place for each decision: no other file spells the names that a registry declares."""

import ast
from collections.abc import Collection
from pathlib import Path

from importer.engine.plan.methods import METHODS

ROOT = Path(__file__).resolve().parent.parent
# The published experiments name the methods that the articles compared.
EXPERIMENTS = "importer/experiments/"


def spelled(names: Collection[str], *, but: Collection[str]) -> list[str]:
    """Where a product file, other than those of `but`, has one of the names as a literal."""
    places = []
    for folder in ("importer", "dashboard"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            name = str(path.relative_to(ROOT))
            if name.startswith(tuple(but)) or "/migrations/" in name:
                continue
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Constant) and node.value in names:
                    places.append(f"{name}:{node.lineno} {node.value!r}")
    return places


def test_methods_are_named_in_their_declaration_and_their_registry_only():
    registries = ("importer/engine/plan/methods.py", "importer/engine/load/methods/registry.py")
    # "insert" is an ordinary word elsewhere: a phase of an ALTER TABLE, say.
    assert spelled(set(METHODS) - {"insert"}, but=(*registries, EXPERIMENTS)) == []
    assert len(spelled(set(METHODS), but=(registries[1], EXPERIMENTS))) > len(METHODS)

"""The strings of the project's modules that people may read."""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.stack import ROOT


def modules(*places: str) -> Iterator[Path]:
    """The modules below these folders of the project, without migrations."""
    found = (each for place in places for each in (ROOT / place).rglob("*.py"))
    return iter(sorted(each for each in found if "migrations" not in each.parts))


def strings_of(module: Path) -> Iterator[str]:
    """Its strings, without docstrings."""
    tree = ast.parse(module.read_text())
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    docstrings = {
        id(each.body[0].value)
        for each in ast.walk(tree)
        if isinstance(each, documented) and each.body and isinstance(each.body[0], ast.Expr)
    }
    for each in ast.walk(tree):
        if isinstance(each, ast.Constant) and isinstance(each.value, str) and id(each) not in docstrings:
            yield each.value

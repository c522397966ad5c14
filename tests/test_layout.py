"""Tests the limits in CONTRIBUTING.md: entries of a folder, length of files and functions."""

import ast
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PRODUCT = ("importer", "dashboard", "config", "millrace_client")
MOST_ENTRIES = {"importer": 24, "importer/engine": 20, "dashboard": 20}
MOST_ENTRIES_ELSEWHERE = 15
# Django names these folders, and looks for one file a migration or command there.
UNLIMITED = {"migrations", "commands"}
MOST_LINES_OF_A_FILE = 400
MOST_LINES_OF_A_FUNCTION = 60
MOST_PARAMETERS = 7

Function = ast.FunctionDef | ast.AsyncFunctionDef


def is_temporary(path: Path) -> bool:
    """Whether it is a folder in which the C library is just being compiled (native/loader.py), or one that has moved.

    Of a folder that has moved, compiled Python stays, which git does not know.
    """
    is_compiling = path.parent.name == "native" and path.name.startswith("tmp")
    return is_compiling or (path.is_dir() and all("__pycache__" in each.parts for each in path.rglob("*")))


def folders() -> list[Path]:
    below = (each for name in ("importer", "dashboard") for each in ((ROOT / name), *(ROOT / name).rglob("*")))
    return [
        each
        for each in below
        if each.is_dir() and not {"__pycache__", *UNLIMITED} & set(each.parts) and not is_temporary(each)
    ]


def files(*suffixes: str) -> list[Path]:
    every = (each for name in PRODUCT for each in sorted((ROOT / name).rglob("*")))
    return [each for each in every if each.suffix in suffixes and "migrations" not in each.parts]


@dataclass(frozen=True)
class Size:
    """Of a function."""

    lines: int
    parameters: int


@cache
def functions() -> dict[str, Size]:
    """The size of each function, by its place and name."""
    found = {}
    for path in files(".py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, Function):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                found[f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"] = Size(lines, parameters(node))
    return found


def parameters(node: Function) -> int:
    """The number of parameters without self and cls."""
    names = [each.arg for each in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
    return len([name for name in names if name not in ("self", "cls")])


@pytest.mark.parametrize("folder", folders(), ids=lambda folder: str(folder.relative_to(ROOT)))
def test_a_folder_has_few_entries(folder):
    entries = sorted(each.name for each in folder.iterdir() if each.name != "__pycache__" and not is_temporary(each))
    most = MOST_ENTRIES.get(str(folder.relative_to(ROOT)), MOST_ENTRIES_ELSEWHERE)
    assert len(entries) <= most, entries


def test_no_file_is_long():
    lengths = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in files(".py", ".c", ".h")}
    assert len(lengths) > 300
    assert {name: lines for name, lines in lengths.items() if lines > MOST_LINES_OF_A_FILE} == {}


def test_no_function_is_long():
    assert len(functions()) > 2000
    assert {name: each.lines for name, each in functions().items() if each.lines > MOST_LINES_OF_A_FUNCTION} == {}


def test_no_function_has_many_parameters():
    assert {name: each.parameters for name, each in functions().items() if each.parameters > MOST_PARAMETERS} == {}

"""The flag --json, and the document of a problem, for what runs before Django is imported, too."""

from collections.abc import Sequence
from typing import Any

from config.contracts.documents import PROBLEM
from importer.engine.errors import Problem, problem_values

FLAG = "--json"


def asks_for_json(words: Sequence[str]) -> bool:
    """Whether a command line asks for JSON, also if it is wrong otherwise; what follows -- are values."""
    options = words[: words.index("--")] if "--" in words else words
    return any(each == FLAG or each.startswith(f"{FLAG}=") for each in options)


def problem_document(problem: Problem, exit_code: int, command: str) -> dict[str, Any]:
    """The document of a problem that ended the command, which is not about an import."""
    return PROBLEM.of({"command": command, "exit_code": exit_code, "problem": problem_values(problem.as_json())})

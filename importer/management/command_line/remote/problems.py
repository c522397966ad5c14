"""Problems of `millrace --server` as documents and on a terminal: those of the client, and of this program itself."""

from typing import Any

from importer.engine.errors import Problem, problem_values
from millrace_client.problems import Problem as ClientProblem
from millrace_client.problems import ServerProblem

AnyProblem = Problem | ClientProblem
PROBLEMS = (Problem, ClientProblem)


def values_of(problem: AnyProblem) -> dict[str, Any]:
    """The problem as documents have it: one of the server with the number and the kind that it has there."""
    if isinstance(problem, Problem):
        return problem_values(problem.as_json())
    values = {
        "code": problem.code,
        "kind": type(problem).__name__,
        **{name: getattr(problem, name) for name in ("what", "where", "advice", "retryable")},
        "rows": (),
        "bad_rows": 0,
    }
    if not isinstance(problem, ServerProblem):
        return values
    of_report = (problem.report or {}).get("problem")
    return {
        **values,
        "kind": problem.kind or Problem.__name__,
        "code": problem.details["code"],
        **(of_report or {}),
    }


def in_words(problem: AnyProblem) -> str:
    """The problem for a terminal. Questions about a file are all of them, with the flags that answer them."""
    if isinstance(problem, ServerProblem) and problem.details.get("reading"):
        return str(problem.details["detail"])
    return str(problem)

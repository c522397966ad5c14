"""Checks: a whole file is read, and the rows that could not be loaded are named. Nothing is written to a target."""

from typing import Annotated, Any

from django.http import HttpRequest
from ninja import Router
from pydantic import WithJsonSchema

from dashboard.access import problems
from dashboard.api.planning import as_read, only_looking
from dashboard.api.wanted import ImportIn
from importer.access.policy import Forbidden
from importer.engine.errors import Problem
from importer.engine.reading.questions import NeedsAnswer
from importer.preparation.whole_file import check_file, document_of, document_of_problem

router = Router(tags=["imports"])
Check = Annotated[
    dict[str, Any], WithJsonSchema({"type": "object", "description": "docs/schemas/check.json is its whole schema."})
]


@router.post("checks", response=Check, url_name="api_checks", summary="Check a file")
def check(request: HttpRequest, wanted: ImportIn) -> Any:
    """Read the whole file, and name the rows that the table would not take. Without a target, a new table is suggested.

    `exit_code` is 0 if all rows could be loaded, 10 if some could not, and 3 with questions, in `reading.guesses`.
    The answer comes when the file has been read. A problem has its document in `check`.
    """
    try:
        read = as_read(wanted, request.user)
        with only_looking(wanted, read.source):
            return document_of(read.source.name, check_file(read, lambda *_: None))
    except NeedsAnswer as asked:
        return document_of_problem(asked)
    except Forbidden:
        raise
    except Problem as problem:
        return problems.answer(problem, check=document_of_problem(problem))

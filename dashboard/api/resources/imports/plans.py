"""Plans: what an import would do, its SQL, and the questions that are open. Nothing is written."""

from typing import Any

from django.http import HttpRequest
from ninja import Router

from dashboard.api.planning import beginning, only_looking, prepared
from dashboard.api.reports import Report
from dashboard.api.wanted import ImportIn
from importer.engine.reading.questions import NeedsAnswer
from importer.jobs.report import report_of_plan, report_of_problem
from importer.preparation.previous_imports import refuse_repeated

router = Router(tags=["imports"])


@router.post("plans", response=Report, url_name="api_plans", summary="Plan an import")
def plan(request: HttpRequest, wanted: ImportIn) -> Any:
    """The report of the import as it would begin: reading, plan and SQL. Nothing is written.

    The outcome is `planned`, or `needs an answer`: then `reading.guesses` has the questions with their answers.
    """
    with beginning():
        try:
            made = prepared(wanted, request.user)
        except NeedsAnswer as asked:
            return report_of_problem(asked)
        with only_looking(wanted, made.source):
            refuse_repeated(made.source, made.plan, made.options)
            return report_of_plan(made.plan, made.reading)

"""What a retry does with rows that are staged and compared already."""

from dataclasses import dataclass, replace
from typing import Any

from importer.engine.plan.plan import ImportPlan, Reason
from importer.engine.plan.stored_plan import plan_to_json
from importer.engine.target import comparison
from importer.jobs.steps.staging import kept_rows
from importer.jobs.transitions import Staging
from importer.models import ImportJob

STAGED_ALREADY = Reason("The file is not read again", "its rows are staged since it was compared with the table")
LOADED_AGAIN = Reason("The file is loaded again", "the rows that were staged for the comparison are gone")


@dataclass(frozen=True)
class Again:
    """How the rows are compared: for a `preview`, or `as_seen`, to change what was seen or nothing."""

    preview: bool = False
    as_seen: bool = False

    def planned(self, job: ImportJob, key: str, plan: ImportPlan) -> dict[str, Any]:
        """The values of the job by which its next attempt does so, by this plan."""
        if not plan.staged or not plan.staged.compares:
            return {"plan_json": plan_to_json(plan)}
        staged = comparison.again(plan.schema, key, plan.staged, preview=self.preview, as_seen=self.as_seen)
        reasons = [each for each in plan.reasons if each not in (STAGED_ALREADY, LOADED_AGAIN)]
        reasons += [STAGED_ALREADY] if job.keeps_staged else [LOADED_AGAIN] if self.as_seen else []
        plan = replace(plan, staged=staged, reasons=tuple(reasons))
        seen = {"compared_json": job.compared_json, "seen_json": job.seen_json} if self.as_seen else {}
        return {"plan_json": plan_to_json(plan), **seen}

    def from_staged(self, job: ImportJob) -> dict[str, Any]:
        """The values of the job, whose staged rows are kept, that it needs to go on with them."""
        options = {**job.options_json, "preview": self.preview}
        values = {"staging": Staging.READY, "options_json": options, **kept_rows(job)}
        return values | self.planned(job, str(job.key), job.plan)

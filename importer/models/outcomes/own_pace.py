"""Whether an import ran at its own pace: only then does its rate tell something about settings, table and server.

The pace of the others was set by a person, the arrival of the file, other imports, or a failure. The planner,
estimates, comparisons and regressions leave them out.
"""

from collections.abc import Mapping
from typing import Any

from importer.engine.plan.option_specs import LOW
from importer.models.job import ImportJob

# The facts (importer.history.facts) that decide it.
PACE_FACTS = ("attempts", "pauses", "followed_upload", "priority", "parallelism", "planned_parallelism")
# For sentences that begin with "imports that succeeded".
IN_WORDS = (
    "at the first attempt, without a pause, from a complete file, with the planned parallel chunks, and not at low"
    " priority"
)


def at_own_pace(facts: Mapping[str, Any]) -> bool:
    """Whether the import with these facts ran at its own pace. An unknown fact has its usual value."""
    return (
        facts.get("attempts") in (None, 1)
        and not facts.get("pauses")
        and not facts.get("followed_upload")
        and facts.get("priority") != LOW
        and facts.get("planned_parallelism") in (None, facts.get("parallelism"))
    )


def job_at_own_pace(job: ImportJob) -> bool:
    """Whether the job ran at its own pace."""
    return at_own_pace(
        {
            "attempts": job.attempts,
            "pauses": job.pauses,
            "followed_upload": job.followed_upload,
            "priority": job.options.priority,
            "parallelism": job.parallelism,
            "planned_parallelism": job.plan_json.get("parallelism"),
        }
    )

"""Whether an import ran at its own pace: only then does its rate tell something about settings, table and server.

The pace of the others was set by a person, the arrival of the file, other imports, or a failure. The planner,
estimates, comparisons and regressions leave them out.
"""

from collections.abc import Mapping
from typing import Any

from importer.engine.plan.option_specs import LOW
from importer.models.job import ImportJob
from importer.models.outcomes.phases import idle_seconds

# The facts (importer.history.facts) that decide it.
PACE_FACTS = (
    *("attempts", "pauses", "followed_upload", "priority", "idle_seconds", "parallelism", "planned_parallelism"),
)
# For sentences that begin with "imports that succeeded".
IN_WORDS = (
    "at the first attempt, without a pause, from a complete file, with the planned parallel chunks, and at low priority"
    " without giving all workers to other imports"
)


def at_own_pace(facts: Mapping[str, Any]) -> bool:
    """Whether the import with these facts ran at its own pace. An unknown fact has its usual value.

    One of low priority did if it had workers all the time: others may have left it some of them, as they do to any.
    """
    return not what_set_the_pace(facts)


def what_set_the_pace(facts: Mapping[str, Any]) -> str:
    """What else set the pace of the import with these facts, in words; "" if it ran at its own."""
    if facts.get("attempts") not in (None, 1):
        return f"took {facts['attempts']:.0f} attempts"
    if facts.get("pauses"):
        return "was paused"
    if facts.get("followed_upload"):
        return "waited for its upload"
    if facts.get("priority") == LOW and facts.get("idle_seconds") != 0:
        return "waited for other imports, since its priority is low"
    if facts.get("planned_parallelism") not in (None, facts.get("parallelism")):
        return "had its parallel chunks changed while it ran"
    return ""


def job_at_own_pace(job: ImportJob) -> bool:
    """Whether the job ran at its own pace."""
    return at_own_pace(
        {
            "attempts": job.attempts,
            "pauses": job.pauses,
            "followed_upload": job.followed_upload,
            "priority": job.options.priority,
            "idle_seconds": idle_seconds(job),
            "parallelism": job.parallelism,
            "planned_parallelism": job.plan_json.get("parallelism"),
        }
    )

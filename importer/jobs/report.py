"""A job's equation and its report as JSON. Changes nothing."""

from pathlib import Path
from typing import Any

from importer.engine.load.verify import Equation
from importer.history.regressions import regression
from importer.models import ImportJob


def equation(job: ImportJob) -> Equation:
    """The rows of the file, and how many were loaded, replaced, unchanged, skipped and rejected."""
    return Equation(
        source=job.scanned_rows,
        loaded=job.loaded_rows,
        replaced=job.replaced_rows,
        unchanged=job.unchanged_rows,
        skipped=job.skipped_rows,
        rejected=job.rejected_rows,
    )


def report(job: ImportJob, rejects_file: Path | None = None, reasons_file: Path | None = None) -> dict[str, Any]:
    """The output of `import_csv --json`, a contract. Seconds are ImportJob.step_seconds.

    `lines` are the lines of the file that are no records: for each kind the count, and the first ones with their text.
    `rejects_file` has the rejected rows, `reasons_file` the reasons of all rejected and skipped rows.
    """
    return {
        "job": job.pk,
        "status": job.status,
        "rows": {
            "source": job.scanned_rows,
            "loaded": job.loaded_rows,
            "replaced": job.replaced_rows,
            "unchanged": job.unchanged_rows,
            "skipped": job.skipped_rows,
            "rejected": job.rejected_rows,
        },
        "lines": job.skipped_lines.as_json(),
        "balanced": job.balanced,
        "seconds": job.step_seconds,
        "rows_per_second": round(job.rows_per_second, 1) if job.rows_per_second else None,
        "slower_than_like": slower.as_json() if (slower := regression(job)) else None,
        "plan": job.plan_json,
        "reject_reasons": job.reject_reasons,
        "notices": job.notices,
        "rejects_file": rejects_file and str(rejects_file),
        "reasons_file": reasons_file and str(reasons_file),
        "problem": job.problem or None,
    }

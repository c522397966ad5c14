"""Tests all causes on the evidence."""

from importer.engine.mysql.diagnosis.cause import Evidence, Explanation
from importer.engine.mysql.diagnosis.causes import CAUSES, LAST


def diagnose(evidence: Evidence) -> list[Explanation]:
    """The causes that fit, those for which nothing moves first; empty for one that neither waits nor is slow."""
    found = [explained for cause in CAUSES if (explained := cause.explain(evidence))]
    found = found or [explained for cause in LAST if (explained := cause.explain(evidence))]
    return sorted(found, key=lambda each: not each.waits)

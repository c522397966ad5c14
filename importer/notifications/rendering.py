"""Renders a payload as a mail: its subject, plain text and HTML."""

import json
import re
from typing import Any

from django.template.loader import render_to_string

from importer.models.outcomes.looks import look_of

LONGEST_SUBJECT = 160
# Blanks, breaks and control characters, which names and values may have and no header may.
_BREAKS = re.compile(r"[\s\x00-\x1f\x7f]+")


def subject(payload: dict[str, Any]) -> str:
    """One line: "Millrace: Import 17 into orders failed: ..."."""
    text = _BREAKS.sub(" ", f"Millrace: {payload['title']}: {payload['what']}").strip()
    return text if len(text) <= LONGEST_SUBJECT else f"{text[: LONGEST_SUBJECT - 1]}…"


def bodies(payload: dict[str, Any], channel: str) -> tuple[str, str]:
    """The message as plain text and as HTML."""
    job, run, problem = (payload[name] or {} for name in ("job", "run", "problem"))
    words = run.get("outcome") or job.get("outcome")
    context = {
        "title": payload["title"][:1].upper() + payload["title"][1:],
        "payload": payload,
        "job": job,
        "run": run,
        "outcome": look_of(words) if words else None,
        # The sums over all files of a run.
        "rows": run.get("rows") or job.get("rows"),
        "problem": problem,
        "lines": [_line(row) for row in problem.get("rows", ())],
        "links": list(_links(payload)),
        "channel": channel,
    }
    return render_to_string("notifications/notice.txt", context), render_to_string("notifications/notice.html", context)


def _line(row: dict[str, Any]) -> str:
    """A bad row's line, column, value and reason. The value is written as JSON, so that a line break is visible."""
    where = [f"line {row['line']:,}", row["column"] and f"column {row['column']}"]
    value = [json.dumps(row["value"], ensure_ascii=False)] if row["column"] or row["value"] else []
    return f"{', '.join(filter(None, where + value))}: {row['reason']}"


def _links(payload: dict[str, Any]) -> list[tuple[str, str]]:
    job, run, details = payload["job"] or {}, payload["run"] or {}, payload["details"]
    schedule = run.get("schedule", {})
    links = [
        ("The schedule", schedule.get("url")),
        ("The import", job.get("url")),
        ("Its rejected rows", job.get("rejects_url")),
        (details.get("name", ""), details.get("url")),
    ]
    return [(name, url) for name, url in links if url]

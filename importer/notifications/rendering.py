"""A payload in words: a mail's subject and its two bodies."""

import json
import re
from typing import Any

from django.template.loader import render_to_string

LONGEST_SUBJECT = 160
_BREAKS = re.compile(r"\s+")


def subject(payload: dict[str, Any]) -> str:
    """One line: "Millrace: Import 17 into orders failed: ..."."""
    said = _BREAKS.sub(" ", f"Millrace: {payload['title']}: {payload['what']}").strip()
    return said if len(said) <= LONGEST_SUBJECT else f"{said[: LONGEST_SUBJECT - 1]}…"


def bodies(payload: dict[str, Any], channel: str) -> tuple[str, str]:
    """The message as plain text and as HTML."""
    job, run, problem = (payload[name] or {} for name in ("job", "run", "problem"))
    context = {
        "title": payload["title"][:1].upper() + payload["title"][1:],
        "payload": payload,
        "job": job,
        "run": run,
        # Of all files of a run together.
        "rows": run.get("rows") or job.get("rows"),
        "problem": problem,
        "lines": [_line(row) for row in problem.get("rows", ())],
        "links": list(_links(payload)),
        "channel": channel,
    }
    return render_to_string("notifications/notice.txt", context), render_to_string("notifications/notice.html", context)


def _line(row: dict[str, Any]) -> str:
    """Where a bad value is and what is wrong with it; the value as JSON writes it, so that a line break shows."""
    where = [f"line {row['line']:,}", row["column"] and f"column {row['column']}"]
    value = [json.dumps(row["value"], ensure_ascii=False)] if row["column"] or row["value"] else []
    return f"{', '.join(filter(None, where + value))}: {row['reason']}"


def _links(payload: dict[str, Any]) -> list[tuple[str, str]]:
    job, run = payload["job"] or {}, payload["run"] or {}
    schedule = run.get("schedule", {})
    found = [
        ("The schedule", schedule.get("url")),
        ("The import", job.get("url")),
        ("Its rejected rows", job.get("rejects_url")),
    ]
    return [(name, url) for name, url in found if url]

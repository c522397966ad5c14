"""Each page stays small and quick with 10,000 imports, of one file over and over again."""

import gzip
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from importer.models import ImportJob
from tests.browser.visits import address, visits
from tests.cost import Cost, cost_of
from tests.filled.pages import Page

pytestmark = pytest.mark.django_db(transaction=True)

STATIC = Path(__file__).resolve().parents[2] / "static"
IMPORTS = 10_000
MOST_BYTES = 300_000
# Both together are about 0.3 s of processor time.
MOST_CALLS, MOST_STEPS = 400_000, 1_500_000


def repeat_imports() -> None:
    """Every import that succeeded, again and again; each tenth failed, and all of the last one's file.

    They are copied inside the database.
    """
    own = {
        "id": "%(top)s + n * 100 + old.id",
        "key": "lower(hex(randomblob(16)))",
        "table_claim": "NULL",
        "trial_id": "NULL",
        "status": "CASE WHEN n %% 10 = 0 OR old.id = %(last)s THEN 'failed' ELSE old.status END",
        "created_at": "datetime(old.created_at, '+' || n || ' minutes')",
        "finished_at": "datetime('now', '-' || n || ' minutes')",
    }
    names = [field.column for field in ImportJob._meta.concrete_fields]
    some = ImportJob.objects.filter(status=ImportJob.Status.SUCCEEDED, trial=None)
    top, old = ImportJob.objects.order_by("pk").last().pk, some.count()
    given = {"top": top, "last": some.order_by("pk").last().pk}
    values = ", ".join(own[name] % given if name in own else f'old."{name}"' for name in names)
    columns = ", ".join(f'"{name}"' for name in names)
    with connection.cursor() as cursor:
        cursor.execute(
            f"WITH RECURSIVE times(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM times WHERE n < {IMPORTS // old})"
            f" INSERT INTO importer_importjob ({columns}) SELECT {values} FROM times, importer_importjob AS old"
            " WHERE old.status = 'succeeded' AND old.trial_id IS NULL"
        )


@cache
def compressed(file: str) -> int:
    return len(gzip.compress((STATIC / file).read_bytes()))


def bytes_of(answer) -> int:
    """The bytes of a page with the static files that it names, compressed."""
    packed = answer.headers.get("Content-Encoding") == "gzip"
    html = (gzip.decompress(answer.content) if packed else answer.content).decode()
    files = set(re.findall(r'(?:src|href)="/static/([^"?]+)"', html))
    assert files, "a page has a style sheet"
    return len(answer.content) + sum(map(compressed, files))


def looked(browser: Client, page: Page) -> tuple[Any, Cost]:
    """The page, and what it cost to make it."""
    answers: list[Any] = []
    cost = cost_of(lambda: answers.append(browser.get(address(page), headers={"Accept-Encoding": "gzip"})))
    return answers[0], cost


def test_each_page_keeps_its_budgets_of_bytes_and_of_work(filled, settings):
    settings.OIDC_ISSUER, settings.OIDC_NAME = "http://127.0.0.1:1", "Keys"
    seen = visits()
    repeat_imports()
    assert ImportJob.objects.count() > IMPORTS * 0.9
    beyond = {}
    for browser, pages in seen:
        for page in pages:
            answer, cost = looked(browser, page)
            if cost.calls > MOST_CALLS:
                answer, cost = looked(browser, page)  # The first look has also read the page's templates.
            if bytes_of(answer) > MOST_BYTES or cost.calls > MOST_CALLS or cost.steps > MOST_STEPS:
                beyond[str(page)] = (bytes_of(answer), cost)
    assert beyond == {}

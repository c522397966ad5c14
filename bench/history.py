"""Measures how long the history takes to answer: its queries, and its page and charts as a browser requests them.

    python -m bench.history                                     10,000 jobs and 1,000,000 chunks on SQLite
    DATABASE_URL=mysql://root@127.0.0.1:3306/seeded python -m bench.history

The jobs are generated (bench/seed_history.py) and kept for the next run: in --folder, or in the database that
DATABASE_URL names, which must contain no real jobs. Each request runs --rounds times, alternating with the others. The
output has the milliseconds until the answer, median and maximum, and the processor time of this process.
"""

import argparse
import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

GOOD = 300  # milliseconds that a page or a chart may take


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=10_000)
    parser.add_argument("--chunks", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--folder", type=Path, default=Path("var/bench/history"))
    arguments = parser.parse_args()
    _set_up(arguments)
    took: dict[str, list[tuple[float, float]]] = {}
    requests = _queries() | _views()
    for _ in range(arguments.rounds):
        for name, request in requests.items():
            took.setdefault(name, []).append(_timed(request))
    print(_report(took))


def _set_up(arguments: argparse.Namespace) -> None:
    """Set the application up on the measured database and generate missing jobs."""
    import django
    from django.core.management import call_command

    folder = arguments.folder.resolve() / f"{arguments.jobs}-{arguments.chunks}"
    folder.mkdir(parents=True, exist_ok=True)
    os.environ["VAR_DIR"] = str(folder)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    os.environ.setdefault("LOG_LEVEL", "WARNING")
    django.setup()
    from bench.seed_history import write_history
    from importer.models import ImportJob

    call_command("migrate", interactive=False, verbosity=0)
    missing = arguments.jobs - ImportJob.objects.count()
    if missing > 0:
        write_history(missing, arguments.chunks)


def _queries() -> dict[str, Callable[[], object]]:
    from importer.history import charts, compare, export, read, regressions, search
    from importer.history.chunks import timings
    from importer.history.facts import FACTS
    from importer.history.query import Condition, Query
    from importer.models import ImportJob

    everything = Query()
    filtered = Query(
        (
            Condition.read("status", "=", "succeeded"),
            Condition.read("indexes", "=", "defer"),
            Condition.read("rows", ">", "100000"),
        ),
        sort="-rows_per_second",
        page=3,
    )
    largest = ImportJob.objects.order_by("-scanned_rows")[0]
    latest = read.recorded()[-4:]
    one_table = Query((Condition.read("table", "=", str(search.values_of("table")[0])),))
    return {
        "first page, newest first": lambda: search.page(everything),
        "a page of 3 conditions, sorted by another fact": lambda: search.page(filtered),
        "a page of all facts as columns": lambda: search.page(Query(columns=tuple(FACTS))),
        "points of two facts, coloured by a third": lambda: charts.points(
            everything, "chunk_bytes", "rows_per_second", "parallelism"
        ),
        "the same under 3 conditions": lambda: charts.points(filtered, "chunk_bytes", "rows_per_second", "parallelism"),
        "medians and spread by setting": lambda: charts.by_setting(
            everything, "chunk_bytes", "rows_per_second", "parallelism"
        ),
        "medians and spread in ranges": lambda: charts.by_setting(everything, "row_bytes", "rows_per_second"),
        "one table over time": lambda: charts.over_time(one_table),
        "all tables over time": lambda: charts.over_time(everything),
        "where the time goes": lambda: charts.where_time_goes(everything),
        "chunks of the largest job": lambda: timings.chunk_timings(largest),
        "comparison of 4 jobs": lambda: compare.compare(latest),
        "comparison of the latest job with its peers": lambda: regressions.compare_with_peers(
            read.rows(latest[-1:])[latest[-1]]
        ),
        "values that a filter offers": lambda: search.values_of("server_version"),
        "export as CSV (all jobs, no page)": lambda: sum(
            map(len, export.as_csv(everything.columns, search.every_row(everything)))
        ),
    }


def _views() -> dict[str, Callable[[], object]]:
    """The requests of a browser, until the last byte of the answer; without the web server."""
    from django.conf import settings
    from django.contrib.auth.models import User
    from django.test import Client
    from django.urls import reverse

    from importer.history import read

    settings.STATIC_ROOT.mkdir(exist_ok=True)
    settings.ALLOWED_HOSTS = ["testserver"]
    plain = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    settings.STORAGES = {**settings.STORAGES, "staticfiles": plain}
    client = Client()
    client.force_login(User.objects.get_or_create(username="bench")[0])

    def get(name: str, **values: Any) -> Callable[[], object]:
        address = reverse(name)

        def request() -> object:
            answer = client.get(address, values)
            assert answer.status_code == 200, answer
            return answer.getvalue() if answer.streaming else answer.content

        return request

    table = next(iter(read.counted("table")))
    wide = {"where": ["indexes = defer", "rows > 100000"], "sort": "-rows_per_second", "page": 3}
    return {
        "GET history": get("history"),
        "GET history of one table": get("history", table=table),
        "GET history, 2 conditions, sorted, page 3": get("history", **wide),
        "GET history over time": get("history", chart="time"),
        "GET history, all facts as columns": get("history", columns="all"),
        "GET chart": get("history_chart"),
        "GET chart of words by words": get("history_chart", x="table", colour="server_version"),
        "GET chart over time": get("history_chart", chart="time"),
        "GET chart over time of one table": get("history_chart", chart="time", table=table),
        "GET chart where the time goes": get("history_chart", chart="phases"),
        "GET values that a filter offers": get("history_values", fact="rows"),
        "GET CSV (all jobs, no page)": get("history_csv"),
    }


def _timed(request: Callable[[], object]) -> tuple[float, float]:
    """Elapsed milliseconds, and milliseconds of this process's processor time."""
    began, worked = time.perf_counter(), time.process_time()
    request()
    return (time.perf_counter() - began) * 1e3, (time.process_time() - worked) * 1e3


def _report(took: dict[str, list[tuple[float, float]]]) -> str:
    from django.db import connection

    lines = [f"{connection.vendor} as the application's database", f"{'':48}  median    most  processor"]
    for name, times in took.items():
        waited, worked = zip(*times, strict=True)
        late = "  <- slow" if statistics.median(waited) > GOOD and "no page" not in name else ""
        lines.append(
            f"{name:48} {statistics.median(waited):7.0f} {max(waited):7.0f} {statistics.median(worked):10.0f}{late}"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    main()

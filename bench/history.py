"""How long the history takes to answer: what its parts read, and its page and charts as a browser asks for them.

    python -m bench.history                                     10,000 jobs and 1,000,000 chunks on SQLite
    DATABASE_URL=mysql://root@127.0.0.1:3306/seeded python -m bench.history

The jobs are made up (`manage.py seed_history`) and stay for the next run: in --folder, or in the database that
DATABASE_URL names, which must have no real ones. Each question is asked --rounds times, all of them in turns. The time
until the answer is shown in milliseconds, median and most, and beside it the processor time of this process.
"""

import argparse
import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path

GOOD = 300  # milliseconds: what a page or a chart may take


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=10_000)
    parser.add_argument("--chunks", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--folder", type=Path, default=Path("var/bench/history"))
    arguments = parser.parse_args()
    _set_up(arguments)
    took: dict[str, list[tuple[float, float]]] = {}
    questions = _questions() | _views()
    for _ in range(arguments.rounds):
        for name, ask in questions.items():
            took.setdefault(name, []).append(_timed(ask))
    print(_report(took))


def _set_up(arguments: argparse.Namespace) -> None:
    """The application on the database that is measured, with the jobs in it."""
    import django
    from django.core.management import call_command

    folder = arguments.folder.resolve() / f"{arguments.jobs}-{arguments.chunks}"
    folder.mkdir(parents=True, exist_ok=True)
    os.environ["VAR_DIR"] = str(folder)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    os.environ.setdefault("LOG_LEVEL", "WARNING")
    django.setup()
    from importer.models import ImportJob

    call_command("migrate", interactive=False, verbosity=0)
    missing = arguments.jobs - ImportJob.objects.count()
    if missing > 0:
        call_command("seed_history", jobs=missing, chunks=arguments.chunks)


def _questions() -> dict[str, Callable[[], object]]:
    from importer.history import charts, chunk_timings, compare, export, read, regressions, search
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
    largest = ImportJob.objects.order_by("-scanned_rows").first()
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
        "chunks of the largest job": lambda: chunk_timings.chunk_timings(largest),
        "4 jobs side by side": lambda: compare.compare(latest),
        "the latest job beside its like": lambda: regressions.compare_with_peers(read.rows(latest[-1:])[latest[-1]]),
        "what a filter offers": lambda: search.values_of("server_version"),
        "export as CSV (all jobs, no page)": lambda: sum(
            map(len, export.as_csv(everything.columns, search.every_row(everything)))
        ),
    }


def _views() -> dict[str, Callable[[], object]]:
    """What a browser asks for, from the request to the last byte of the answer; without the web server."""
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

    def asked(name: str, **values: object) -> Callable[[], object]:
        address = reverse(name)

        def ask() -> object:
            answer = client.get(address, values)
            assert answer.status_code == 200, answer
            return answer.getvalue() if answer.streaming else answer.content

        return ask

    table = next(iter(read.counted("table")))
    wide = {"where": ["indexes = defer", "rows > 100000"], "sort": "-rows_per_second", "page": 3}
    return {
        "GET history": asked("history"),
        "GET history of one table": asked("history", table=table),
        "GET history, 2 conditions, sorted, page 3": asked("history", **wide),
        "GET history over time": asked("history", chart="time"),
        "GET history, all facts as columns": asked("history", columns="all"),
        "GET chart": asked("history_chart"),
        "GET chart of words by words": asked("history_chart", x="table", colour="server_version"),
        "GET chart over time": asked("history_chart", chart="time"),
        "GET chart over time of one table": asked("history_chart", chart="time", table=table),
        "GET chart where the time goes": asked("history_chart", chart="phases"),
        "GET what a filter offers": asked("history_values", fact="rows"),
        "GET CSV (all jobs, no page)": asked("history_csv"),
    }


def _timed(ask: Callable[[], object]) -> tuple[float, float]:
    """Milliseconds by the clock, and of this process's processor time."""
    began, worked = time.perf_counter(), time.process_time()
    ask()
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

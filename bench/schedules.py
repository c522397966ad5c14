"""Measures how long it takes until all schedules that are due in the same minute are started or queued.

    python -m bench.schedules                                   1,000 schedules on SQLite
    DATABASE_URL=mysql://root@127.0.0.1:3306/empty python -m bench.schedules

Ticks run one after another until no schedule is due. No worker runs: only beat's part is measured. Then the search for
new files among --files that the schedule has already loaded is timed. The database that DATABASE_URL names must be
empty.
"""

import argparse
import time
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

GOOD = 60  # seconds that may pass until all are started or queued


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--schedules", type=int, default=1000)
    parser.add_argument("--files", type=int, default=10_000)
    arguments = parser.parse_args()
    _set_up()
    schedules = make_due(arguments.schedules)
    took, cpu, ticks, steps = tick_until_none_is_due()
    queued = f"{len(steps):,} of {len(schedules):,} runs queued by {ticks} ticks"
    print(f"{queued} in {took:.1f} s ({cpu:.1f} s of the processor)")
    seconds, cpu = search_new_files(schedules[0], arguments.files)
    print(f"search among {arguments.files:,} files that are loaded: {seconds:.2f} s ({cpu:.2f} s of the processor)")


def _set_up() -> None:
    from bench.application import set_up

    set_up(Path("var/bench/schedules"))
    from django.core.management import call_command

    call_command("migrate", interactive=False, verbosity=0)


def make_due(count: int) -> list[Any]:
    """Create `count` schedules, due for a few seconds, on a folder and a target that are never contacted."""
    from django.utils import timezone

    from importer.models import Schedule, SourceConnection, Target

    target = Target.objects.create(name="nowhere", host="127.0.0.1", user="nobody", database="none")
    connection = SourceConnection.objects.create(name="nothing", kind="folder", base="/nothing")
    recipe = {"schema_name": "none", "table_name": "t", "dialect_json": {}, "mapping_json": [], "header": []}
    due_at = timezone.now().replace(microsecond=0) - timedelta(seconds=2)
    # Once a year, so that none is due again before the last one is handled.
    when = {"trigger": "cron", "cron": "0 0 1 1 *", "zone": "Europe/Berlin", "next_due_at": due_at}
    return Schedule.objects.bulk_create(
        Schedule(
            name=f"schedule {n}",
            target=target,
            connection=connection,
            pattern="*.csv",
            columns_json=[],
            **recipe,
            **when,
        )
        for n in range(count)
    )


def tick_until_none_is_due() -> tuple[float, float, int, list[Any]]:
    """Tick until no schedule is due; return seconds, processor seconds, ticks, and the messages to workers."""
    from django.utils import timezone

    from importer.models import Schedule
    from importer.schedules import tick

    sent: list[Any] = []

    def send(steps: Sequence[Any]) -> None:
        sent.extend(steps)

    began, cpu, ticks = time.monotonic(), time.process_time(), 0
    until = timezone.now()
    while Schedule.objects.filter(next_due_at__lte=until).exists():
        tick(send)
        ticks += 1
    return time.monotonic() - began, time.process_time() - cpu, ticks, sent


def search_new_files(schedule: Any, count: int) -> tuple[float, float]:
    """Check that none of `count` loaded files is new; return seconds and processor seconds."""
    from django.utils import timezone

    from importer.connections.listed_files import ListedFile
    from importer.models import DiscoveredFile
    from importer.schedules.run.deduplication import identity, is_new

    now = timezone.now()
    files = [ListedFile(f"{n}.csv", n, now, f"{n}") for n in range(count)]
    run = schedule.runs.first()
    DiscoveredFile.objects.bulk_create(
        (
            DiscoveredFile(run=run, schedule=schedule, name=each.name, identity=identity(each), outcome="loaded")
            for each in files
        ),
        batch_size=500,
    )
    began, cpu = time.monotonic(), time.process_time()
    assert not is_new(schedule, files)
    return time.monotonic() - began, time.process_time() - cpu


if __name__ == "__main__":
    main()

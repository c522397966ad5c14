"""How long it takes until all schedules that are due in the same minute are started or queued.

    python -m bench.schedules                                   1,000 schedules on SQLite
    DATABASE_URL=mysql://root@127.0.0.1:3306/empty python -m bench.schedules

Ticks are made one after another until nothing is due any more. No worker runs: what is measured is what beat's side
costs. Then a look for new files is timed, among --files that the schedule has loaded before. The database that
DATABASE_URL names must be an empty one.
"""

import argparse
import time
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

GOOD = 60  # seconds: what may pass until all are started or queued


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--schedules", type=int, default=1000)
    parser.add_argument("--files", type=int, default=10_000)
    arguments = parser.parse_args()
    _set_up()
    made = make_due(arguments.schedules)
    took, cpu, ticks, steps = take_up_all()
    print(
        f"{len(steps):,} of {len(made):,} runs queued by {ticks} ticks in {took:.1f} s ({cpu:.1f} s of the processor)"
    )
    seconds, cpu = look_among(made[0], arguments.files)
    print(f"a look among {arguments.files:,} files that are in: {seconds:.2f} s ({cpu:.2f} s of the processor)")


def _set_up() -> None:
    from bench.application import set_up

    set_up(Path("var/bench/schedules"))
    from django.core.management import call_command

    call_command("migrate", interactive=False, verbosity=0)


def make_due(count: int) -> list[Any]:
    """So many schedules, all due since a few seconds, on a folder and a target that nobody asks."""
    from django.utils import timezone

    from importer.models import Schedule, SourceConnection, Target

    target = Target.objects.create(name="nowhere", host="127.0.0.1", user="nobody", database="none")
    connection = SourceConnection.objects.create(name="nothing", kind="folder", base="/nothing")
    recipe = {"schema_name": "none", "table_name": "t", "dialect_json": {}, "mapping_json": [], "header": []}
    due_at = timezone.now().replace(microsecond=0) - timedelta(seconds=2)
    # Once a year, so that none is due again before all are taken up.
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


def take_up_all() -> tuple[float, float, int, list[Any]]:
    """Tick until nothing is due; seconds, seconds of the processor, ticks, and the messages that workers would get."""
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


def look_among(schedule: Any, count: int) -> tuple[float, float]:
    """How long it takes to see that none of so many files is new; seconds, and seconds of the processor."""
    from django.utils import timezone

    from importer.connections import ListedFile
    from importer.models import DiscoveredFile
    from importer.schedules.run.deduplication import identity, is_new

    now = timezone.now()
    found = [ListedFile(f"{n}.csv", n, now, f"{n}") for n in range(count)]
    run = schedule.runs.first()
    DiscoveredFile.objects.bulk_create(
        (
            DiscoveredFile(run=run, schedule=schedule, name=each.name, identity=identity(each), outcome="loaded")
            for each in found
        ),
        batch_size=500,
    )
    began, cpu = time.monotonic(), time.process_time()
    assert not is_new(schedule, found)
    return time.monotonic() - began, time.process_time() - cpu


if __name__ == "__main__":
    main()

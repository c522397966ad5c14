"""Due times around clock changes; tests/faults/simulated_years.py takes years, and all zones."""

from datetime import datetime

from tests.faults.simulated_years import simulate

# Half an hour; two hours; a day that was left out; a change at midnight; and an ordinary one.
ABOUT = [
    ("Australia/Lord_Howe", "2026-03-29"),
    ("Antarctica/Troll", "2024-03-24"),
    ("Pacific/Apia", "2011-12-23"),
    ("America/Havana", "2025-03-02"),
    ("Europe/Berlin", "2026-10-18"),
]


def test_every_due_time_ran_once_or_is_left_out_on_record(make):
    schedule, ran = make(), 0
    for seed, (zone, day) in enumerate(ABOUT):
        ran += simulate(schedule, zone, datetime.fromisoformat(f"{day}T00:00+00:00"), 15, seed)[0]
    assert ran > 100

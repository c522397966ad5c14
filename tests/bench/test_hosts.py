"""25 hosts load 1,000 chunks in virtual time, while hosts die, messages are lost and chunks fail."""

from collections import Counter
from random import Random

import pytest

from bench.hosts.simulation import Chances, Simulation, make_import
from importer.models import Chunk, ImportJob, Target
from tests.people import admin

pytestmark = pytest.mark.django_db

HOSTS, SLOTS, CHUNKS, CEILING, LEASE = 25, 1, 1000, 5, 60
# While both people have more to load than there are slots (seconds).
BEGIN, END = 10, 35
Status = ImportJob.Status


@pytest.fixture
def group_of(settings) -> dict[int, str]:
    """The imports by id. Ann has five into one target, and Bob one; each has one into a target with a low ceiling."""
    settings.LEASE_SECONDS, settings.HEARTBEAT_SECONDS, settings.SWEEP_SECONDS = LEASE, LEASE / 4, LEASE / 4
    settings.MAX_DEATHS = settings.MAX_ATTEMPTS = 1000
    values = {"host": "127.0.0.1", "user": "u", "database": "s"}
    large = Target.objects.create(name="large", ceiling=64, **values)
    small = Target.objects.create(name="small", ceiling=CEILING, **values)
    ann, bob = admin("ann"), admin("bob")
    wanted = [*((large, ann, f"a{number}", 100, "ann") for number in range(5)), (large, bob, "b", 250, "bob")]
    wanted += [(small, ann, "sa", 125, "small"), (small, bob, "sb", 125, "small")]
    return {make_import(*values, parallelism=64).pk: group for *values, group in wanted}


def test_shares_ceilings_and_leases_hold(group_of):
    shares: Counter[str] = Counter()
    since, before = 0.0, Counter[str]()

    def look(simulation: Simulation) -> None:
        nonlocal since, before
        loading = simulation.loading()
        held = Counter(chunk.pk for slot in loading for chunk in slot.left)
        assert max(held.values(), default=0) <= 1, "two live workers hold one chunk"
        slots = Counter(group_of[slot.run.job.pk] for slot in loading if slot.run)
        assert slots["small"] <= CEILING
        if BEGIN < since < END:
            for group, count in before.items():
                shares[group] += count * (simulation.seconds - since)
        since, before = simulation.seconds, slots

    chances = Chances(lives=200, away=30, fails=0.01, lost=0.01)
    simulation = Simulation(HOSTS, SLOTS, _seconds, chances, look, seed=33)
    simulation.run()

    assert simulation.deaths > 10
    assert simulation.loaded == dict.fromkeys(Chunk.objects.values_list("pk", flat=True), 1)
    assert len(simulation.loaded) == CHUNKS
    assert set(Chunk.objects.values_list("status", flat=True)) == {Chunk.Status.LOADED}
    assert set(ImportJob.objects.values_list("status", flat=True)) == {Status.VERIFYING}
    # No chunk of a dead worker was taken before its lease had expired.
    assert len(simulation.taken_over) > 20
    assert min(simulation.taken_over) >= LEASE
    # Ann's five imports have no more slots than Bob's one, and few of the live hosts' slots are idle.
    ann, bob, small = (shares[group] / (END - BEGIN) for group in ("ann", "bob", "small"))
    assert ann == pytest.approx(bob, rel=0.15)
    assert CEILING * 0.7 < small <= CEILING
    assert ann + bob + small > HOSTS * SLOTS * 0.9


def _seconds(random: Random, _loading: int) -> float:
    return random.uniform(1.2, 2.5)

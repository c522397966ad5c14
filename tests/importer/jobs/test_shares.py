"""Who gets the next slot to load: between people, between the imports of one person, and within a target's ceiling."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import connection
from hypothesis import given
from hypothesis import strategies as st

from importer import queue
from importer.jobs import lifecycle
from importer.jobs.sharing.claimants import waiting_for_target
from importer.jobs.sharing.hosts import leave_out
from importer.jobs.sharing.shares import Claimant, fair_shares, must_yield, next_in_line
from importer.jobs.steps.chunk_leases import ChunkRun, claim_run, release_chunks, should_continue
from importer.models import Chunk, ImportJob, Target
from importer.worker import load_chunks
from importer.worker.hosts import presence
from tests.dashboard.job_data import make_job
from tests.people import admin

ANN, BOB = 1, 2
Status = ImportJob.Status


class TestNextInLine:
    def test_the_person_with_the_fewest_loads(self):
        anns, bobs = [Claimant(1, ANN, 1, 9), Claimant(2, ANN, 1, 9)], Claimant(3, BOB, 1, 9)
        assert next_in_line([*anns, bobs]) == bobs

    def test_then_the_import_with_the_fewest_and_then_who_waits_longest(self):
        few, many = Claimant(2, ANN, 0, 4), Claimant(1, ANN, 3, 9)
        assert next_in_line([many, few]) == few
        late, early = Claimant(1, ANN, 0, 4, since=5), Claimant(2, ANN, 0, 4, since=3)
        assert next_in_line([late, early]) == early

    def test_nobody_who_has_enough(self):
        assert next_in_line([Claimant(1, ANN, 2, 2)]) is None

    def test_of_one_person_the_import_of_high_priority_but_not_before_another_person(self):
        urgent, usual = Claimant(2, ANN, 3, 9, priority="high"), Claimant(1, ANN, 0, 9)
        assert next_in_line([usual, urgent]) == urgent
        bobs = Claimant(3, BOB, 2, 9)
        assert next_in_line([usual, urgent, bobs]) == bobs

    def test_one_of_low_priority_after_those_of_everybody(self):
        low, usual = Claimant(1, ANN, 0, 9, priority="low"), Claimant(2, BOB, 6, 9)
        assert next_in_line([low, usual]) == usual
        assert next_in_line([low, Claimant(2, BOB, 9, 9)]) == low


class TestYielding:
    def test_of_low_priority_to_every_other_and_not_the_other_way_round(self):
        low, usual = Claimant(1, ANN, 0, 4, priority="low"), Claimant(2, BOB, 7, 9)
        assert must_yield(low, [usual])
        assert not must_yield(usual, [low])
        assert must_yield(low, [Claimant(2, BOB, 0, 4, priority="low")])

    def test_to_one_that_waits_with_as_few_loads_as_are_left(self):
        waiting = Claimant(2, BOB, 0, 4)
        assert must_yield(Claimant(1, ANN, 0, 4), [waiting])
        assert must_yield(Claimant(1, ANN, 7, 8), [waiting])

    def test_not_to_one_that_has_its_share_or_enough(self):
        assert not must_yield(Claimant(1, ANN, 1, 4), [Claimant(2, BOB, 2, 4)])
        assert not must_yield(Claimant(1, ANN, 7, 8), [Claimant(2, BOB, 1, 1)])

    def test_not_to_a_person_who_has_many_elsewhere(self):
        assert not must_yield(Claimant(1, ANN, 1, 4), [Claimant(2, BOB, 6, 6), Claimant(3, BOB, 0, 1)])


class TestFairShares:
    def test_between_people_and_then_between_the_imports_of_each(self):
        claimants = [*(Claimant(job, ANN, 0, 9) for job in (1, 2, 3)), Claimant(4, BOB, 0, 9)]
        assert fair_shares(12, claimants) == {1: 2, 2: 2, 3: 2, 4: 6}

    def test_what_one_does_not_want_is_left_to_the_others(self):
        assert fair_shares(8, [Claimant(1, ANN, 0, 9), Claimant(2, BOB, 0, 1)]) == {1: 7, 2: 1}

    def test_low_priority_gets_what_the_others_leave(self):
        claimants = [Claimant(1, ANN, 0, 9, priority="low"), Claimant(2, BOB, 0, 5), Claimant(3, BOB, 0, 9)]
        assert fair_shares(8, claimants) == {1: 0, 2: 4, 3: 4}
        assert fair_shares(20, claimants) == {1: 6, 2: 5, 3: 9}

    @given(
        st.integers(0, 64),
        st.lists(st.tuples(st.sampled_from([None, ANN, BOB]), st.integers(0, 20)), max_size=12),
    )
    def test_no_slot_is_wasted_and_nobody_has_more_while_another_wants_some(self, slots, wanted):
        claimants = [Claimant(job, person, 0, wants) for job, (person, wants) in enumerate(wanted)]
        shares = fair_shares(slots, claimants)
        wants = {each.job: each.wants for each in claimants}
        assert sum(shares.values()) == min(slots, sum(wants.values()))
        assert all(shares[job] <= wants[job] for job in shares)
        had = Counter[int | None]()
        for each in claimants:
            had[each.person] += shares[each.job]
        for each in claimants:
            if shares[each.job] < each.wants:
                assert max(had.values()) <= had[each.person] + 1


@pytest.fixture
def two(db) -> tuple[ImportJob, ImportJob]:
    """Imports of two people into one target, each with six chunks and a parallelism of four; none is in flight."""
    both = []
    for name in ("ann", "bob"):
        job = make_job(Status.LOADING, chunks=6, loaded=0, parallelism=4, table=name, asked_by=admin(name))
        job.chunks.update(status=Chunk.Status.PENDING, lease=None, attempt=0, length=2**27, problem={})
        both.append(job)
    return both[0], both[1]


def loads(job: ImportJob) -> list[ChunkRun]:
    """Let the import advance, and claim all runs that it has a message for."""
    return [run for each in lifecycle.advance(job.pk) if (run := claim_run(each.id))]


class TestCeiling:
    def test_a_second_import_gets_its_share_of_the_target(self, two):
        first, second = two
        Target.objects.update(ceiling=4)
        Chunk.objects.filter(job=second).update(status=Chunk.Status.FAILED)
        runs = loads(first)
        assert len(runs) == 4
        assert should_continue(runs[0])

        Chunk.objects.filter(job=second).update(status=Chunk.Status.PENDING)
        assert loads(second) == []
        assert waiting_for_target(first) == [second.pk]
        assert not should_continue(runs[0])
        for run in runs[:2]:
            release_chunks(run, run.chunks)
        assert loads(first) == []
        assert len(loads(second)) == 2
        assert should_continue(runs[2])

    def test_what_the_second_one_does_not_need_stays_with_the_first(self, two):
        first, second = two
        Target.objects.update(ceiling=4)
        Chunk.objects.filter(job=second, number__gt=0).update(status=Chunk.Status.LOADED)
        assert len(loads(second)) == 1
        assert len(loads(first)) == 3


def test_imports_that_advance_at_the_same_time_keep_the_ceiling(transactional_db, two):
    Target.objects.update(ceiling=5)
    queued: list[int] = []
    begins = Barrier(len(two))
    # Runs once in each round, when all have advanced.
    ends = Barrier(len(two), lambda: queued.append(Chunk.objects.filter(status=Chunk.Status.QUEUED).count()))

    def advance(job: ImportJob) -> None:
        try:
            for _ in range(10):
                begins.wait()
                lifecycle.advance(job.pk)
                ends.wait()
                job.chunks.update(status=Chunk.Status.PENDING, lease=None)
        finally:
            connection.close()

    with ThreadPoolExecutor(len(two)) as pool:
        list(pool.map(advance, two))
    assert queued == [5] * 10

    def test_a_second_import_of_high_or_low_priority_of_the_same_person(self, two):
        first, second = two
        Target.objects.update(ceiling=4)
        ImportJob.objects.update(asked_by=first.asked_by)
        for priority, of_second, of_first in (("high", 4, 0), ("low", 0, 4), ("normal", 2, 2)):
            set_priority(second, priority)
            Chunk.objects.update(status=Chunk.Status.PENDING, lease=None)
            assert (len(loads(second)), len(loads(first))) == (of_second, of_first), priority


@pytest.mark.parametrize(
    ("step", "failures", "goes_first"),
    [("finish queued", 0, True), ("restore queued", 0, True), ("restore queued", 3, False)],
)
def test_a_step_that_ends_an_import_goes_before_further_chunks_unless_it_has_failed(two, step, failures, goes_first):
    first, second = two
    run, *_ = loads(first)
    second.chunks.update(status=Chunk.Status.LOADED)
    ImportJob.objects.filter(pk=second.pk).update(step=step, step_failures=failures)
    assert should_continue(run) != goes_first


def set_priority(job: ImportJob, priority: str) -> None:
    job.options_json["priority"] = priority
    job.save(update_fields=["options_json"])


class TestClaim:
    @pytest.fixture
    def sent(self, monkeypatch) -> list[queue.Message]:
        """What a worker's process sends."""
        messages: list[queue.Message] = []
        monkeypatch.setattr(presence, "_own", presence.Worker(name="load@here"))
        monkeypatch.setattr(queue, "send", messages.extend)
        return messages

    def test_a_free_slot_is_for_the_import_with_fewer_loads(self, two, sent):
        first, second = two
        earlier, later, *_ = lifecycle.advance(first.pk)
        of_second = lifecycle.advance(second.pk)
        assert claim_run(earlier.id)
        run = load_chunks.claim(later.id)
        assert run
        assert (run.job.pk, run.chunks[0].pk) == (second.pk, of_second[0].id)
        assert sent == [queue.Message("load_run", later.id)]
        # The message of the chunk that was taken finds nothing, and the one that is sent again finds its chunk.
        assert load_chunks.claim(of_second[0].id) is None
        again = load_chunks.claim(later.id)
        assert again
        assert again.chunks[0].pk == later.id

    def test_a_free_slot_is_for_the_import_of_high_priority_although_it_has_more_loads(self, two, sent):
        first, second = two
        ImportJob.objects.update(asked_by=first.asked_by)
        set_priority(second, "high")
        of_first, of_second = lifecycle.advance(first.pk), lifecycle.advance(second.pk)
        assert claim_run(of_second[0].id)
        run = load_chunks.claim(of_first[0].id)
        assert run
        assert run.job.pk == second.pk

    def test_a_free_slot_is_not_for_an_import_of_low_priority_although_it_has_fewer_loads(self, two, sent):
        first, second = two
        set_priority(second, "low")
        of_first = lifecycle.advance(first.pk)
        lifecycle.advance(second.pk)
        assert claim_run(of_first[0].id)
        run = load_chunks.claim(of_first[1].id)
        assert run
        assert run.job.pk == first.pk

    def test_a_process_that_runs_one_import_takes_no_other(self, two, sent, monkeypatch):
        first, second = two
        earlier, later, *_ = lifecycle.advance(first.pk)
        lifecycle.advance(second.pk)
        assert claim_run(earlier.id)
        monkeypatch.setattr(presence, "_own", None)
        run = load_chunks.claim(later.id)
        assert run
        assert run.chunks[0].pk == later.id

    def test_chunks_that_not_every_host_can_read_are_not_taken_by_the_way(self, two, sent):
        first, second = two
        earlier, later, *_ = lifecycle.advance(first.pk)
        lifecycle.advance(second.pk)
        leave_out(second.pk, "here", "/data/in")
        assert claim_run(earlier.id)
        run = load_chunks.claim(later.id)
        assert run
        assert run.job.pk == first.pk

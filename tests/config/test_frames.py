"""Calls at any depth find their frames in the memory that their thread has."""

import resource
from threading import Thread

import pytest

from config.frames import in_one_piece

# Each depth has so many calls, and one of 40 depths is where a piece of 16 KiB is full.
CALLS, DEPTHS = 2_000, 200


def nothing() -> None: ...


def call_at(depth: int) -> None:
    if depth:
        return call_at(depth - 1)
    for _ in range(CALLS):
        nothing()
    return None


def call_at_each_depth() -> int:
    """The pages of memory that it has taken: one for each call where a piece is mapped for it."""
    before = resource.getrusage(resource.RUSAGE_THREAD).ru_minflt
    for depth in range(DEPTHS):
        call_at(depth)
    return resource.getrusage(resource.RUSAGE_THREAD).ru_minflt - before


@pytest.mark.parametrize("is_in_one_piece", [True, False])
def test_a_call_takes_no_new_memory_in_a_thread_with_its_frames_in_one_piece(is_in_one_piece: bool):
    taken = []

    def run() -> None:
        taken.append(call_at_each_depth())

    # The tests' own threads are in one piece, too.
    class Plain(Thread):
        def run(self) -> None:
            run()

    if is_in_one_piece:
        in_one_piece(run)
    thread = Plain()
    thread.start()
    thread.join()
    assert (taken[0] < CALLS // 2) is is_in_one_piece

"""Who gets the next slot to load, and how many each import may have: pure functions of those that want slots.

The same rule everywhere: imports of low priority come last; the person with the fewest loads goes first; of one
person's imports one of high priority, then the one with the fewest loads, and then the one that has waited longest. The
callers read the state from the database, and claim there by compare and set.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from importer.engine.plan.option_specs import HIGH, LOW, NORMAL


@dataclass(frozen=True)
class Claimant:
    """An import that has slots or wants some: `loads` runs load now, of at most `wants`.

    `person`: who asked for it, None for the system. `since`: since when it waits, in any unit; smaller is earlier.
    `priority`: as in Options.
    """

    job: int
    person: int | None
    loads: int
    wants: int
    since: float = 0
    priority: str = NORMAL


def next_in_line(claimants: Sequence[Claimant]) -> Claimant | None:
    """The import that gets the next free slot; None if none wants one."""
    of_person = _loads_of_persons(claimants)
    waiting = [each for each in claimants if each.loads < each.wants]
    return min(waiting, key=lambda each: (*_rank(each, of_person), each.since, each.job), default=None)


def must_yield(own: Claimant, others: Sequence[Claimant]) -> bool:
    """Whether a slot of the import `own` must go to one of the others, which waits, and comes first or is equal.

    `own.loads`: the import's loads apart from the one in that slot.
    """
    of_person = _loads_of_persons([own, *others])
    waiting = (each for each in others if each.loads < each.wants)
    return any(_rank(each, of_person) <= _rank(own, of_person) for each in waiting)


def fair_shares(slots: int, claimants: Iterable[Claimant]) -> dict[int, int]:
    """How many of `slots` slots each import may have, if they are given out one by one to the next in line.

    What an import does not want is left to the others.
    """
    given = {each.job: replace(each, loads=0) for each in claimants}
    for _ in range(slots):
        chosen = next_in_line(list(given.values()))
        if chosen is None:
            break
        given[chosen.job] = replace(chosen, loads=chosen.loads + 1)
    return {job: each.loads for job, each in given.items()}


def _loads_of_persons(claimants: Iterable[Claimant]) -> Mapping[int | None, int]:
    loads: Counter[int | None] = Counter()
    for each in claimants:
        loads[each.person] += each.loads
    return loads


def _rank(claimant: Claimant, of_person: Mapping[int | None, int]) -> tuple[bool, int, bool, int]:
    low, not_high = claimant.priority == LOW, claimant.priority != HIGH
    return low, of_person[claimant.person], not_high, claimant.loads

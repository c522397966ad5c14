"""What an examination of some records has found."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from importer.engine.source.records.row_error import RowError
from importer.engine.validation.verdict import Level, Verdict


@dataclass
class BlockFindings:
    """What is wrong with the records of a block, each by its number in the block (from 0), in order.

    `faults` has the first field at fault of each record. `notices` counts values that go in with something lost, of
    which the server says nothing; `noted` those for which it counts a Note of its own, one for each value, even where
    nothing is lost. Both by Fault without a value, over the records that have no fault.
    """

    faults: list[tuple[int, RowError]] = field(default_factory=list)
    notices: Counter[RowError] = field(default_factory=Counter)
    noted: Counter[RowError] = field(default_factory=Counter)


@lru_cache
def _fault(column: str, verdict: Verdict, null: bool) -> RowError:
    """One for all records with it, of which there may be many; other values are read again when they are shown."""
    return RowError(verdict.code, verdict.reason, column, "NULL" if null else "")


@dataclass
class FindingsBuilder:
    """Verdicts as they come in, field by field; an Examination at the end."""

    reject_rounding: bool
    faults: dict[int, tuple[int, RowError]] = field(default_factory=dict)
    losses: dict[tuple[str, Verdict], list[int]] = field(default_factory=dict)

    def add(self, record: int, position: int, column: str, verdict: Verdict, *, null: bool = False) -> None:
        """One value of one record, or a `null`; `position` is its field's number."""
        if not self.refuses(verdict):
            self.add_losses(column, verdict, [record])
        elif record not in self.faults or self.faults[record][0] > position:
            self.faults[record] = position, _fault(column, verdict, null)

    def refuse(self, record: int, fault: RowError) -> None:
        """A record at fault as a whole."""
        self.faults[record] = -1, fault

    def add_losses(self, column: str, verdict: Verdict, records: Iterable[int]) -> None:
        """Values that go in with something lost, or at least noted by the server, one for each of these records."""
        self.losses.setdefault((column, verdict), []).extend(records)

    def refuses(self, verdict: Verdict) -> bool:
        return verdict.level is Level.REFUSED or (self.reject_rounding and verdict.level is Level.ROUNDED)

    def build(self) -> BlockFindings:
        found = BlockFindings([(record, fault) for record, (_, fault) in sorted(self.faults.items())])
        left_out = np.fromiter(self.faults, np.int64, len(self.faults))
        for (column, verdict), records in self.losses.items():
            count = int(np.count_nonzero(~np.isin(records, left_out)))
            if count:
                counted = found.noted if verdict.noted else found.notices
                counted[RowError(verdict.code, verdict.reason, column, notice=True)] += count
        return found

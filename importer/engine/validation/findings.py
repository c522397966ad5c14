"""The findings of a validation: faults and notices of a block's records."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache

from importer.engine.source.arrays import np
from importer.engine.source.records.row_error import RowError
from importer.engine.validation.verdict import Level, Verdict


@dataclass
class BlockFindings:
    """The findings in the records of a block.

    `faults`: the first field at fault of each bad record, with the record's number in the block (from 0), in order.
    `notices`: counts of values that are stored with a loss about which the server is silent. `noted`: counts of values
    for which the server counts one Note each, even if nothing is lost. Both by RowError without a value, over the
    records without a fault.
    """

    faults: list[tuple[int, RowError]] = field(default_factory=list)
    notices: Counter[RowError] = field(default_factory=Counter)
    noted: Counter[RowError] = field(default_factory=Counter)


@lru_cache
def _fault(column: str, verdict: Verdict, null: bool) -> RowError:
    """One shared RowError for all records with the fault. Values other than NULL are read again when they are shown."""
    return RowError(verdict.code, verdict.reason, column, "NULL" if null else "")


@dataclass
class FindingsBuilder:
    """Collects verdicts field by field, and builds the BlockFindings."""

    reject_rounding: bool
    faults: dict[int, tuple[int, RowError]] = field(default_factory=dict)
    losses: dict[tuple[str, Verdict], list[int]] = field(default_factory=dict)

    def add(self, record: int, position: int, column: str, verdict: Verdict, *, null: bool = False) -> None:
        """Add the verdict about one value of a record. `position`: the field's number. `null`: the value is NULL."""
        if not self.refuses(verdict):
            self.add_losses(column, verdict, [record])
        elif record not in self.faults or self.faults[record][0] > position:
            self.faults[record] = position, _fault(column, verdict, null)

    def refuse(self, record: int, fault: RowError) -> None:
        """Add a fault of a whole record."""
        self.faults[record] = -1, fault

    def add_losses(self, column: str, verdict: Verdict, records: Iterable[int]) -> None:
        """Add values that are stored with a loss or a Note of the server, one for each of the records."""
        self.losses.setdefault((column, verdict), []).extend(records)

    def refuses(self, verdict: Verdict) -> bool:
        return verdict.level is Level.REFUSED or (self.reject_rounding and verdict.level is Level.ROUNDED)

    def build(self) -> BlockFindings:
        """The findings; losses of records with a fault do not count."""
        findings = BlockFindings([(record, fault) for record, (_, fault) in sorted(self.faults.items())])
        left_out = np.fromiter(self.faults, np.int64, len(self.faults))
        for (column, verdict), records in self.losses.items():
            count = int(np.count_nonzero(~np.isin(records, left_out)))
            if count:
                counted = findings.noted if verdict.noted else findings.notices
                counted[RowError(verdict.code, verdict.reason, column, notice=True)] += count
        return findings

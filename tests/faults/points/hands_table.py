"""When another session acts, and what must follow: declared here, shown in docs/faults.md."""

from dataclasses import dataclass

from tests.faults.points.hands import ACTIONS

OUTCOMES = {
    "F": "the import fails, and its retry, too; no row is in the table twice",
    "R": "it succeeds with exactly the rows of the file, perhaps only when it is retried",
    "S": "it succeeds with exactly the rows of the file",
    "N": "it succeeds, and its report names the change, with figures",
    "U": 'it succeeds, and the change is not noticed (["Not noticed"](../ARCHITECTURE.md))',
}


@dataclass(frozen=True)
class Moment:
    """The points at which the workers of these imports are held one after the other; at the last, the session acts.

    At the first one the ledger is copied. `begins`: no row of the file is in the table yet.
    """

    meaning: str
    points: tuple[str, ...]
    imports: tuple[str, ...]
    begins: bool = False

    def tries(self, action: str) -> bool:
        """A staging table is there until it takes the table's name. Each way to load reads the file in the same way."""
        if action.startswith("staging"):
            return self.imports[0] in STAGING and self.points[-1] not in ("swap.renamed", "swap.entered")
        return not action.startswith("file") or self.points[-1] in ("chunk.sealed", COMMITTED, "restore.begun")


APPENDING, MERGING, STAGING = ("fresh", "filled"), ("atomic", "upsert"), ("atomic", "upsert", "replacing")
COMMITTED, REPLACING = "chunk.committed", STAGING[2:]
MOMENTS = {
    "sealed": Moment("no chunk is committed", ("chunk.sealed",), APPENDING, True),
    "entered": Moment("the second chunk has its ledger row, and no row", (COMMITTED, "chunk.entered"), APPENDING),
    "seen": Moment("the second chunk is sent, and not committed", (COMMITTED, "chunk.seen"), APPENDING),
    "second": Moment("two chunks are committed", (COMMITTED, COMMITTED), APPENDING),
    "last": Moment("all chunks are committed", (COMMITTED,) * 5, APPENDING),
    "group": Moment(
        "all chunks are committed, in one transaction",
        ("chunk.sealed", "group.committed"),
        ("small_fresh", "small_filled"),
    ),
    "keys": Moment("all rows are in; no key is built", (COMMITTED, "restore.begun"), ("deferring",)),
    "staged": Moment("the staging table is created", ("stage.created",), STAGING, True),
    "staging": Moment("two chunks are in the staging table", (COMMITTED, COMMITTED), STAGING, True),
    "merging": Moment("the staged rows are not merged yet", (COMMITTED, "merge.entered"), MERGING, True),
    "merged": Moment("the staged rows are merged", (COMMITTED, "merge.committed"), MERGING),
    "counted": Moment("the staging table is complete", (COMMITTED, "swap.counted"), REPLACING, True),
    "renamed": Moment("the staging table has the table's name", (COMMITTED, "swap.renamed"), REPLACING),
    "swapped": Moment("the ledger has the swap", (COMMITTED, "swap.entered"), REPLACING),
}

# A letter for each import of the moment, in its order.
GRID = """
                       sealed entered seen second last group keys staged staging merging merged counted renamed swapped
ledger: all deleted    RF     FF      FF   FF     FF   FF    F    SSS    RRR     FF      FF     S       S       F
ledger: older deleted  RF     FF      FF   FF     FF   FF    F    SSS    RRR     RR      SS     S       S       S
ledger: one deleted    SS     FF      FF   FF     FF   FF    F    SSS    RRR     RR      SS     S       S       S
ledger: truncated      RF     FF      FF   FF     FF   FF    F    SSS    RRR     FF      FF     S       S       F
ledger: dropped        RF     FF      FF   FF     FF   FF    F    SSS    RRR     FF      FF     S       S       F
ledger: renamed        RF     FF      FF   FF     FF   FF    F    SSS    RRR     FF      FF     S       S       F
ledger: older copy     SS     FF      FF   FF     FF   FF    F    SSS    RRR     FF      FF     S       S       F
table: truncated       SN     FF      FF   FF     FF   FF    F    SSS    SSS     SS      FF     S       F       F
table: exchanged       SN     FF      FF   FF     FF   FF    F    SSS    SSS     SS      FF     S       F       F
table: created again   RN     FF      FF   FF     FF   FF    F    SSS    SSS     SS      FF     S       F       F
table: column added    RR     RR      RR   RR     RR   RR    S    RRR    RRR     SS      SS     S       S       S
table: type changed    RN     RN      RN   RN     RN   RN    R    RRR    RRR     SS      NN     S       S       S
table: rows deleted    SS     NU      NU   NU     NU   NU    N    SSS    SSS     SS      UU     S       N       N
table: row added       NS     NS      NS   NS     NS   NS    N    SSS    SSS     SS      SS     S       N       N
staging: dropped       -      -       -    -      -    -     -    RRR    RRR     RR      SS     R       -       -
staging: truncated     -      -       -    -      -    -     -    SSS    RRR     RR      SS     F       -       -
file: appended         NN     -       -    NN     NN   -     N    -      NNN     -       -      -       -       -
file: edited           FF     -       -    FF     NN   -     N    -      FFF     -       -      -       -       -
file: cut              FF     -       -    FF     NN   -     N    -      FFF     -       -      -       -       -
file: replaced         NN     -       -    NN     NN   -     N    -      NNN     -       -      -       -       -
"""
_HEAD, *_LINES = GRID.strip("\n").splitlines()
EXPECTED = {line[:23].strip(): dict(zip(_HEAD.split(), line[23:].split(), strict=True)) for line in _LINES}

LEFT_OUT = {
    "nothing of the import is on the target": (
        *("scan.recorded", "copy.written", "copy.renamed", "chunk.claimed", "chunk.connected"),
        *("stage.claimed", "stage.connected", "keys.planned", "keys.noted", "keys.dropped"),
    ),
    "as between two chunks (`chunk.committed`)": ("chunk.checked", "parents.inserted"),
    "in a transaction, as `chunk.seen` or `merge.entered`": (
        *("chunk.sent", "chunk.counted", "rejects.complete", "rejects.written", "group.entered", "group.seen"),
        *("merge.inserted", "change.compared", "change.removed", "change.updated"),
    ),
    "another thread loads meanwhile, and how far it is would be chance": ("chunk.recorded",),
    "as `restore.begun`": ("restore.keys", "restore.built", "restore.forgotten"),
    "as `merge.committed` or `swap.entered`": ("stage.finished", "stage.dropped"),
    "no import is under way": (
        *("backup.claimed", "backup.connected", "backup.renamed", "undo.changed", "undo.committed"),
        *("schedule.due", "schedule.recorded", "schedule.fetched", "schedule.created", "schedule.started"),
        *("outbox.committed", "outbox.published"),
        *("notice.claimed", "notice.sent"),
    ),
}


def hand_cases() -> list[tuple[str, str]]:
    """All moments and actions that are tried."""
    return [(moment, action) for moment in MOMENTS for action in ACTIONS if MOMENTS[moment].tries(action)]

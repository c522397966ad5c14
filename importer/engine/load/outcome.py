"""The outcome of a chunk in numbers: rows loaded, replaced, unchanged, skipped, rejected; reasons and timings."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Tally:
    """How many of a chunk's rows were loaded, replaced, unchanged, skipped and rejected; the five add up to its rows.

    A row is unchanged if an upsert or a replacement found an equal one. Where the server does not tell
    (planner/decisions/unchanged_rows.py), such a row is among the loaded or the replaced ones.
    """

    loaded: int = 0
    replaced: int = 0
    skipped: int = 0
    rejected: int = 0
    unchanged: int = 0

    @property
    def rows(self) -> int:
        return self.loaded + self.replaced + self.unchanged + self.skipped + self.rejected


@dataclass(frozen=True)
class Compared:
    """The rows of a file compared with those of the table by one key.

    `new`: no row has their key. `changed`: the row with their key differs, in how many rows by each of the `columns`.
    `repeated`: a later row of the file has their key, too, and counts instead. `missing` rows of the table have a key
    that the file does not have; `deleted` of them are to be deleted, or `marked` to be marked. `first` are the first
    rows of each kind (new, changed, missing), as texts by column, of changed ones those that differ, old and new; only
    where nothing changes.
    """

    new: int = 0
    changed: int = 0
    unchanged: int = 0
    repeated: int = 0
    missing: int = 0
    deleted: int = 0
    columns: dict[str, int] = field(default_factory=dict)
    first: dict[str, list[dict[str, list[str | None]]]] = field(default_factory=dict)
    marked: int = 0

    @property
    def there(self) -> int:
        """The rows of the table that were compared, by which limits are measured."""
        return self.changed + self.unchanged + self.missing


@dataclass(frozen=True)
class KeyRange:
    """Rows that a comparison has found, of one kind (new, changed or missing), in the order of their keys.

    `first` and `last` are their keys as SQL literals, by column. `digest` is the sum of their hashes: of the values
    that the table has in the file's columns, of new ones of the key.
    """

    kind: str
    first: tuple[str, ...]
    last: tuple[str, ...]
    rows: int
    digest: int


@dataclass(frozen=True)
class Seen:
    """What a comparison has shown, to be found again before it is applied; equal rows show it by not being there.

    `bytes`: the size of the staging table that is kept for that.
    """

    ranges: tuple[KeyRange, ...]
    bytes: int = 0


@dataclass(frozen=True)
class ReasonCount:
    """`rows` were rejected, or skipped as duplicates, for the same reason.

    `code` is the server's error number as text, or a word of Millrace; `column` is "" if no single column is at fault.
    """

    code: str
    column: str
    reason: str
    rows: int


@dataclass(frozen=True)
class NoticeCount:
    """What the options allow was done for `values` of a column: they were stored rounded or without trailing spaces, or
    the table of a lookup got them as names."""

    code: str
    column: str
    reason: str
    values: int


@dataclass(frozen=True)
class Outcome:
    """The outcome of one chunk. `already`: an earlier attempt had committed it. Timings are seconds by phase.

    `reasons` count the rejected and the skipped rows by reason, the most frequent first.
    """

    rows: int
    already: bool
    timings: dict[str, float]
    tally: Tally
    reasons: tuple[ReasonCount, ...] = ()
    notices: tuple[NoticeCount, ...] = ()

    @property
    def summary(self) -> "RejectSummary":
        return RejectSummary(self.rows, self.tally, self.reasons, self.notices)


@dataclass(frozen=True)
class RejectSummary:
    """The part of an Outcome that the chunk's reject files keep: no timings, so that a retry writes the same bytes."""

    rows: int
    tally: Tally
    reasons: tuple[ReasonCount, ...] = ()
    notices: tuple[NoticeCount, ...] = ()

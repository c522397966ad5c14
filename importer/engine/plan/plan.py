"""What will be done and why: values, which the planner makes and everybody else follows."""

from dataclasses import dataclass, field
from functools import cached_property

from importer.engine.feed.hex_decoder import HexStatement
from importer.engine.feed.row_numbers import NUMBERS
from importer.engine.plan.readback import Readback
from importer.engine.sorting.sort_key import SortKey
from importer.engine.source.chunks.chunk_sizes import ChunkSizes
from importer.engine.target.staging import Staged
from importer.engine.target.temporary_changes import TemporaryChanges
from importer.engine.validation import ValidationRules


@dataclass(frozen=True)
class Reason:
    """One choice and why it was made; `holds_back` marks what keeps the load slower than it could be.

    `option` is the field of Options that it decides, "" where there is none: pages show the reason beside it.
    """

    choice: str
    why: str
    holds_back: bool = False
    option: str = ""


@dataclass(frozen=True)
class LoadStatements:
    """The method that loads the chunks, and its statements. Falling back to another method replaces all of it.

    `plain` loads any chunk. `null_word` loads chunks in which the word NULL occurs as a text; "" where the server
    stores it unchanged. `traced` is slower and names the rows that a message is about (load_data.into_table); it never
    contains REPLACE. `as_bytes` is faster: the server takes the characters as bytes. It loads chunks in which the scan
    found no error, if `as_bytes_ascii_only` of ASCII only; "" where it might store other values
    (planner/reasons/binary_charset.py). `unhexed` is much faster: hexadecimal digits are sent as bytes.
    `rows_per_statement` is None for the methods that send files. `pipe_folder` is the folder for the named pipes of
    LOAD DATA from a file on the server; "" for the other methods.
    """

    method: str
    plain: str
    null_word: str
    traced: str
    as_bytes: str = ""
    as_bytes_ascii_only: bool = False
    unhexed: HexStatement | None = None
    rows_per_statement: int | None = None
    pipe_folder: str = ""


@dataclass(frozen=True)
class ImportPlan:
    """How a file goes into a table: everything a worker needs besides the file and the address.

    `table` is what the chunks load into: the target's table, or where the mode stages, the job's staging table.
    """

    statements: LoadStatements
    schema: str
    table: str
    chunk_bytes: int
    parallelism: int
    # Table.digest as planned, of a staging table once it is made: a chunk is refused when the table has changed since.
    table_digest: str
    # The columns in the order of the file's fields; "" for a field that is left out.
    fields: tuple[str, ...]
    reasons: tuple[Reason, ...]
    # None where the checks are off (Options.checks).
    exactness: ValidationRules | None = None
    # Each chunk must be in before the next one starts: which of two rows with one key stays depends on it.
    ordered: bool = False
    # False: what a chunk has put into the staging table stays there (no_rollback.py).
    rolls_back: bool = True
    # What columns without a field get, besides texts: some of mapping.SOURCES.
    sources: tuple[str, ...] = ()
    # Where the mode stages: how the rows come from `table` into their own.
    staged: Staged | None = None
    # The most rows of a chunk, None for any number; the most bytes of the first one, 0 for as many as of the others; in
    # how many chunks at least what is left of the data is cut, 0 for any number.
    chunk_rows: int | None = None
    first_chunk_bytes: int = 0
    last_chunks: int = 0
    # The most bytes of chunks that may share a transaction (together.py); 0 where each has its own.
    transaction_bytes: int = 0
    # What is read back of each chunk, if all of it is to be compared with the file (Options.verify).
    readback: Readback | None = None
    # What the rows are sorted by, if the chunks are those of a sorted copy.
    sorted_by: SortKey | None = None
    # Variables of each loading session, besides connection.LOADER_SESSION or instead of what stands there.
    session: dict[str, int | str] = field(default_factory=dict)
    # Each chunk holds the table, and the ledger, alone (engine/load/table_lock.py).
    lock_table: bool = False
    # What is changed on the target for the time of the job, and put back.
    temporary_changes: TemporaryChanges | None = None
    # Table, server and the order of the file as they were when it was planned (planner/initial_conditions.py).
    seen: dict[str, int | float | str | bool] = field(default_factory=dict)

    @cached_property
    def numbers(self) -> tuple[str, ...]:
        """What the feed puts before each record: some of numbering.NUMBERS, in their order."""
        return tuple(name for name in NUMBERS if name in self.sources)

    @property
    def chunk_sizes(self) -> ChunkSizes:
        """How large the scan may make the chunks."""
        return ChunkSizes(self.chunk_bytes, self.chunk_rows, self.first_chunk_bytes, self.last_chunks)

    @property
    def final_table(self) -> str:
        """The table that the rows are for."""
        return self.staged.table if self.staged else self.table

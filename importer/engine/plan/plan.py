"""The plan of an import: the settings that the planner decided, with a reason for each."""

from dataclasses import dataclass, field, replace
from functools import cached_property

from importer.engine.feed.hex_decoder import HexStatement
from importer.engine.feed.row_numbers import NUMBERS
from importer.engine.mapping.columns import Lookup, NewParents
from importer.engine.plan.previous_imports import EarlierLoad
from importer.engine.plan.readback import Readback
from importer.engine.plan.server_file import ServerFile
from importer.engine.schema.new_table import NewColumn
from importer.engine.sorting.sort_key import SortKey
from importer.engine.source.chunks.chunk_sizes import ChunkSizes
from importer.engine.target.staging import Staged
from importer.engine.target.temporary_changes import TemporaryChanges
from importer.engine.validation import ValidationRules


@dataclass(frozen=True)
class Reason:
    """A choice and its reason. `holds_back` marks a choice that makes the load slower than it could be.

    `option` is the field of Options that the choice decides, "" for none: pages show the reason next to that option.
    """

    choice: str
    why: str
    holds_back: bool = False
    option: str = ""


@dataclass(frozen=True)
class LoadStatements:
    """The method that loads the chunks, and its statements. Falling back to another method replaces all of it.

    `plain` loads any chunk. `null_word` loads chunks in which the word NULL occurs as a text; "" where the server
    stores it unchanged. `no_markers` is faster: it compares no value of a column of numbers or times with NULL markers.
    It loads chunks in which the scan found none, and no error; "" where `plain` compares none. `traced` is slower and
    names the rows that a message is about (load_data.into_table); it never contains REPLACE. `as_bytes` is faster: the
    server takes the characters as bytes. It loads chunks as `no_markers` does, if `as_bytes_ascii_only` of ASCII only;
    "" where it might store other values (planner/reasons/binary_charset.py). `unhexed` is much faster: hexadecimal
    digits are sent as bytes. `rows_per_statement` is None for the methods that send files. `pipe_folder` is the folder
    for the named pipes of LOAD DATA from a file on the server; "" for the other methods. If the server reads
    `server_file` itself, the statements load all of it; `fed` has those that load rows which are sent, by another
    method.
    """

    method: str
    plain: str
    null_word: str
    traced: str
    no_markers: str = ""
    as_bytes: str = ""
    as_bytes_ascii_only: bool = False
    unhexed: HexStatement | None = None
    rows_per_statement: int | None = None
    pipe_folder: str = ""
    server_file: ServerFile | None = None
    fed: "LoadStatements | None" = None

    @property
    def feeding(self) -> "LoadStatements":
        """The statements that load rows which are sent."""
        return self.fed or self


@dataclass(frozen=True)
class ImportPlan:
    """Everything a worker needs to load the file, except the file and the address.

    `table` is the table that the chunks load into: the target, or the job's staging table if the mode stages.
    """

    statements: LoadStatements
    schema: str
    table: str
    chunk_bytes: int
    parallelism: int
    # Table.digest of `table` when the plan was made; of a staging table, when it was created. A chunk is refused if
    # the table has changed since.
    table_digest: str
    # The column of each field, in the file's order; "" for a field that is not loaded.
    fields: tuple[str, ...]
    reasons: tuple[Reason, ...]
    # The positions (from 0) of fields whose bytes are sent as hexadecimal digits (Dialect.raw_fields).
    raw_fields: tuple[int, ...] = ()
    # None in plans of versions whose imports could do without checks.
    exactness: ValidationRules | None = None
    # Whether chunks load one after another: the order decides which of two rows with one key stays.
    ordered: bool = False
    # How often the server counts a row that meets one with its key in Handler_update, which tells the rows that REPLACE
    # finds equal; 0 if it does not tell them (planner/decisions/unchanged_rows.py).
    updates_per_row: int = 0
    # False if rows of a failed chunk stay in the staging table (load/non_transactional.py).
    rolls_back: bool = True
    # The sources of generated columns, except constant texts: some of mapping.columns.SOURCES.
    sources: tuple[str, ...] = ()
    # What each loading session reads first (mapping/lookups.py).
    lookups: tuple[Lookup, ...] = ()
    # The texts for which parents get rows, before each chunk (load/rejects/new_parents.py).
    new_parents: tuple[NewParents, ...] = ()
    # If the mode stages: how the rows get from `table` into the target.
    staged: Staged | None = None
    # The most rows of a chunk, None for no limit; the most bytes of the first chunk, 0 for those of the others; the
    # fewest chunks into which the rest of the data is cut at any time, 0 for no limit.
    chunk_rows: int | None = None
    first_chunk_bytes: int = 0
    last_chunks: int = 0
    # The most bytes of chunks that share a transaction (load/shared_transaction.py); 0 if each has its own.
    transaction_bytes: int = 0
    # The columns that are read back and compared with the file (Options.verify); None for none.
    readback: Readback | None = None
    # If rows that the table has already are left out of the staging table: the columns by which they are found equal
    # (load/readback/equal_rows.py).
    left_out_by: Readback | None = None
    # The sort key of the copy from which chunks are cut; None for the file itself.
    sorted_by: SortKey | None = None
    # Variables of each loading session, in addition to connection.LOADER_SESSION or instead of its values.
    session: dict[str, int | str] = field(default_factory=dict)
    # Whether each chunk locks the table and the ledger (load/loader.py).
    lock_table: bool = False
    # Changes on the target for the duration of the job, which are then undone.
    temporary_changes: TemporaryChanges | None = None
    # Columns that the table gets before the first chunk. They stay, however the import ends.
    added_columns: tuple[NewColumn, ...] = ()
    # The import that had loaded the same content into the table when the plan was made.
    loaded_before: EarlierLoad | None = None
    # Facts of table, server and file when the plan was made (planner/initial_conditions.py).
    seen: dict[str, int | float | str | bool] = field(default_factory=dict)
    # Server.identity when the first plan of the import was made.
    server: str = ""
    # Of a new plan for the rest of an import: whether the table had no rows when its first attempt began.
    continues_empty: bool = False

    @property
    def fills_empty_table(self) -> bool:
        """Whether the table had no rows when the import began: a staging table, a new one, or an empty one."""
        return self.staged is not None or self.continues_empty or self.seen.get("rows_before") == 0

    @cached_property
    def numbers(self) -> tuple[str, ...]:
        """The numbers that the feed puts before each record: some of feed.row_numbers.NUMBERS, in their order."""
        return tuple(name for name in NUMBERS if name in self.sources)

    @property
    def chunk_sizes(self) -> ChunkSizes:
        """The limits of the scan for chunks."""
        return ChunkSizes(self.chunk_bytes, self.chunk_rows, self.first_chunk_bytes, self.last_chunks)

    @property
    def target_digest(self) -> str:
        """Table.digest of the table that has the rows in the end, when the plan was made; "" if it did not exist."""
        return self.staged.table_digest if self.staged else self.table_digest

    def for_target(self, digest: str) -> "ImportPlan":
        """The plan for the table that has the rows in the end with this Table.digest."""
        if self.staged:
            return replace(self, staged=replace(self.staged, table_digest=digest))
        return replace(self, table_digest=digest)

    @property
    def final_table(self) -> str:
        """The table that has the rows in the end."""
        return self.staged.table if self.staged else self.table

    def with_chunks_of(self, before: "ImportPlan") -> "ImportPlan":
        """This plan with the chunks of the plan before, which are cut already, and with its reasons for them."""
        same = {"parallelism": self.parallelism == before.parallelism, "sort": self.sorted_by == before.sorted_by}
        kept = {"chunk_bytes", "commit_rows", *(name for name, is_same in same.items() if is_same)}
        reasons = {each.option: each for each in before.reasons if each.option in kept}
        return replace(
            self,
            chunk_bytes=before.chunk_bytes,
            chunk_rows=before.chunk_rows,
            first_chunk_bytes=before.first_chunk_bytes,
            last_chunks=before.last_chunks,
            reasons=tuple(reasons.get(each.option, each) for each in self.reasons),
            seen=before.seen or self.seen,
        )

"""The registry of facts that are stored of every import. Each fact is one line here and a column of the history.

A new fact needs its line and a source: importer.history.collect for facts of the job, the engine's
planner/initial_conditions.py for the state before the import. Older records lack a new fact and stay readable: a
missing fact is unknown, and only the condition "= unknown" holds for it.
"""

import difflib
from collections.abc import Collection
from dataclasses import dataclass
from enum import Enum

from importer.engine.errors import Problem
from importer.engine.mysql.variables.global_variables import SERVER_VARIABLES
from importer.engine.mysql.variables.session_variables import SESSION_VARIABLES
from importer.engine.mysql.variables.variable import Variable
from importer.engine.plan.option_kinds import Group as OptionGroup
from importer.engine.plan.option_specs import OPTIONS, SPEED

Value = int | float | str | bool


class Kind(Enum):
    """The type and unit of a fact's values. Moments are seconds since 1970, shares from 0 to 1."""

    WORD = "word"
    TEXT = "text"
    SWITCH = "switch"
    NUMBER = "number"
    BYTES = "bytes"
    SECONDS = "seconds"
    MILLISECONDS = "milliseconds"
    ROWS_PER_SECOND = "rows per second"
    BYTES_PER_SECOND = "bytes per second"
    SHARE = "share"
    MOMENT = "moment"

    @property
    def is_number(self) -> bool:
        """Whether the values are stored as numbers and can be drawn along an axis."""
        return self not in (Kind.WORD, Kind.TEXT)


class Group(Enum):
    """The subject of a fact; the value is the heading on pages."""

    JOB = "The import"
    FILE = "The file"
    TABLE = "The table before"
    SERVER = "The server"
    REQUESTED = "Requested options"
    CHOSEN = "How it was loaded"
    RESULT = "What became of the rows"
    TIMING = "How long it took"
    CHUNKS = "Its chunks"
    LIKE = "Compared with similar imports"


@dataclass(frozen=True)
class Fact:
    """A fact with its `name` and its `title` in words. `option`: the field of Options that it describes, or ""."""

    name: str
    title: str
    kind: Kind
    group: Group
    option: str = ""


def _of(group: Group, *facts: tuple[str, str, Kind] | tuple[str, str, Kind, str]) -> tuple[Fact, ...]:
    return tuple(Fact(name, title, kind, group, *option) for name, title, kind, *option in facts)


def _variable(variable: Variable) -> Kind:
    return Kind.WORD if variable.choices and not variable.choices[0].isdigit() else Kind.NUMBER


JOB = _of(
    Group.JOB,
    ("job", "Import", Kind.NUMBER),
    ("ended", "Ended", Kind.MOMENT),
    ("started", "Started", Kind.MOMENT),
    ("status", "Status", Kind.WORD),
    ("problem", "Problem", Kind.WORD),
    ("attempts", "Attempts", Kind.NUMBER),
    ("pauses", "Times paused", Kind.NUMBER),
    ("followed_upload", "Began during its upload", Kind.SWITCH),
    ("idle_seconds", "Without a worker while loading", Kind.SECONDS),
    ("target", "Target", Kind.WORD),
    ("table", "Table", Kind.WORD),
    ("table_name", "Table without its schema", Kind.WORD),
    ("schedule", "Schedule", Kind.WORD),
    # The version that writes the record.
    ("software", "Millrace", Kind.WORD),
    # "any" or "newer" by its build, "none" without it.
    ("native", "C library", Kind.WORD),
    # Digests: equal if all chosen settings, or all facts of the server, are equal.
    ("settings_digest", "Settings, as one", Kind.WORD),
    ("server_digest", "Server, as one", Kind.WORD),
)
FILE = _of(
    Group.FILE,
    ("file", "File", Kind.TEXT),
    ("file_bytes", "File size", Kind.BYTES),
    ("data_bytes", "Size of the rows", Kind.BYTES),
    ("rows", "Rows in the file", Kind.NUMBER),
    ("row_bytes", "Mean row", Kind.BYTES),
    ("fields", "Fields", Kind.NUMBER),
    ("loaded_columns", "Columns loaded", Kind.NUMBER),
    ("packing", "Packing", Kind.WORD),
    ("encoding", "Encoding", Kind.WORD),
    ("delimiter", "Delimiter", Kind.WORD),
    ("line_end", "Line end", Kind.WORD),
    ("key_order", "Order of the keys", Kind.WORD),
    ("key_ascending", "Keys in order", Kind.SHARE),
    ("key_spread", "Spread of neighbouring keys", Kind.SHARE),
)
TABLE = _of(
    Group.TABLE,
    ("table_engine", "Engine", Kind.WORD),
    ("table_columns", "Columns", Kind.NUMBER),
    ("table_partitioned", "Partitioned", Kind.SWITCH),
    ("rows_before", "Rows before", Kind.NUMBER),
    ("table_bytes_before", "Size before", Kind.BYTES),
    ("index_bytes_before", "Size of the indexes before", Kind.BYTES),
    ("primary_key", "Primary key", Kind.TEXT),
    ("primary_key_type", "Type of the primary key", Kind.WORD),
    ("auto_increment", "AUTO_INCREMENT", Kind.SWITCH),
    ("unique_keys", "Unique keys except the primary key", Kind.NUMBER),
    ("secondary_keys", "Other keys", Kind.NUMBER),
    ("fulltext_keys", "FULLTEXT keys", Kind.NUMBER),
    ("spatial_keys", "SPATIAL keys", Kind.NUMBER),
    ("table_foreign_keys", "Foreign keys of the table", Kind.NUMBER),
    ("table_referenced", "Foreign keys to the table", Kind.NUMBER),
    ("insert_triggers", "Triggers on INSERT", Kind.NUMBER),
)
SERVER = _of(
    Group.SERVER,
    ("flavour", "Server", Kind.WORD),
    ("server_release", "Release", Kind.WORD),
    ("server_version", "Version", Kind.WORD),
    ("server_local", "On this machine", Kind.SWITCH),
    ("server_cores", "Processors", Kind.NUMBER),
    ("server_replica", "Replica", Kind.SWITCH),
    ("server_redo_bytes", "Redo log", Kind.BYTES),
    ("tls", "TLS", Kind.WORD),
    ("round_trip_ms", "Round trip", Kind.MILLISECONDS),
    ("line_bytes_per_second", "Line, one session", Kind.BYTES_PER_SECOND),
    ("server_binlog_cache_size", "binlog_cache_size", Kind.BYTES),
    ("server_binlog_format", "binlog_format", Kind.WORD),
    ("server_binlog_row_image", "binlog_row_image", Kind.WORD),
    ("server_innodb_adaptive_hash_index", "innodb_adaptive_hash_index", Kind.SWITCH),
    ("server_innodb_autoinc_lock_mode", "innodb_autoinc_lock_mode", Kind.NUMBER),
    ("server_innodb_buffer_pool_size", "innodb_buffer_pool_size", Kind.BYTES),
    ("server_innodb_change_buffering", "innodb_change_buffering", Kind.WORD),
    ("server_innodb_ddl_buffer_size", "innodb_ddl_buffer_size", Kind.BYTES),
    ("server_innodb_ddl_threads", "innodb_ddl_threads", Kind.NUMBER),
    # MySQL also knows DETECT_ONLY and DETECT_AND_RECOVER.
    ("server_innodb_doublewrite", "innodb_doublewrite", Kind.WORD),
    ("server_innodb_flush_log_at_trx_commit", "innodb_flush_log_at_trx_commit", Kind.NUMBER),
    ("server_innodb_flush_method", "innodb_flush_method", Kind.WORD),
    ("server_innodb_io_capacity", "innodb_io_capacity", Kind.NUMBER),
    ("server_innodb_io_capacity_max", "innodb_io_capacity_max", Kind.NUMBER),
    ("server_innodb_log_buffer_size", "innodb_log_buffer_size", Kind.BYTES),
    ("server_innodb_max_dirty_pages_pct", "innodb_max_dirty_pages_pct", Kind.NUMBER),
    ("server_innodb_page_size", "innodb_page_size", Kind.BYTES),
    ("server_innodb_sort_buffer_size", "innodb_sort_buffer_size", Kind.BYTES),
    ("server_innodb_write_io_threads", "innodb_write_io_threads", Kind.NUMBER),
    ("server_log_bin", "log_bin", Kind.SWITCH),
    ("server_max_allowed_packet", "max_allowed_packet", Kind.BYTES),
    ("server_max_connections", "max_connections", Kind.NUMBER),
    ("server_performance_schema", "performance_schema", Kind.SWITCH),
    ("server_sync_binlog", "sync_binlog", Kind.NUMBER),
    ("server_version_compile_machine", "Machine", Kind.WORD),
    ("server_version_compile_os", "Operating system", Kind.WORD),
    ("server_wsrep_on", "Galera (wsrep_on)", Kind.SWITCH),
)
# Requested options. The name of an option that also has a planned value begins with "asked_" (stored; do not change).
REQUESTED = _of(
    Group.REQUESTED,
    *(
        (each.name, each.label, Kind(each.kind.fact), each.name)
        for each in OPTIONS
        if each.group is not OptionGroup.SPEED
    ),
    *(
        (f"asked_{each.name}", f"{each.label.removesuffix(', MiB')}, requested", Kind(each.kind.fact), each.name)
        for each in SPEED
    ),
)
CHOSEN = _of(
    Group.CHOSEN,
    *((each.name, each.label.removesuffix(", MiB"), Kind(each.kind.fact), each.name) for each in SPEED),
    ("planned_parallelism", "Parallel chunks, as planned", Kind.NUMBER),
    ("deferred_indexes", "Indexes deferred", Kind.NUMBER),
    ("deferred_foreign_keys", "Foreign keys deferred", Kind.NUMBER),
    ("sorted_by", "Sorted by", Kind.TEXT),
    ("first_chunk_bytes", "First chunk", Kind.BYTES),
    ("last_chunks", "Fewest chunks of the rest", Kind.NUMBER),
    ("transaction_bytes", "Chunks in one transaction, up to", Kind.BYTES),
    ("ordered", "One chunk after another", Kind.SWITCH),
    ("rolls_back", "Can roll back", Kind.SWITCH),
    ("staged", "Loaded into a staging table", Kind.SWITCH),
    ("as_bytes", "Characters taken as they are", Kind.SWITCH),
    ("unhexed", "Hexadecimal sent as bytes", Kind.SWITCH),
    ("rewritten", "Records rewritten", Kind.SWITCH),
    ("transcoded", "Transcoded on the way", Kind.SWITCH),
    ("copied", "From a copy of the file", Kind.SWITCH),
    ("held_back", "Reasons that hold it back", Kind.NUMBER),
    *((f"session_{each.name}", f"{each.name}, session", _variable(each)) for each in SESSION_VARIABLES.values()),
    *((f"set_{each.name}", f"{each.name}, during the import", _variable(each)) for each in SERVER_VARIABLES.values()),
)
RESULT = _of(
    Group.RESULT,
    ("loaded_rows", "Rows loaded", Kind.NUMBER),
    ("replaced_rows", "Rows replaced", Kind.NUMBER),
    ("unchanged_rows", "Rows unchanged", Kind.NUMBER),
    ("skipped_rows", "Rows skipped", Kind.NUMBER),
    ("rejected_rows", "Rows rejected", Kind.NUMBER),
    ("deleted_rows", "Rows deleted from the table", Kind.NUMBER),
    ("marked_rows", "Rows marked as missing", Kind.NUMBER),
    ("skipped_lines", "Lines that are not data", Kind.NUMBER),
    ("balanced", "Balanced", Kind.SWITCH),
    ("restored", "Taken back", Kind.SWITCH),
    ("notices", "Values changed, or names added", Kind.NUMBER),
    ("reject_reasons", "Reasons for rejects", Kind.NUMBER),
)
TIMING = _of(
    Group.TIMING,
    ("rows_per_second", "Rows a second", Kind.ROWS_PER_SECOND),
    ("bytes_per_second", "Bytes a second", Kind.BYTES_PER_SECOND),
    ("overall_rows_per_second", "Rows a second overall", Kind.ROWS_PER_SECOND),
    ("total_seconds", "Total", Kind.SECONDS),
    ("waiting_seconds", "Waiting", Kind.SECONDS),
    ("lock_seconds", "Waiting for locks", Kind.SECONDS),
    ("scan_seconds", "Scan", Kind.SECONDS),
    ("load_seconds", "Load", Kind.SECONDS),
    ("index_seconds", "Indexes", Kind.SECONDS),
    ("verify_seconds", "Verification", Kind.SECONDS),
)
# Sums over all chunks, which can exceed the duration of the load. The names after "phase_" are those of Chunk.timings,
# except "wait", the time of sessions without a chunk.
PHASES = _of(
    Group.CHUNKS,
    ("phase_wait", "Sessions without a chunk", Kind.SECONDS),
    ("phase_connect", "Connect and read the server's state", Kind.SECONDS),
    ("phase_ledger", "Ledger", Kind.SECONDS),
    ("phase_review", "Review of doubtful rows", Kind.SECONDS),
    ("phase_load", "Send and load", Kind.SECONDS),
    ("phase_verify", "Read back", Kind.SECONDS),
    ("phase_commit", "Commit", Kind.SECONDS),
)
CHUNKS = _of(
    Group.CHUNKS,
    ("chunks", "Chunks", Kind.NUMBER),
    ("chunk_median_seconds", "Median chunk", Kind.SECONDS),
    ("chunk_longest_seconds", "Longest chunk", Kind.SECONDS),
    ("retries", "Chunks tried again", Kind.NUMBER),
    ("deaths", "Workers lost", Kind.NUMBER),
)
# From importer.history.regressions; unknown if the import had too few peers.
LIKE = _of(
    Group.LIKE,
    ("slower_than_like", "Slower than similar imports", Kind.SWITCH),
    ("like_imports", "Imports like it before", Kind.NUMBER),
    ("like_rows_per_second", "Median of similar imports", Kind.ROWS_PER_SECOND),
)

FACTS: dict[str, Fact] = {
    fact.name: fact
    for fact in (*JOB, *FILE, *TABLE, *SERVER, *REQUESTED, *CHOSEN, *RESULT, *TIMING, *PHASES, *CHUNKS, *LIKE)
}
# Facts that say again what another fact says, or follow from it.
_SHADOWS = {
    "planned_parallelism": "parallelism",
    "ordered": "parallelism",
    "deferred_indexes": "indexes",
    "deferred_foreign_keys": "foreign_keys",
    "data_bytes": "file_bytes",
}
# The settings and the timings of a comparison.
SETTINGS = (*CHOSEN, *REQUESTED)
TIMINGS = (*TIMING, *PHASES, *CHUNKS)


def is_shadow(about: Fact, differing: Collection[Fact]) -> bool:
    """Whether the fact only follows from another one that differs, which causes it."""
    return about.name in _SHADOWS and FACTS[_SHADOWS[about.name]] in differing


def fact(name: str) -> Fact:
    """Return the fact of that name. Raises Problem with similar names if there is none."""
    if known := FACTS.get(name):
        return known
    near = difflib.get_close_matches(name, FACTS)
    hint = f"Did you mean {', '.join(near)}?" if near else "`millrace history --facts` lists them."
    raise Problem(f"There is no fact {name!r}.", advice=hint)

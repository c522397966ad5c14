"""Decides when two plans are the same: when they do the same with a file, though their settings differ.

A chunk size of 16 MiB is one of 32 MiB if both give the same chunks, and eight sessions are one if there is one
chunk. A lab tries only one of such plans, because runs of them differ by chance alone.
"""

import json
from collections.abc import Iterator, Sequence
from hashlib import sha256

from importer.engine.load.shared_transaction import group_size
from importer.engine.mysql.quoting import quote_name
from importer.engine.plan.plan import ImportPlan
from importer.engine.plan.stored_plan import plan_to_json
from importer.engine.source.chunks.chunk_sizes import ChunkSizes
from importer.engine.source.chunks.scanner import ChunkRange

# Keys of a stored plan that are replaced by their effect, or that say nothing about the load: the chunks and
# transactions stand for the sizes, the sessions that have a chunk for the parallelism.
EXPLAINED = (
    "chunk_bytes",
    "chunk_rows",
    "first_chunk_bytes",
    "last_chunks",
    "transaction_bytes",
    "parallelism",
    "rows_per_statement",
    "table",
    "table_digest",
    "reasons",
    "seen",
)
# More chunks than any transaction has.
_LONGEST_GROUP = 4096


def effective_key(plan: ImportPlan, chunks: Sequence[ChunkRange], partitions: object = None) -> str:
    """A digest that is equal for two plans of one file into tables that are alike, if they do the same.

    `chunks` are those of the plan; `partitions` is the number of hash partitions that the table gets, None for its own.
    """
    values = {name: value for name, value in plan_to_json(plan).items() if name not in EXPLAINED}
    largest = max((each.rows for each in chunks), default=0)
    each = plan.statements.rows_per_statement
    values["effect"] = {
        "transactions": list(_transactions(plan, chunks)),
        "sessions": min(plan.parallelism, len(chunks)),
        "rows": each and min(each, largest),
        "partitions": partitions,
    }
    text = json.dumps(values, sort_keys=True, default=str)
    return sha256(_without_name(text, plan.table).encode()).hexdigest()[:16]


def expected_chunks(sizes: ChunkSizes, data_bytes: int, record_bytes: float) -> list[ChunkRange]:
    """The chunks of `data_bytes` bytes if each record has the mean `record_bytes`: known before a scan."""
    record = max(1.0, record_bytes)
    done, left = 0, max(1, round(data_bytes / record))
    chunks: list[ChunkRange] = []
    while left:
        most = int(sizes.most_bytes(len(chunks), int(left * record)) / record)
        rows = min(left, max(1, most), sizes.rows or left)
        chunks.append(ChunkRange(len(chunks), int(done * record), int(rows * record), rows, 0, ""))
        done, left = done + rows, left - rows
    return chunks


def _transactions(plan: ImportPlan, chunks: Sequence[ChunkRange]) -> Iterator[list[int]]:
    """The lengths of the chunks of each transaction, in bytes."""
    at = 0
    while at < len(chunks):
        size = max(1, group_size(plan, chunks[at : at + _LONGEST_GROUP])) if plan.transaction_bytes else 1
        yield [each.length for each in chunks[at : at + size]]
        at += size


def _without_name(text: str, table: str) -> str:
    """The text without the table's name, which the names of its foreign keys begin with, too."""
    return text.replace(quote_name(table)[:-1], "`").replace(json.dumps(table), '""')

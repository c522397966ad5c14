"""Finds the parts of a chunk whose rows the table stores exactly, by comparing digests of file and table."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain

from importer.engine.feed.chunk_rows import ChunkRows
from importer.engine.load.readback import expected_rows
from importer.engine.load.readback.digest_sql import StoredDigests
from importer.engine.load.readback.expected_rows import Texts
from importer.engine.load.readback.file_digests import PADDING, Digest, FileDigests
from importer.engine.mysql.connection import Connection
from importer.engine.plan.readback import Readback
from importer.engine.source import encodings
from importer.engine.source.arrays import Offsets
from importer.engine.source.dialect import Dialect
from importer.engine.units import MIB

# Bytes of a part. If the digests of a part differ, all of its rows are read back.
PART = 2 * MIB
# Rows whose keys are listed in one statement.
KEYS_AT_ONCE = 1000


@dataclass
class DigestComparison:
    """The rows of a chunk that were sent, part by part. `equal`: the parts [low, high) that were found equal so far.

    `of_file` is None if the file's digests cannot be computed: then no part is equal.
    """

    dialect: Dialect
    rows: ChunkRows
    of_file: FileDigests | None
    of_table: StoredDigests
    equal: list[tuple[int, int]] = field(default_factory=list)

    @classmethod
    def of(
        cls, connection: Connection, readback: Readback, dialect: Dialect, rows: ChunkRows, fields: int
    ) -> "DigestComparison":
        """The comparison for a file with this number of `fields`."""
        of_file = FileDigests.of(readback, replace(dialect, encoding=encodings.UTF8), fields)
        of_table = StoredDigests(connection, readback, of_file.forms if of_file else ())
        return cls(dialect, rows, of_file, of_table)

    def differing_rows(self) -> Iterator[int]:
        """The rows of the parts that differ or that have no digest, ascending; the other parts become `equal`."""
        if self.of_table.readback.numbered_by:
            parts: Iterable[tuple[int, int]] = [(0, len(self.rows))] if len(self.rows) else []
        else:
            parts = self.rows.parts(PART)
        for low, high in parts:
            sent = self.rows.sent(low, high)
            if not len(sent):
                continue
            if self._is_equal(low, high, sent):
                self.equal.append((low, high))
            else:
                yield from sent.tolist()

    def equal_rows(self) -> Iterator[int]:
        """The rows of the equal parts, ascending."""
        return chain.from_iterable(self.rows.sent(low, high).tolist() for low, high in self.equal)

    def _is_equal(self, low: int, high: int, sent: Offsets) -> bool:
        """Whether file and table have the same digest of the sent rows in [low, high)."""
        if self.of_table.readback.numbered_by:
            of_chunk = self._of_chunk()
            if not of_chunk:
                return False
            return of_chunk.digest == self._of_table(of_chunk).of_new_rows(of_chunk.digest.rows)
        of_file = self._of_file(low, high)
        if not of_file or of_file.digest.rows != len(sent):
            return False
        of_table = self._of_table(of_file)
        in_range = of_table.of_range(self._texts(sent[0]), self._texts(sent[-1]), len(sent))
        if in_range and in_range.rows == of_file.digest.rows:
            return in_range == of_file.digest
        return self._by_keys(of_table, sent) == of_file.digest

    def _of_table(self, of_file: "_OfFile") -> StoredDigests:
        return replace(self.of_table, ascii_only=of_file.ascii_only)

    def _by_keys(self, of_table: StoredDigests, sent: Offsets) -> Digest:
        portions = (sent[low : low + KEYS_AT_ONCE] for low in range(0, len(sent), KEYS_AT_ONCE))
        return _sum([of_table.of_keys([self._texts(row) for row in each]) for each in portions])

    def _texts(self, row: int) -> Texts:
        return expected_rows.texts(self.rows.record(int(row)), self.dialect)

    def _of_chunk(self) -> "_OfFile | None":
        parts = [self._of_file(low, high) for low, high in self.rows.parts(PART)]
        known = [each for each in parts if each]
        if len(known) < len(parts):
            return None
        return _OfFile(_sum([each.digest for each in known]), all(each.ascii_only for each in known))

    def _of_file(self, low: int, high: int) -> "_OfFile | None":
        if not self.of_file or self.rows.span(low, high)[1] > 2 * PART:
            return None
        data = self.rows.sent_bytes(low, high)
        # Bytes of another encoding would differ on the server, or be refused.
        with suppress(UnicodeDecodeError):
            data = encodings.to_utf8(data, self.dialect.encoding)
            digest = self.of_file.digest(data + PADDING, len(data))
            return _OfFile(digest, data.isascii()) if digest else None
        return None


@dataclass(frozen=True)
class _OfFile:
    """The digest of a part of the file, and whether it has only ASCII characters."""

    digest: Digest
    ascii_only: bool


def _sum(digests: Sequence[Digest]) -> Digest:
    return Digest(sum(each.rows for each in digests), sum(each.sum for each in digests))

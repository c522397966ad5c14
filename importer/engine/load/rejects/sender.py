"""Sends a chunk's rows to the server: all of them or a range, without those that are left out."""

import dataclasses
from collections.abc import Collection
from functools import cached_property

from importer.engine import failpoints
from importer.engine.errors import SourceChanged
from importer.engine.feed.chunk_rows import ChunkRows
from importer.engine.feed.feed import FeedTransform, SourceBytes, open_feed, skip_ranges, terminate_last_record
from importer.engine.feed.hex_decoder import decode_hex
from importer.engine.feed.rewriter import in_pieces, passes_in_pieces, rewritten
from importer.engine.feed.row_numbers import numbered
from importer.engine.load.chunk_session import ChunkSession
from importer.engine.load.methods import Report, registry
from importer.engine.load.methods.equal_rows import counting_equal_rows
from importer.engine.source import encodings
from importer.engine.source.arrays import Offsets
from importer.engine.source.byte_source import read_at, size_of
from importer.engine.source.chunks.scanner import ChunkRange
from importer.engine.source.dialect import Dialect
from importer.engine.source.records.large_values import OVERSIZED_BYTES


class Sender:
    """Sends the rows of the session's chunk by the plan's method. Rows are numbered within the chunk, from 0.

    A statement that takes bytes for hexadecimal digits (LoadStatements.unhexed) is sent with its digits
    decoded: that may raise NotHexadecimal.
    """

    def __init__(self, session: ChunkSession) -> None:
        plan, source = session.plan, session.source
        self._connection, self._on_sent = session.connection, session.on_sent
        self._source, self._fd, self._chunk, self._dialect = source, source.fd, source.chunk, source.dialect
        by_file = registry.by_file(plan, source.dialect)
        self._method = counting_equal_rows(registry.for_plan(plan, source.dialect), session.updates_per_row)
        self._by_file = by_file and counting_equal_rows(by_file, session.updates_per_row)
        self._statements = session.chunk_load.statements
        self._numbers, self._unhexed = plan.numbers, session.chunk_load.unhexes
        self._left_out = False

    @cached_property
    def rows(self) -> ChunkRows:
        """Where the rows are in the file. Takes a pass through the chunk, at the first access."""
        return ChunkRows(self._source)

    def leave_out(self, rows: "Collection[int] | Offsets", *, blank_lines: bool = False) -> None:
        """Do not send these rows. `blank_lines`: the chunk has lines that are not rows, which are not sent either."""
        if len(rows):
            self.rows.leave_out(rows)
        self._left_out |= bool(len(rows)) or blank_lines

    def count(self, low: int, high: int) -> int:
        """How many of the rows in [low, high) are sent."""
        return self.rows.count(low, high) if self._left_out else high - low

    def sent(self, low: int, high: int) -> "Offsets | range":
        """The numbers of the rows in [low, high) that are sent, ascending; a range or a one-dimensional array."""
        return self.rows.sent(low, high) if self._left_out else range(low, high)

    def send_all(self, statement: str) -> Report:
        """Load the whole chunk. Raises SourceChanged if its bytes are not those that were scanned."""
        chunk = self._chunk
        transforms = self._transforms(chunk, statement)
        feed = open_feed(
            self._fd, chunk.offset, chunk.length, steps=transforms, on_sent=self._on_sent, parts=chunk.parts
        )
        if self._by_file and statement == self._statements.plain and self._reads_itself(transforms):
            report = self._by_file(self._connection, self._statements.whole, feed)
        else:
            report = self._method(self._connection, statement, feed)
        failpoints.reach("chunk.sent")
        self._require_digest(feed.digest)
        return report

    @property
    def reads_file(self) -> bool:
        """Whether send_all() lets the server read the file itself."""
        return bool(self._by_file) and self._reads_itself(self._transforms(self._chunk, self._statements.plain))

    def _reads_itself(self, transforms: Collection[FeedTransform]) -> bool:
        """Whether the chunk is all that the file has below its skipped lines, and would be sent as it is."""
        return not transforms and self._chunk.first_row == 1 and self._chunk.end == size_of(self._fd)

    def send(self, statement: str, low: int, high: int) -> Report:
        """Load the rows in [low, high). Cheap only if `low` never decreases from call to call."""
        piece = self._piece(low, high)
        transforms = self._transforms(piece, statement)
        before = piece.offset - self._chunk.offset
        feed = open_feed(
            self._fd, piece.offset, piece.length, steps=transforms, on_sent=lambda sent: self._on_sent(before + sent)
        )
        return self._method(self._connection, statement, feed)

    def check_source(self) -> None:
        """Raise SourceChanged if the chunk's bytes are not those that were scanned."""
        source = SourceBytes(self._fd, self._chunk.offset, self._chunk.length)
        for _ in source:
            pass
        self._require_digest(source.digest)

    def _piece(self, low: int, high: int) -> ChunkRange:
        offset, length = self.rows.span(low, high)
        line = self.rows.line(low) if self._numbers else 0
        return dataclasses.replace(
            self._chunk, offset=offset, length=length, first_row=self._chunk.first_row + low, first_line=line
        )

    def _transforms(self, piece: ChunkRange, statement: str) -> tuple[FeedTransform, ...]:
        gaps = self.rows.gaps(piece.offset, piece.length) if self._left_out else None
        transforms: list[FeedTransform] = []
        # First the transforms that know the records by their offsets in the file.
        if self._numbers:
            transforms.append(
                numbered(piece, self._dialect, self._numbers, () if gaps is None else gaps, self._source.places)
            )
        elif gaps is not None and len(gaps):
            transforms.append(skip_ranges(gaps, piece.offset))
        if self._dialect.rewriting:
            transforms.append(in_pieces if self._passes_in_pieces(piece) else rewritten(self._numbered_dialect))
        if self._unhexed and statement == self._unhexed.statement:
            transforms.append(decode_hex(self._unhexed, self._dialect))
        if self._ends_in_delimiter(piece):
            transforms.append(terminate_last_record(self._dialect))
        return (*transforms, *encodings.feed_steps(self._dialect.encoding))

    @property
    def _numbered_dialect(self) -> Dialect:
        """The dialect of the records with the numbers before them."""
        raw = (number + len(self._numbers) for number in self._dialect.raw_fields)
        return dataclasses.replace(self._dialect, raw_fields=tuple(raw)) if self._numbers else self._dialect

    def _passes_in_pieces(self, piece: ChunkRange) -> bool:
        """Whether the piece is one large record that can be rewritten without the whole of it in memory."""
        if self._chunk.rows != 1 or piece.length <= OVERSIZED_BYTES or self._numbers or self._left_out:
            return False
        return passes_in_pieces(SourceBytes(self._fd, piece.offset, piece.length), self._dialect)

    def _ends_in_delimiter(self, piece: ChunkRange) -> bool:
        delimiter = self._dialect.delimiter_bytes
        if piece.length < len(delimiter):
            return False
        return read_at(self._fd, len(delimiter), piece.offset + piece.length - len(delimiter)) == delimiter

    def _require_digest(self, digest: str) -> None:
        chunk = self._chunk
        if digest != chunk.digest:
            raise SourceChanged(
                f"The file has changed: the bytes from {chunk.offset:,} to {chunk.offset + chunk.length:,} are not"
                " those that were scanned.",
                where=str(self._source.path),
                advice="Leave the file alone while it loads; import it again as a new file.",
            )

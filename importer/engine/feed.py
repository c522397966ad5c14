"""One chunk's bytes for the server: a byte range of the source, read as the server asks for it."""

import ctypes
import os
from collections.abc import Callable

import xxhash

from importer.engine.errors import SourceChanged

# The client library asks for 4,096 bytes a call (facts.md); reading ahead saves a system call for each.
BLOCK = 256 * 1024


class ByteRange:
    """The bytes [offset, offset + length) of an open file, once, in order.

    Counts and digests what it hands out. `on_sent` is told the bytes sent so far, once for each block.
    """

    def __init__(self, fd: int, offset: int, length: int, on_sent: Callable[[int], None] | None = None) -> None:
        self.sent = 0
        self._fd = fd
        self._next = offset
        self._end = offset + length
        self._on_sent = on_sent
        self._block = b""
        self._position = 0
        self._digest = xxhash.xxh3_64()

    @property
    def digest(self) -> str:
        """xxh3-64 of the bytes handed out so far, hexadecimal."""
        return self._digest.hexdigest()

    def read_into(self, address: int, size: int) -> int:
        """Copy the next bytes, at most `size`, to memory at `address`; how many, 0 at the end.

        Raises SourceChanged if the file is shorter than it was: an end of data always looks like success to the
        server (facts.md, The local-infile callback), so it must not look like one to us.
        """
        if self._position == len(self._block) and not self._read_block():
            return 0
        count = min(size, len(self._block) - self._position)
        ctypes.memmove(address, self._block[self._position : self._position + count], count)
        self._position += count
        self.sent += count
        return count

    def _read_block(self) -> bool:
        if self._on_sent:
            self._on_sent(self.sent)
        wanted = min(BLOCK, self._end - self._next)
        if not wanted:
            return False
        self._block = os.pread(self._fd, wanted, self._next)
        if not self._block:
            raise SourceChanged(
                f"The file ends at byte {self._next:,} but the scan saw more.",
                advice="Leave the file alone while it loads; import it again as a new file.",
            )
        self._position = 0
        self._next += len(self._block)
        self._digest.update(self._block)
        return True

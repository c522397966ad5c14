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
        self._fd = fd
        self._start = self._next = offset
        self._end = offset + length
        self._on_sent = on_sent
        self._block = bytearray(min(BLOCK, length))
        self._address = ctypes.addressof(ctypes.c_char.from_buffer(self._block)) if length else 0
        self._position = self._filled = 0
        self._digest = xxhash.xxh3_64()

    @property
    def sent(self) -> int:
        """Bytes handed out so far."""
        return self._next - self._start - (self._filled - self._position)

    @property
    def digest(self) -> str:
        """xxh3-64 of the bytes read so far, hexadecimal."""
        return self._digest.hexdigest()

    def read_into(self, address: int, size: int) -> int:
        """Copy the next bytes, at most `size`, to memory at `address`; how many, 0 at the end.

        Raises SourceChanged if the file is shorter than it was: an end of data always looks like success to the
        server (facts.md, The local-infile callback), so it must not look like one to us.
        """
        # Called some 250 times for each MB: every operation here shows in the processor time of a load.
        position = self._position
        count = self._filled - position
        if not count:
            if not self._read_block():
                return 0
            position, count = 0, self._filled
        if count > size:
            count = size
        ctypes.memmove(address, self._address + position, count)
        self._position = position + count
        return count

    def _read_block(self) -> bool:
        if self._on_sent:
            self._on_sent(self._next - self._start)
        wanted = min(BLOCK, self._end - self._next)
        if not wanted:
            return False
        block = memoryview(self._block)[:wanted]
        filled = os.preadv(self._fd, [block], self._next)
        if not filled:
            raise SourceChanged(
                f"The file has become shorter: it ends at byte {self._next:,} but the scan saw more.",
                advice="Leave the file alone while it loads; import it again as a new file.",
            )
        self._position, self._filled = 0, filled
        self._next += filled
        self._digest.update(block[:filled])
        return True

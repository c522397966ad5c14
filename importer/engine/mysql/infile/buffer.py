"""Hands the pieces of a feed to the client library for LOAD DATA LOCAL: 4,096 bytes a call (server-behaviour.md).

native/src/infile_buffer.c copies them if the C library is there. With a call into Python for each 4,096 bytes, the
client of a load takes twice the processor time.
"""

import ctypes
from collections.abc import Iterable
from typing import Any

from importer.engine.native import loader

# The data to send, in pieces that may be cut anywhere.
Feed = Iterable[bytes]

# The four functions of mysql_set_local_infile_handler() (manual, mysql_set_local_infile_handler()).
BEGIN = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_void_p), ctypes.c_char_p, ctypes.c_void_p)
READ = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint)
END = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
ERROR = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint)
_FETCH = ctypes.CFUNCTYPE(ctypes.c_int)


class _State(ctypes.Structure):
    """infile_buffer.c's `struct infile_buffer`: address and bytes of the rest of the current piece, and `fetch`."""

    _fields_ = (("rest", ctypes.c_void_p), ("left", ctypes.c_size_t), ("fetch", _FETCH))


class InfileBuffer:
    """The state of the local-infile handler during one load. `error`: the feed's exception, which ended the data."""

    def __init__(self, feed: Feed) -> None:
        self._pieces = filter(None, iter(feed))
        self._piece = b""
        self._state = _State(None, 0, _FETCH(self._fetch))
        self.error: BaseException | None = None

    @property
    def state(self) -> int:
        """The address that read_function() takes as its first argument; valid as long as this object lives."""
        return ctypes.addressof(self._state)

    def _fetch(self) -> int:
        """Put the next piece into the state. Returns 1, or 0 at the end, or -1 for an error."""
        try:
            self._piece = next(self._pieces, b"")
            self._state.rest = ctypes.cast(ctypes.c_char_p(self._piece), ctypes.c_void_p).value
            self._state.left = len(self._piece)
            return bool(self._piece)
        except BaseException as error:
            self.error = error
            return -1


def read_function() -> Any:
    """The function that copies the next bytes into the client library's buffer: in C if possible, or in Python."""
    library = loader.library()
    return ctypes.cast(library.read_infile_buffer, READ) if library else READ(read_infile_buffer)


def read_infile_buffer(state: int, buffer: int, size: int) -> int:
    """The function of this name in infile_buffer.c, in Python. Returns bytes copied, 0 at the end, -1 for an error."""
    buffered = _State.from_address(state)
    if not buffered.left and (fetched := buffered.fetch()) <= 0:
        return int(fetched)
    size = min(size, buffered.left)
    ctypes.memmove(buffer, buffered.rest, size)
    buffered.rest += size
    buffered.left -= size
    return size

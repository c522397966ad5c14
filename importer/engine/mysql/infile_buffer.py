"""Hands the pieces of a feed to the client library for LOAD DATA LOCAL: 4,096 bytes a call (server-behaviour.md).

native/src/infile_buffer.c copies them if the C library is there. A call into Python each time costs twice the processor
time of a load's client.
"""

import ctypes
from collections.abc import Iterable
from typing import Any

from importer.engine.native import loader

# The pieces of the data to send, cut anywhere: only their concatenation has a meaning.
Feed = Iterable[bytes]

# The four functions of mysql_set_local_infile_handler() (manual, mysql_set_local_infile_handler()).
BEGIN = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_void_p), ctypes.c_char_p, ctypes.c_void_p)
READ = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint)
END = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
ERROR = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint)
_FETCH = ctypes.CFUNCTYPE(ctypes.c_int)


class _State(ctypes.Structure):
    """infile_buffer.c's `struct infile_buffer`: address and size of what is left of the piece, `fetch`."""

    _fields_ = (("rest", ctypes.c_void_p), ("left", ctypes.c_size_t), ("fetch", _FETCH))


class InfileBuffer:
    """The state of the local-infile handler during one load. `error`: an exception of the feed, which ends the data."""

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
        """Put the next piece into the state. Returns 1, 0 at the end, -1 for an error."""
        try:
            self._piece = next(self._pieces, b"")
            self._state.rest = ctypes.cast(ctypes.c_char_p(self._piece), ctypes.c_void_p).value
            self._state.left = len(self._piece)
            return bool(self._piece)
        except BaseException as error:
            self.error = error
            return -1


def read_function() -> Any:
    """The function that copies the next bytes into the client library's buffer: in C if possible, else in Python."""
    library = loader.library()
    return ctypes.cast(library.read_infile_buffer, READ) if library else READ(read_infile_buffer)


def read_infile_buffer(state: int, buffer: int, size: int) -> int:
    """infile_buffer.c's function of this name, in Python."""
    buffered = _State.from_address(state)
    if not buffered.left and (fetched := buffered.fetch()) <= 0:
        return int(fetched)
    size = min(size, buffered.left)
    ctypes.memmove(buffer, buffered.rest, size)
    buffered.rest += size
    buffered.left -= size
    return size

"""The pieces of a feed as the client library takes them for LOAD DATA LOCAL: 4,096 bytes a call (facts.md).

native/src/outgoing.c copies them where it is compiled; a call into Python each time costs twice the processor time of
a load's client.
"""

import ctypes
from collections.abc import Iterable
from typing import Any

from importer.engine.native import loader

# What is sent: bytes that begin and end anywhere, only joined they mean something.
Feed = Iterable[bytes]

# The four functions of mysql_set_local_infile_handler() (manual, mysql_set_local_infile_handler()).
BEGIN = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_void_p), ctypes.c_char_p, ctypes.c_void_p)
READ = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint)
END = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
ERROR = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint)
_FETCH = ctypes.CFUNCTYPE(ctypes.c_int)


class _State(ctypes.Structure):
    """outgoing.c's `struct outgoing`: where the rest of the piece is, how many bytes, and what fetches the next one."""

    _fields_ = (("rest", ctypes.c_void_p), ("left", ctypes.c_size_t), ("fetch", _FETCH))


class Outgoing:
    """One load's feed on its way. `error` is what it raised, which ends the data."""

    def __init__(self, feed: Feed) -> None:
        self._pieces = filter(None, iter(feed))
        self._piece = b""
        self._state = _State(None, 0, _FETCH(self._fetch))
        self.error: BaseException | None = None

    @property
    def state(self) -> int:
        """What the function that reads is given; it is good as long as this lives."""
        return ctypes.addressof(self._state)

    def _fetch(self) -> int:
        """Put the next piece into the state; 0 at the end, less than 0 for an error."""
        try:
            self._piece = next(self._pieces, b"")
            self._state.rest = ctypes.cast(ctypes.c_char_p(self._piece), ctypes.c_void_p).value
            self._state.left = len(self._piece)
            return bool(self._piece)
        except BaseException as error:
            self.error = error
            return -1


def read_function() -> Any:
    """What copies the next bytes into the client library's buffer: outgoing.c's, or this file's."""
    library = loader.library()
    return ctypes.cast(library.next_bytes, READ) if library else READ(next_bytes)


def next_bytes(state: int, buffer: int, size: int) -> int:
    """As outgoing.c's function of this name."""
    outgoing = _State.from_address(state)
    if not outgoing.left and (fetched := outgoing.fetch()) <= 0:
        return int(fetched)
    size = min(size, outgoing.left)
    ctypes.memmove(buffer, outgoing.rest, size)
    outgoing.rest += size
    outgoing.left -= size
    return size

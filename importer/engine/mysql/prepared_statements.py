"""Prepared statements of the client library, which mysqlclient does not offer, with bytes bound to placeholders."""

import ctypes
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import MySQLdb

from importer.engine.mysql.answers import Connection, library
from importer.engine.mysql.connection import mysql_handle

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

# The protocol counts placeholders in two bytes (manual, COM_STMT_PREPARE Response).
MOST_PLACEHOLDERS = 65535
_STRING = 254  # MYSQL_TYPE_STRING
# MYSQL_BIND has one layout in MySQL's and MariaDB's mysql.h, on 64 bits.
_BIND = (
    ("length", "u8"), ("is_null", "u8"), ("buffer", "u8"), ("error", "u8"), ("row_ptr", "u8"),
    ("store_param_func", "u8"), ("fetch_result", "u8"), ("skip_result", "u8"),
    ("buffer_length", "u8"), ("offset", "u8"), ("length_value", "u8"),
    ("param_number", "u4"), ("pack_length", "u4"), ("buffer_type", "u4"),
    ("error_value", "u1"), ("is_unsigned", "u1"), ("long_data_used", "u1"), ("is_null_value", "u1"),
    ("extension", "u8"),
)  # fmt: skip

for _name, _arguments, _result in (
    ("mysql_stmt_init", [ctypes.c_void_p], ctypes.c_void_p),
    ("mysql_stmt_prepare", [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_ulong], ctypes.c_int),
    ("mysql_stmt_bind_param", [ctypes.c_void_p, ctypes.c_void_p], ctypes.c_bool),
    ("mysql_stmt_send_long_data", [ctypes.c_void_p, ctypes.c_uint, ctypes.c_char_p, ctypes.c_ulong], ctypes.c_bool),
    ("mysql_stmt_execute", [ctypes.c_void_p], ctypes.c_int),
    ("mysql_stmt_affected_rows", [ctypes.c_void_p], ctypes.c_ulonglong),
    ("mysql_stmt_errno", [ctypes.c_void_p], ctypes.c_uint),
    ("mysql_stmt_error", [ctypes.c_void_p], ctypes.c_char_p),
    ("mysql_stmt_close", [ctypes.c_void_p], ctypes.c_bool),
):
    getattr(library, _name).argtypes, getattr(library, _name).restype = _arguments, _result


class PreparedStatement:
    """One statement with `count` placeholders on a connection; close() it before the connection."""

    def __init__(self, connection: Connection, sql: bytes, count: int) -> None:
        """Prepare the statement. Raises MySQLdb.OperationalError with the server's error."""
        import numpy as np  # Not at the top: it costs 16 MB, and most loads prepare nothing.

        self._handle = library.mysql_stmt_init(mysql_handle(connection))
        self._lengths, self._nulls = np.zeros(count, np.uint64), np.zeros(count, bool)
        self._binds = np.zeros(count, np.dtype(list(_BIND), align=False))
        places = np.arange(count, dtype=np.uint64)
        self._binds["length"] = self._lengths.ctypes.data + places * np.uint64(8)
        self._binds["is_null"] = self._nulls.ctypes.data + places
        self._binds["buffer_type"] = _STRING
        if library.mysql_stmt_prepare(self._handle, sql, len(sql)):
            self._fail()

    def execute(
        self,
        addresses: "npt.NDArray[np.int64]",
        lengths: "npt.NDArray[np.int64]",
        nulls: "npt.NDArray[np.bool_]",
    ) -> int:
        """Run the statement with the texts at these memory addresses. Returns the number of affected rows.

        Arrays with one entry for each placeholder: address and bytes of its text, and whether it is NULL. Raises
        MySQLdb.OperationalError with the server's error.
        """
        self._bind(addresses, lengths, nulls)
        return self._execute()

    def execute_in_pieces(self, values: Sequence[Iterable[bytes] | None]) -> int:
        """Run the statement with one text in pieces for each placeholder; None is NULL. Each piece is sent by itself.

        Returns the number of affected rows. Raises MySQLdb.OperationalError with the server's error.
        """
        self._bind(0, 0, [value is None for value in values])
        for place, value in enumerate(values):
            for piece in value or ():
                if library.mysql_stmt_send_long_data(self._handle, place, piece, len(piece)):
                    self._fail()
        return self._execute()

    def _bind(self, addresses: "npt.ArrayLike", lengths: "npt.ArrayLike", nulls: "npt.ArrayLike") -> None:
        self._binds["buffer"], self._lengths[:], self._nulls[:] = addresses, lengths, nulls
        self._binds["buffer_length"] = lengths
        if library.mysql_stmt_bind_param(self._handle, self._binds.ctypes.data):
            self._fail()

    def _execute(self) -> int:
        if library.mysql_stmt_execute(self._handle):
            self._fail()
        return int(library.mysql_stmt_affected_rows(self._handle))

    def close(self) -> None:
        if self._handle:
            library.mysql_stmt_close(self._handle)
            self._handle = None

    def _fail(self) -> None:
        number, message = library.mysql_stmt_errno(self._handle), library.mysql_stmt_error(self._handle)
        self.close()
        raise MySQLdb.OperationalError(number, message.decode(errors="replace"))

"""The identity of a table: shows whether it was emptied by TRUNCATE, exchanged, or dropped and created again.

Its name and columns stay equal then. TRUNCATE and a rebuild (OPTIMIZE, ALTER by copy) give a table another number,
which an account sees with the PROCESS privilege only. Every ALTER gives it another creation time, but TRUNCATE does not
(server-behaviour.md, The identity of a table).
"""

from dataclasses import dataclass

import MySQLdb

from importer.engine.mysql.connection import Connection, fetch_all

# MySQL's table, and MariaDB's. Both name a table as the server's file system does, with @ before special characters.
_NUMBERS = ("INNODB_TABLES", "INNODB_SYS_TABLES")
_SERVERS = ("@@server_uuid", "@@server_uid")
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")


@dataclass(frozen=True)
class TableIdentity:
    """The creation time and InnoDB's number of a table on a server; "" for what the account may not see."""

    server: str
    created: str
    number: str

    def __str__(self) -> str:
        return f"{self.server} {self.created} {self.number}"

    @classmethod
    def parse(cls, text: str) -> "TableIdentity":
        """The identity from its str()."""
        return cls(*text.split(" ")) if text else cls("", "", "")

    def differs_from(self, other: "TableIdentity") -> bool:
        """Whether the two are surely of one server and perhaps not of one table.

        Equal numbers are of one table that was altered at most. Without numbers, each ALTER looks like another table.
        """
        if not self.server or self.server != other.server:
            return False
        if self.number and other.number:
            return self.number != other.number
        return self.created != other.created


def read_identity(connection: Connection, schema: str, name: str) -> TableIdentity:
    """The identity of the table as it is now."""
    # In seconds since 1970, since the time itself is shown in the session's time zone, which an import may choose.
    sql = "SELECT UNIX_TIMESTAMP(CREATE_TIME) FROM information_schema.TABLES"
    rows = fetch_all(connection, f"{sql} WHERE TABLE_SCHEMA = %s AND TABLE_NAME = %s", (schema, name))
    created = str(rows[0][0] or "") if rows else ""
    return TableIdentity(_server(connection), created, _number(connection, schema, name))


def _server(connection: Connection) -> str:
    for each in _SERVERS:
        try:
            return str(fetch_all(connection, f"SELECT {each}")[0][0])
        except (MySQLdb.Error, IndexError):
            continue
    return ""


def _number(connection: Connection, schema: str, name: str) -> str:
    """InnoDB's number of the table; "" without the privilege, and for names with special characters."""
    if not _PLAIN.issuperset(schema + name):
        return ""
    for each in _NUMBERS:
        try:
            sql = f"SELECT TABLE_ID FROM information_schema.{each} WHERE NAME = %s"
            rows = fetch_all(connection, sql, (f"{schema}/{name}",))
        except MySQLdb.Error:
            continue
        return str(rows[0][0]) if rows else ""
    return ""

"""What there is to know of a server: its maker, its version, and the settings that decide speed and safety."""

import ipaddress
import os
import re
import socket
from dataclasses import dataclass, replace

import MySQLdb
from MySQLdb.constants import ER

from importer.engine.mysql.connection import Address, Connection, execute, fetch_all

# Those a flavour does not have are absent from `Server.variables`; sizes there are bytes. First those that decide how
# fast it loads, or tell what it runs on: they are kept with every import (planner/initial_conditions.py).
SPEED_VARIABLES = (
    "binlog_cache_size",
    "binlog_format",
    "binlog_row_image",
    "innodb_adaptive_hash_index",
    "innodb_autoinc_lock_mode",
    "innodb_buffer_pool_size",
    "innodb_change_buffering",
    "innodb_ddl_buffer_size",
    "innodb_ddl_threads",
    "innodb_doublewrite",
    "innodb_flush_log_at_trx_commit",
    "innodb_flush_method",
    "innodb_io_capacity",
    "innodb_io_capacity_max",
    "innodb_log_buffer_size",
    "innodb_max_dirty_pages_pct",
    "innodb_page_size",
    "innodb_sort_buffer_size",
    "innodb_write_io_threads",
    "log_bin",
    "max_allowed_packet",
    "max_connections",
    "performance_schema",
    "sync_binlog",
    "version_compile_machine",
    "version_compile_os",
    "wsrep_on",
)
VARIABLES = (
    *SPEED_VARIABLES,
    "aurora_version",
    "autocommit",
    "default_storage_engine",
    "have_ssl",
    "innodb_log_file_size",
    "innodb_log_files_in_group",
    "innodb_read_only",
    "innodb_redo_log_capacity",
    "local_infile",
    "lower_case_table_names",
    "max_binlog_cache_size",
    "max_user_connections",
    "offline_mode",
    "read_only",
    "require_secure_transport",
    "secure_file_priv",
    "sql_mode",
    "sql_require_primary_key",
    "super_read_only",
    "unique_checks",
    "version",
    "version_comment",
    "wsrep_load_data_splitting",
    "wsrep_max_ws_rows",
    "wsrep_max_ws_size",
)

# What `version` or `version_comment` says, in the order to look: TiDB's comment also says MySQL. Aurora says nothing
# there, but has a variable of its own.
FLAVOURS = (
    ("mariadb", "MariaDB"),
    ("tidb", "TiDB"),
    ("vitess", "Vitess"),
    ("planetscale", "Vitess"),
    ("proxysql", "ProxySQL"),
    ("percona", "Percona Server"),
)

# They refuse LOAD DATA LOCAL whatever local_infile is (server-behaviour.md, LOAD DATA LOCAL).
REFUSE_LOCAL = ("Vitess", "ProxySQL")
_TRIAL = "LOAD DATA INFILE '/millrace_nowhere' INTO TABLE millrace_nowhere"


@dataclass(frozen=True)
class Server:
    """What the planner and the check know of a server; read with read_server()."""

    flavour: str  # "MySQL" or "MariaDB", or one of their relatives in FLAVOURS
    version: str  # as the server writes it, such as "10.11.19-MariaDB-deb12"
    variables: dict[str, str]
    local: bool  # whether it runs on this machine
    cores: int  # of this machine; the server's own are not visible
    reads_files: bool = False  # whether the account may load files that the server sees (the FILE privilege)
    refused: bool = False  # whether it was seen to refuse LOAD DATA LOCAL, whatever it says
    files_dir: str = ""  # a folder that both see, if somebody named one (SERVER_FILES_DIR)
    replica: bool | None = None  # whether it follows another server; None where the account may not know

    @property
    def release(self) -> tuple[int, ...]:
        """The version as numbers, such as (10, 11, 19); (0,) where it does not begin with any."""
        found = re.match(r"\d+(?:\.\d+)*", self.version)
        return tuple(int(part) for part in found[0].split(".")) if found else (0,)

    @property
    def takes_local(self) -> bool:
        """Whether it takes LOAD DATA LOCAL, as far as it says; a proxy in between may refuse it all the same."""
        return not self.refused and self.on("local_infile") and self.flavour not in REFUSE_LOCAL

    def after_refusal(self, *, of_pipe: bool) -> "Server":
        """The server once it has refused LOAD DATA LOCAL, and the files that it would read itself if `of_pipe`."""
        return replace(self, refused=True, reads_files=self.reads_files and not of_pipe)

    @property
    def shared_folder(self) -> str:
        """A folder that the server may load files from and that we can write into; "" if there is none."""
        allowed = self.variables.get("secure_file_priv", "")
        own = allowed.rstrip("/") if self.local and allowed not in ("", "NULL") else ""
        folder = self.files_dir or own
        return folder if folder and os.access(folder, os.W_OK | os.X_OK) else ""

    @property
    def mariadb(self) -> bool:
        return self.flavour == "MariaDB"

    def on(self, variable: str) -> bool:
        """Whether a variable is there and switched on."""
        return self.variables.get(variable, "").upper() in ("ON", "1", "YES", "TRUE")

    def number(self, variable: str) -> int | None:
        """A variable's value as a number; None if this flavour does not have it or it is no number."""
        value = self.variables.get(variable, "")
        return int(value) if re.fullmatch(r"-?\d+", value) else None

    @property
    def redo_bytes(self) -> int | None:
        """The redo log's whole size in bytes: one variable since MySQL 8.0.30, file size times files before."""
        if (capacity := self.number("innodb_redo_log_capacity")) is not None:
            return capacity
        size = self.number("innodb_log_file_size")
        # MariaDB has one file since 10.5 and no variable that counts them any more.
        return None if size is None else size * (self.number("innodb_log_files_in_group") or 1)


def read_server(connection: Connection, address: Address) -> Server:
    """Ask the server for its version and settings: the global ones, as new sessions get them."""
    names = ", ".join("%s" for _ in VARIABLES)
    rows = fetch_all(connection, f"SHOW GLOBAL VARIABLES WHERE Variable_name IN ({names})", VARIABLES)
    variables = {name.lower(): _text(value) for name, value in rows}
    # A proxy may keep SHOW VARIABLES from us; the version it gave at connecting is always there.
    version = variables.get("version") or connection.get_server_info()
    return Server(
        flavour=_flavour(version, variables),
        version=version.removeprefix("5.5.5-"),  # MariaDB before 11.0 put it in front for old replicas (MDEV-28910)
        variables=variables,
        local=is_loopback(address.host),
        cores=os.cpu_count() or 1,
        reads_files=variables.get("secure_file_priv") != "NULL" and _reads_files(connection),
        replica=_is_replica(connection),
    )


def _reads_files(connection: Connection) -> bool:
    """Whether the account has the FILE privilege, be it its own or a role's: nothing is read to find that out.

    Without it, that is what the server says; with it, that there is no such table.
    """
    try:
        execute(connection, _TRIAL)
    except MySQLdb.Error as error:
        return error.args[0] in (ER.NO_SUCH_TABLE, ER.BAD_DB_ERROR)
    return False


def _is_replica(connection: Connection) -> bool | None:
    """Whether it has another server to follow; None below MySQL 8.0.22, or without REPLICATION CLIENT (MariaDB: REPLICA
    MONITOR).
    """
    try:
        return bool(fetch_all(connection, "SHOW REPLICA STATUS"))
    except MySQLdb.Error:
        return None


def is_loopback(host: str) -> bool:
    """Whether every address of that name is this machine's own loopback; False for a name that is not known."""
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError:
        return False
    return all(ipaddress.ip_address(str(entry[4][0]).split("%")[0]).is_loopback for entry in found)


def _flavour(version: str, variables: dict[str, str]) -> str:
    said = f"{version} {variables.get('version_comment', '')}".lower()
    if "aurora_version" in variables:
        return "Aurora MySQL"
    return next((flavour for word, flavour in FLAVOURS if word in said), "MySQL")


def _text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)

"""A server's counters: what it counts of its own work, in one unit on MySQL and MariaDB."""

from collections.abc import Mapping
from dataclasses import dataclass, fields

from importer.engine.mysql.connection import Connection, fetch_all

# For each counter the status variables, of which the first that the server has counts (manuals: MySQL, Server Status
# Variables; MariaDB, Server Status Variables and InnoDB Status Variables).
SOURCES: Mapping[str, tuple[str, ...]] = {
    "uptime": ("Uptime",),
    # MariaDB counts no inserted rows of InnoDB since 10.5.
    "rows_written": ("Innodb_rows_inserted", "Handler_write"),
    "redo_written": ("Innodb_os_log_written",),
    "redo_age": ("Innodb_checkpoint_age",),
    "redo_capacity": ("Innodb_checkpoint_max_age", "Innodb_redo_log_capacity_resized"),
    "pages": ("Innodb_buffer_pool_pages_total",),
    "pages_dirty": ("Innodb_buffer_pool_pages_dirty",),
    "pages_read": ("Innodb_buffer_pool_reads",),
    "page_requests": ("Innodb_buffer_pool_read_requests",),
    "waits_for_page": ("Innodb_buffer_pool_wait_free",),
    "waits_for_log": ("Innodb_log_waits",),
    "data_written": ("Innodb_data_written",),
    "syncs": ("Innodb_os_log_fsyncs", "Innodb_data_fsyncs"),
    "received": ("Bytes_received",),
    "connected": ("Threads_connected",),
    "running": ("Threads_running",),
    "semi_sync_waits": ("Rpl_semi_sync_source_wait_sessions", "Rpl_semi_sync_master_wait_sessions"),
}
_CURRENT_LSN, _CHECKPOINT_LSN = "Innodb_redo_log_current_lsn", "Innodb_redo_log_checkpoint_lsn"
NAMES = (*dict.fromkeys(name for names in SOURCES.values() for name in names), _CURRENT_LSN, _CHECKPOINT_LSN)


@dataclass(frozen=True)
class Counters:
    """A server's counters at one moment; None for what it does not count.

    `at`: seconds since 1970, by the clock of this machine. Since the server's start: `rows_written` (rows),
    `redo_written`, `data_written`, `received` (bytes), `pages_read` from disk, `page_requests`, `waits_for_page`,
    `waits_for_log`, `syncs` (times). Now: `redo_age`, `redo_capacity` (bytes), `pages`, `pages_dirty` (of the pool),
    `connected`, `running` (connections), `semi_sync_waits` (connections that wait for a replica), `replica_lag`
    (seconds that this server is behind its own source). `uptime`: seconds.
    """

    at: float
    uptime: int | None = None
    rows_written: int | None = None
    redo_written: int | None = None
    redo_age: int | None = None
    redo_capacity: int | None = None
    pages: int | None = None
    pages_dirty: int | None = None
    pages_read: int | None = None
    page_requests: int | None = None
    waits_for_page: int | None = None
    waits_for_log: int | None = None
    data_written: int | None = None
    syncs: int | None = None
    received: int | None = None
    connected: int | None = None
    running: int | None = None
    semi_sync_waits: int | None = None
    replica_lag: int | None = None

    @property
    def dirty_share(self) -> float | None:
        """The share of the buffer pool that is changed and not written back yet."""
        return self.pages_dirty / self.pages if self.pages and self.pages_dirty is not None else None

    @property
    def redo_share(self) -> float | None:
        """The share of the redo log that is in use: changes whose pages are not written back yet."""
        return self.redo_age / self.redo_capacity if self.redo_capacity and self.redo_age is not None else None

    def per_second(self, name: str, before: "Counters | None") -> float | None:
        """The rate of a counter since `before`; None without that, or if the server was restarted in between."""
        if before is None or before.at >= self.at or self.restarted_since(before):
            return None
        now, then = getattr(self, name), getattr(before, name)
        return None if now is None or then is None else max(0.0, (now - then) / (self.at - before.at))

    def restarted_since(self, before: "Counters") -> bool:
        """Whether the server was started after `before`."""
        return self.uptime is not None and before.uptime is not None and self.uptime < before.uptime


def read_counters(connection: Connection, at: float) -> Counters:
    """Read the counters, by one statement."""
    marks = ", ".join("%s" for _ in NAMES)
    rows = fetch_all(connection, f"SHOW GLOBAL STATUS WHERE Variable_name IN ({marks})", NAMES)
    status = {str(name): int(value) for name, value in rows if str(value).isdigit()}
    values = {name: next((status[each] for each in of if each in status), None) for name, of in SOURCES.items()}
    if _CURRENT_LSN in status and _CHECKPOINT_LSN in status:
        values["redo_age"] = status[_CURRENT_LSN] - status[_CHECKPOINT_LSN]
    assert set(values) <= {each.name for each in fields(Counters)}
    return Counters(at, **values)

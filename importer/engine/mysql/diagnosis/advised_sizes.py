"""The sizes of a server's buffer pool and redo log that its check and the causes of slow imports advise."""

import os

from importer.engine.units import GIB, MIB

GOOD_REDO_LOG = 2 * GIB  # bytes


def advised_buffer_pool(*, local: bool) -> tuple[int, str]:
    """The advised size in bytes, and its reason: half of this machine's memory if the server runs on it."""
    if local:
        half = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
        return max(half // (256 * MIB) * 256 * MIB, 256 * MIB), "about half of this machine's memory"
    return 4 * GIB, "or half of the server's memory"


def log_file_in_cnf(size: int) -> str:
    """The line for a redo log of `size` bytes, in whole GiB, on servers without innodb_redo_log_capacity.

    MariaDB can change the size while it runs, but a crash in that time could lose data (MDEV-34750). Not advised.
    """
    return f"In the server's my.cnf under [mysqld]: innodb_log_file_size = {-(-size // GIB)}G; then restart it."

"""Server settings that the articles changed and that only a start of the server can change."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from importer.engine.units import MIB

# A buffer pool takes no more than this part of the machine's memory.
PART_OF_MEMORY = 4
POOL, REDO = "innodb_buffer_pool_size", "redo log"
# Names that differ between the servers: by flavour (manuals, Server System Variables).
_NAMES = {REDO: {"MariaDB": "innodb_log_file_size", "MySQL": "innodb_redo_log_capacity"}}

Value = int | str


@dataclass(frozen=True)
class ServerVariant:
    """A private server with these global variables; sizes are bytes.

    `where_gone`: what to read in place of the measurement where the server has no such variable, or value, any more.
    """

    variables: Mapping[str, Value] = field(default_factory=dict)
    where_gone: str = ""

    def options(self, flavour: str) -> dict[str, Value]:
        """The variables by their names on this flavour, a buffer pool no larger than this machine can give."""
        return {
            _NAMES.get(name, {}).get(flavour, name): min(int(value), most_pool()) if name == POOL else value
            for name, value in self.variables.items()
        }

    def and_also(self, variables: Mapping[str, Value], where_gone: str = "") -> "ServerVariant":
        """The variant with more variables, or other values."""
        return ServerVariant({**self.variables, **variables}, where_gone or self.where_gone)

    @property
    def log_bytes(self) -> int:
        """The bytes of its redo log on the disk, if it sets them."""
        return int(self.variables.get(REDO, 0))

    @property
    def words(self) -> str:
        """The variables in words; "" for a server with its defaults."""
        return ", ".join(f"{name}={value}" for name, value in self.variables.items())


def machine_memory() -> int:
    """The bytes of this machine's memory."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def most_pool() -> int:
    """The largest buffer pool of a private server, in bytes: a whole number of MiB."""
    return machine_memory() // PART_OF_MEMORY // MIB * MIB

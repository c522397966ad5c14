"""A new table for a file: its columns, the changes that a user requests, and CREATE TABLE.

mapping/new_table/ suggests it from the sample, validation/type_widening.py checks its types against the whole file.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from importer.engine.errors import Problem
from importer.engine.mysql.quoting import quote_name
from importer.engine.schema.column_names import LONGEST_NAME, folded, is_valid_character, name_columns
from importer.engine.schema.column_types import Family, column_type
from importer.engine.schema.row_size import (
    MOST_KEY_BYTES,
    MOST_KEY_COLUMNS,
    MOST_PARTITION_BYTES,
    check_size,
    key_bytes,
)
from importer.engine.schema.table import Column, Key, Table
from importer.engine.schema.type_inference import check_type

# The character set of new texts: it has every character.
CHARSET = "utf8mb4"


@dataclass(frozen=True)
class NewColumn:
    """A column of a new table; `type` has passed type_inference.check_type().

    `nullable`: it takes NULL, unless it is in the primary key.
    """

    name: str
    type: str
    nullable: bool = True


@dataclass(frozen=True)
class NewTable:
    """A table to be created, in the connection's own database if `schema` is "".

    `widen`: a type that is too narrow for the whole file is widened, instead of an error. `partitions`: the number of
    partitions by hash of the column `partition_by`, "" for the primary key; None for a table without partitions.
    `stated`: the columns whose type a user chose: it is widened to another of its kind at most, never to a text.
    `notes`: what was decided about names and types, in plain words, without `key_note`. `stated_key`: the columns of
    the primary key that the file states, which nobody has asked for yet; `proposed_key`: a column that could be the
    primary key, "" if the sample has none. `charset`: its character set; "" for the database's default, which is the
    same one then, with the database's own collation: a join of texts in two collations fails (1267). `suggested_null`:
    the columns whose NULL markers nobody chose: as a text they have none.
    """

    schema: str
    name: str
    columns: tuple[NewColumn, ...]
    primary_key: tuple[str, ...] = ()
    widen: bool = True
    partitions: int | None = None
    stated: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    proposed_key: str = ""
    suggested_null: tuple[str, ...] = ()
    charset: str = CHARSET
    stated_key: tuple[str, ...] = ()
    partition_by: str = ""

    def statement(self, name: str) -> str:
        """The CREATE TABLE statement with this name instead of the table's own."""
        lines = [f"{quote_name(each.name)} {each.type}{self._null(each)}" for each in self.columns]
        if self.primary_key:
            lines.append(f"PRIMARY KEY ({', '.join(quote_name(name) for name in self.primary_key)})")
        body = ",\n  ".join(lines)
        place = ".".join(quote_name(each) for each in (self.schema, name) if each)
        charset = f" CHARSET={self.charset}" if self.charset else ""
        sql = f"CREATE TABLE {place} (\n  {body}\n) ENGINE=InnoDB{charset}"
        return f"{sql}\n{self.partitioning}" if self.partitions else sql

    @property
    def partitioning(self) -> str:
        by = self.partitioned_by
        return partitioning(by, [self.types[name] for name in by], self.partitions or 1)

    @property
    def partitioned_by(self) -> tuple[str, ...]:
        """The columns by whose hash the rows are spread over partitions; none for a table without these."""
        return () if not self.partitions else (self.partition_by,) if self.partition_by else self.primary_key

    @property
    def types(self) -> dict[str, str]:
        return {each.name: each.type for each in self.columns}

    @property
    def key_note(self) -> str:
        """The note about the stated or the proposed key; "" without one, and for a table that has a key."""
        if self.primary_key:
            return ""
        flags = " ".join(f"--primary-key '{name}'" for name in self.stated_key or (self.proposed_key,))
        if self.stated_key:
            return (
                "The primary key of the file's CREATE TABLE is not taken, nor its other keys, NOT NULL and defaults."
                f" {flags} makes it the key."
            )
        if not self.proposed_key:
            return ""
        return (
            f"{self.proposed_key} could be the primary key: its values are never empty and all different in the sample."
            f" {flags} makes it so."
        )

    def _null(self, column: NewColumn) -> str:
        return " NULL" if self._takes_null(column) else " NOT NULL"

    def _takes_null(self, column: NewColumn) -> bool:
        return column.nullable and column.name not in self.primary_key

    def as_table(self) -> Table:
        """The table as the server will describe it, as far as a plan needs that."""
        columns = tuple(as_column(replace(each, nullable=self._takes_null(each))) for each in self.columns)
        keys = (Key("PRIMARY", self.primary_key, True),) if self.primary_key else ()
        return Table(self.schema, self.name, "InnoDB", columns, keys)


def as_column(column: NewColumn) -> Column:
    """A new column as the server will describe it, as far as a plan needs that."""
    described = Column(column.name, column.type, column.nullable, None, False, False)
    return replace(described, charset=CHARSET) if described.column_type.has_charset else described


def partitioning(by: Sequence[str], types: Sequence[str], partitions: int) -> str:
    """The PARTITION BY clause: HASH for a single integer column, otherwise KEY, the server's own hash.

    `types` are those of the columns. Every unique key must contain the partitioning columns (manual, Partitioning Keys
    and Unique Keys).
    """
    columns = ", ".join(quote_name(name) for name in by)
    whole = len(types) == 1 and column_type(types[0]).family is Family.INTEGER
    return f"PARTITION BY {'HASH' if whole else 'KEY'} ({columns}) PARTITIONS {partitions}"


def partition_table(table: NewTable, partitions: int, by: str = "") -> NewTable:
    """The table with this number of partitions, by hash of the column, or of its primary key.

    Raises Problem if it has none of the kind, or if the primary key lacks the column.
    """
    column = next((each.name for each in table.columns if folded(each.name) == folded(by)), "")
    if by and not column:
        names = ", ".join(each.name for each in table.columns)
        raise Problem(
            f"The new table has no column {by} to be partitioned by.", advice=f"It has {names}.", option="partition_by"
        )
    if not by and not table.primary_key:
        raise Problem(
            "A table without a primary key cannot be partitioned by hash of it.",
            advice="Choose the columns of the primary key, name another column (--partition-by), or leave the"
            " partitions out.",
            option="partitions",
        )
    if by and table.primary_key and column not in table.primary_key:
        flags = " ".join(f"--primary-key '{name}'" for name in (*table.primary_key, column))
        raise Problem(
            f"The table cannot be partitioned by {column}: a primary key must contain the column, since the server"
            " looks for a duplicate in one partition only.",
            advice=f"Add it to the key ({flags}), which then takes the same {' and '.join(table.primary_key)} with"
            f" another {column}; or partition by a column of the key, or make the table without one.",
            option="partition_by",
        )
    return replace(table, partitions=partitions, partition_by=column)


def name_columns_as(table: NewTable, names: Sequence[str]) -> NewTable:
    """The table with these names of its columns; a column with the name "" is left out.

    The table as it is if no name is given. Raises Problem for a name that no server takes, or that is there twice.
    """
    if not any(names):
        return table
    pairs = [(column, name) for column, name in zip(table.columns, names, strict=True) if name]
    seen: set[str] = set()
    for _, name in pairs:
        check_name(name)
        if folded(name) in seen:
            raise Problem(f"The new table has two columns named {name}.", advice="Give one of them another name.")
        seen.add(folded(name))
    new = {column.name: name for column, name in pairs}
    stated = tuple(new[name] for name in table.stated_key) if new.keys() >= {*table.stated_key} else ()
    return replace(
        table,
        columns=tuple(replace(column, name=name) for column, name in pairs),
        proposed_key=new.get(table.proposed_key, ""),
        stated_key=stated,
    )


def check_name(name: str) -> None:
    """Raise Problem if no server takes the name for a column."""
    cleaned, _ = name_columns([name])
    if cleaned != (name,):
        raise Problem(f"No column can be named {name!r}.", advice=f"Choose another name, such as {cleaned[0]}.")


def change_table(
    table: NewTable, types: Mapping[str, str], primary_key: Sequence[str], widen: bool, not_null: Collection[str] = ()
) -> NewTable:
    """The table with the requested types, primary key and columns that take no NULL.

    Raises Problem for an unknown column or type, and for a primary key that no server makes.
    """
    known = {column.name for column in table.columns}
    for name in (*types, *primary_key, *not_null):
        if name not in known:
            raise Problem(f"The new table has no column {name}.", advice=f"It has {', '.join(sorted(known))}.")
    columns = tuple(
        replace(each, type=check_type(types.get(each.name) or each.type), nullable=each.name not in not_null)
        for each in table.columns
    )
    changed = replace(table, columns=columns, primary_key=tuple(primary_key), widen=widen, stated=tuple(types))
    check_keys(changed)
    return changed


def check_new_table(table: NewTable, *, mariadb: bool) -> None:
    """Raise Problem if the server would not make the table: for its name, key, columns' number or a row's size."""
    name = table.name
    if not name or len(name) > LONGEST_NAME:
        raise Problem("The new table has no name that the server takes.", advice="Give it one of 1 to 64 characters.")
    if odd := next((each for each in name if not is_valid_character(each)), ""):
        raise Problem(
            f"No server takes {odd!r} in the name of a table ({name!r}).",
            advice="Give the table another name: emoji, control and invisible characters cannot be in it.",
        )
    if name != name.strip():
        raise Problem(f"The name {name!r} of the new table has a blank at an end.", advice="Leave the blank out.")
    check_keys(table)
    keys = [column.type for column in table.columns if column.name in table.primary_key]
    others = [column.type for column in table.columns if column.name not in table.primary_key]
    check_size([*keys, *others], len(keys), mariadb)


def check_keys(table: NewTable) -> None:
    """Raise Problem for a primary key, or columns of the partitions, with types that no server takes there."""
    types = table.types
    if len(table.primary_key) > MOST_KEY_COLUMNS:
        raise Problem(
            f"A primary key has at most {MOST_KEY_COLUMNS} columns.",
            advice="Choose fewer columns.",
            option="primary_key",
        )
    _check_bytes(table.primary_key, types, MOST_KEY_BYTES, "The primary key takes", "primary_key")
    _check_bytes(
        table.partitioned_by, types, MOST_PARTITION_BYTES, "The columns of the partitions take", "partition_by"
    )


def _check_bytes(names: Sequence[str], types: Mapping[str, str], most: int, take: str, option: str) -> None:
    """Raise Problem for columns of a key or of partitions that together have more bytes than a server takes."""
    sizes = {name: key_bytes(types[name]) for name in names}
    if sum(sizes.values()) > most:
        longest = max(sizes, key=lambda name: sizes[name])
        raise Problem(
            f"{take} more than {most:,} bytes: {longest} is {types[longest]}.",
            advice=f"Give it a shorter type, such as --type '{longest}=varchar(64)', or choose other columns.",
            option=option,
        )

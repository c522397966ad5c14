"""Checks foreign keys that are dropped during a load: whether they can be added again, and which rows violate them."""

import xxhash

from importer.engine.errors import BadRow, RowsRefused
from importer.engine.mysql.connection import Connection, execute, fetch_all, fetch_row
from importer.engine.mysql.quoting import quote_name, quote_table
from importer.engine.schema.indexes import ForeignKey
from importer.engine.units import count_of

MOST_NAMED = 10


def rehearse_foreign_keys(
    connection: Connection, schema: str, table: str, foreign_keys: tuple[ForeignKey, ...]
) -> None:
    """Add the foreign keys to an empty copy of the table, which is dropped at the end, or by the next rehearsal.

    Raises MySQLdb.Error if they cannot be added: the account lacks REFERENCES on the parent, or the server no longer
    accepts the key (MySQL 8.4, restrict_fk_on_non_standard_key).
    """
    copy = quote_table(schema, f"millrace_try_{xxhash.xxh3_64_hexdigest(table.encode())}")
    execute(connection, f"DROP TABLE IF EXISTS {copy}")
    execute(connection, f"CREATE TABLE {copy} LIKE {quote_table(schema, table)}")
    try:
        for each in foreign_keys:
            # Without the constraint's name, which must be unique in the database.
            unnamed = each.sql[each.sql.index(" FOREIGN KEY ") :]
            execute(connection, f"ALTER TABLE {copy} ADD{unnamed}")
    finally:
        execute(connection, f"DROP TABLE IF EXISTS {copy}")


def check_foreign_keys(connection: Connection, schema: str, table: str, foreign_keys: tuple[ForeignKey, ...]) -> None:
    """Raise RowsRefused, with the rows, if rows of the table have no parent row for a foreign key."""
    for each in foreign_keys:
        _check_rows(connection, schema, table, each)


def rows_refused(
    connection: Connection, schema: str, table: str, foreign_keys: tuple[ForeignKey, ...]
) -> RowsRefused | None:
    """The problem of rows that came while foreign keys were off and that violate them; None without any."""
    try:
        check_foreign_keys(connection, schema, table, foreign_keys)
    except RowsRefused as refused:
        return refused
    return None


def _check_rows(connection: Connection, schema: str, table: str, foreign_key: ForeignKey) -> None:
    name = quote_table(schema, table)
    parent = foreign_key.parent_of(schema)
    columns = [f"child.{quote_name(column)}" for column in foreign_key.columns]
    theirs = [f"parent.{quote_name(column)}" for column in foreign_key.parent_columns]
    same = " AND ".join(f"{one} = {other}" for one, other in zip(columns, theirs, strict=True))
    # A row with a NULL in one of the columns needs no parent row (manual, FOREIGN KEY Constraints).
    given = " AND ".join(f"{column} IS NOT NULL" for column in columns)
    without = f"FROM {name} child LEFT JOIN {parent} parent ON {same} WHERE {given} AND {theirs[0]} IS NULL"
    values = ", ".join(columns)
    orphans = fetch_all(connection, f"SELECT {values}, COUNT(*) {without} GROUP BY {values} LIMIT {MOST_NAMED}")
    if not orphans:
        return
    count = int(fetch_row(connection, f"SELECT COUNT(*) {without}")[0])
    named = ", ".join(f"({', '.join(map(str, row[:-1]))})" for row in orphans)
    more = " and others" if len(orphans) == MOST_NAMED else ""
    column = ", ".join(foreign_key.columns)
    raise RowsRefused(
        f"{count_of(count, 'row')} {'has' if count == 1 else 'have'} a {column} that {foreign_key.parent} does"
        f" not have: {named}{more}. The foreign key"
        f" {foreign_key.name} was off while rows came; it is back, and guards every new row, but these are in.",
        where=f"{schema}.{table}",
        advice=f"See them with: SELECT child.* {without}. Add what {foreign_key.parent} lacks, or delete these rows."
        " A retry of the import looks again.",
        rows=tuple(
            BadRow(
                0,
                column,
                ", ".join(map(str, row[:-1])),
                f"{count_of(row[-1], 'row')} without a row in {foreign_key.parent}",
            )
            for row in orphans
        ),
        bad_rows=count,
    )

"""Finds what a lookup of a mapping reads: the parent, its column, and the number of its rows that the column takes."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from importer.engine.errors import Problem, TargetProblem
from importer.engine.mapping.columns import ColumnMapping, Lookup, field_name
from importer.engine.mapping.lookups import buckets_for
from importer.engine.mapping.readings import MOST_SHOWN, non_null_values, trimmed
from importer.engine.mysql.connection import Connection, fetch_all, fetch_row
from importer.engine.mysql.quoting import quote_name, quote_table
from importer.engine.schema.column_types import Family
from importer.engine.schema.table import Column, Table, count_rows, read_table
from importer.engine.source.decisions import Answer, Decision, Standing
from importer.engine.source.profile.profile import Profile
from importer.engine.source.records.row_error import shortened
from importer.engine.target.privileges import account, grant_on_table, lacks_privilege
from importer.engine.units import count_of

MOST_ROWS = 1_000_000
# Different texts of the sample that are looked for.
MOST_TEXTS = 100
_PARENTS = (
    "SELECT REFERENCED_TABLE_SCHEMA, REFERENCED_TABLE_NAME, REFERENCED_COLUMN_NAME"
    " FROM information_schema.KEY_COLUMN_USAGE WHERE TABLE_SCHEMA = %s AND TABLE_NAME = %s AND COLUMN_NAME = %s"
    " AND REFERENCED_TABLE_NAME IS NOT NULL"
)


def resolved(
    connection: Connection, table: Table, mapping: Sequence[ColumnMapping], *, is_new: bool, creates: bool = False
) -> tuple[ColumnMapping, ...]:
    """The mapping, whose lookups know all that a load needs. `is_new`: the import makes the table. `creates`: parents
    get rows for names that they do not have.

    Raises Problem for a lookup that is not possible, and TargetProblem, with the GRANT, if the account may not read the
    parent, or not insert into it.
    """
    columns = {column.name.lower(): column for column in table.columns}
    return tuple(
        replace(each, lookup=_resolved(connection, table, column, each.lookup, is_new=is_new, creates=creates))
        if each.lookup and (column := columns.get(each.column.lower()))
        else each
        for each in mapping
    )


def _resolved(
    connection: Connection, table: Table, column: Column, lookup: Lookup, *, is_new: bool, creates: bool
) -> Lookup:
    schema = lookup.schema or table.schema
    if is_new:
        raise Problem(
            f"{lookup.words}: a new table references no other one.", advice="Create the table first, then load into it."
        )
    _check_rights(connection, schema, lookup.table, column, creates=creates)
    parent = read_table(connection, schema, lookup.table)
    if (parent.schema, parent.name) == (table.schema, table.name):
        raise Problem(
            f"{lookup.words}: a table that is loaded cannot be looked up in.", advice="Load its numbers, or load twice."
        )
    named = _column(parent, lookup.column)
    if named.column_type.family is not Family.CHARACTER:
        raise Problem(f"{lookup.words}: {named.name} is {named.type}, and no text.", advice="Name a column of texts.")
    key = _key(connection, table, column, parent)
    if {column.column_type.family, _column(parent, key).column_type.family} != {Family.INTEGER}:
        raise Problem(
            f"{lookup.words}: {column.name} is {column.type}; only whole numbers are looked up.",
            advice="Load the key itself.",
        )
    if creates:
        _check_creation(parent, named, key)
    if (rows := count_rows(connection, parent.schema, parent.name)) > MOST_ROWS:
        raise Problem(
            f"{parent.name} has {rows:,} rows; a lookup reads at most {MOST_ROWS:,}.",
            advice="Load into a table with the names, and join there.",
        )
    sql = "SELECT COLLATION_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = %s AND TABLE_NAME = %s"
    (collation,) = fetch_row(connection, f"{sql} AND COLUMN_NAME = %s", (parent.schema, parent.name, named.name))
    (pads,) = fetch_row(connection, f"SELECT CONVERT('a ' USING {named.charset}) COLLATE {collation} = 'a'")
    return Lookup(
        parent.name,
        named.name,
        lookup.schema,
        key,
        str(collation),
        named.charset,
        bool(pads),
        # A parent that gets rows may have none now.
        buckets_for(MOST_ROWS if creates else rows),
        parent.schema,
    )


def _check_rights(connection: Connection, schema: str, name: str, column: Column, *, creates: bool) -> None:
    needed = {"SELECT": "read", **({"INSERT": "add rows to"} if creates else {})}
    if lacking := [right for right in needed if lacks_privilege(connection, schema, name, right)]:
        raise TargetProblem(
            f"The account may not {needed[lacking[0]]} {schema}.{name}, in which {column.name} is looked up.",
            where=account(connection),
            advice=grant_on_table(connection, lacking, schema, name),
        )


def _check_creation(parent: Table, named: Column, key: str) -> None:
    """Raise Problem if a row of the parent needs more than the name."""
    advice = "Leave lookup_missing out, and add the missing rows first."
    if named.generated:
        raise Problem(f"{parent.name}: {named.name} is computed, so no row can be created with it.", advice=advice)
    others = [each for each in parent.columns if each.required and each.name != named.name]
    # The columns of a primary key have no default that two rows could share.
    if key_column := next((each for each in others if each.name == key), None):
        raise Problem(
            f"{parent.name}: {key_column.name} is no AUTO_INCREMENT column, so a row with a new {named.name} would have"
            " no number.",
            advice=advice,
        )
    if others:
        raise Problem(
            f"A row of {parent.name} needs more than its {named.name}: {', '.join(each.name for each in others)}.",
            advice=advice,
        )


def lookup_questions(
    connection: Connection,
    profile: Profile,
    table: Table,
    mapping: Sequence[ColumnMapping],
    named: Sequence[int],
    may_look: Callable[[str, str], bool],
) -> Iterator[Decision]:
    """A guess for each of the `named` fields, if a parent of its column has half of its values in a unique column.

    `may_look`: whether the person may see a table, by schema and name.
    """
    for number in named:
        column, name = table.column(mapping[number].column), field_name(profile.header, number)
        texts = list(trimmed(non_null_values(profile, number, mapping[number])))[:MOST_TEXTS]
        for schema, parent, _ in fetch_all(connection, _PARENTS, (table.schema, table.name, column.name)):
            if may_look(schema, parent) and not lacks_privilege(connection, schema, parent, "SELECT"):
                for unique, count in _having(connection, read_table(connection, schema, parent), texts):
                    lookup = Lookup(parent, unique, "" if schema == table.schema else schema)
                    yield _question(name, column.name, lookup, texts, count)


def _having(connection: Connection, parent: Table, texts: Sequence[str]) -> Iterator[tuple[str, int]]:
    """The first unique column of texts that has at least half of these texts, and how many."""
    for key in parent.keys:
        unique = key.unique and not key.prefixed and len(key.columns) == 1 and key.columns[0] in parent.column_names
        if not unique or parent.column(key.columns[0]).column_type.family is not Family.CHARACTER:
            continue
        name, given = quote_name(key.columns[0]).replace("%", "%%"), ", ".join(["%s"] * len(texts))
        of_parent = quote_table(parent.schema, parent.name).replace("%", "%%")
        (count,) = fetch_row(connection, f"SELECT COUNT(*) FROM {of_parent} WHERE {name} IN ({given})", texts)
        if 2 * count >= len(texts):
            yield key.columns[0], int(count)
            return


def _question(name: str, column: str, lookup: Lookup, texts: Sequence[str], count: int) -> Decision:
    evidence = (
        f"{name}: {shortened(texts[0])} is no number for {column}; {lookup.table} has {count:,} of"
        f" {count_of(len(texts), 'value')} as its {lookup.column}."
    )
    flag, shown = f"--map '{name}={column}:", tuple(texts[:MOST_SHOWN])
    found = f"the number of the row of {lookup.table} with that {lookup.column}"
    answers = (
        Answer("as they are: bad rows", f"{flag}plain'", (("lookup", None),), shown),
        Answer(found, f"{flag}{lookup.words}'", (("lookup", lookup),), shown),
    )
    return Decision("lookup", "as they are", Standing.GUESSED, evidence, name, answers)


def _column(parent: Table, name: str) -> Column:
    if name.lower() not in {each.lower() for each in parent.column_names}:
        raise Problem(f"{parent.name} has no column {name}.", advice=f"It has {', '.join(parent.column_names)}.")
    return parent.column(name)


def _key(connection: Connection, table: Table, column: Column, parent: Table) -> str:
    """The column of the parent whose value goes into the column: that of its foreign key, else the primary key."""
    for schema, name, key in fetch_all(connection, _PARENTS, (table.schema, table.name, column.name)):
        if (schema, name) == (parent.schema, parent.name):
            return str(key)
    if len(parent.primary_key) != 1:
        raise Problem(
            f"{column.name} does not reference {parent.name}, whose primary key is not one column.",
            advice="Give the column a foreign key.",
        )
    return parent.primary_key[0]

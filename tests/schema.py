"""The tables of a database of the application as its server describes them, to compare the ways that they were made.

The order of columns does not count, and of names only those that models state: others have a digest of what was there.
"""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from django.apps import apps

from importer.engine.mysql.connection import Address, connect, fetch_all, fetch_row
from importer.engine.mysql.quoting import quote_name, quote_table

# Strings and quoted names, what separates and encloses, and the rest.
TOKENS = re.compile(r"""'(?:[^']|'')*'|"[^"]*"|`[^`]*`|[(),]|[^'"`(),]+""")
NAMED = re.compile(r'(CONSTRAINT|(?:CREATE )?(?:UNIQUE )?(?:KEY|INDEX)) [`"]([^`"]+)[`"] ')
# Django fills the rows that are there by a default, which it takes away again, but not for JSON in MySQL.
DEFAULT_OF_JSON = re.compile(r"( json .*) DEFAULT \(_utf8mb4'(?:\[\]|\{\})'\)")
COUNTER = re.compile(r" AUTO_INCREMENT=\d+")


def schema_on_server(address: Address) -> dict[str, list[str]]:
    """What each table of a database of MySQL or MariaDB consists of."""
    schema = address.database
    # A connection with the application's own database is refused.
    with connect(replace(address, database="")) as connection:
        tables = [name for (name,) in fetch_all(connection, f"SHOW TABLES FROM {quote_name(schema)}")]
        made = {
            name: str(fetch_row(connection, f"SHOW CREATE TABLE {quote_table(schema, name)}")[1]) for name in tables
        }
    return {name: _definitions(sql) for name, sql in made.items()}


def schema_in_file(file: Path) -> dict[str, list[str]]:
    """What each table of a database of SQLite consists of, and its indexes."""
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as base:
        # SQLite itself writes the SQL of some of its own tables and indexes, and none for others.
        query = "SELECT name, sql FROM sqlite_master WHERE type = ? AND sql IS NOT NULL AND name NOT LIKE 'sqlite_%'"
        tables, indexes = (base.execute(query, (kind,)).fetchall() for kind in ("table", "index"))
    return {"": sorted(_without_digest(sql) for _, sql in indexes), **{name: _definitions(sql) for name, sql in tables}}


def _definitions(create_table: str) -> list[str]:
    """Columns, keys and constraints in CREATE TABLE, and the options after them, sorted."""
    stated = [_without_digest(DEFAULT_OF_JSON.sub(r"\1", each)) for each in _parts(create_table)]
    return sorted(COUNTER.sub("", each) for each in stated)


def _parts(create_table: str) -> Iterator[str]:
    """What stands between the commas within the outer parentheses, and what follows these."""
    part, depth = "", 0
    for token in TOKENS.findall(create_table.partition("(")[2]):
        depth += (token == "(") - (token == ")")
        if (token == "," and not depth) or depth < 0:
            yield " ".join(part.split())
            part, depth = "", max(depth, 0)
        else:
            part += token
    yield " ".join(part.split())


def _without_digest(definition: str) -> str:
    metas = [model._meta for model in apps.get_models()]
    stated = {each.name for meta in metas for each in (*meta.indexes, *meta.constraints)}
    return NAMED.sub(lambda found: found[0] if found[2] in stated else f"{found[1]} ", definition)

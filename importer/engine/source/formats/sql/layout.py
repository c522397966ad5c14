"""SQL dumps: which table is read, what its fields have, and their rows as records."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from importer.engine.errors import SourceProblem
from importer.engine.source.compression import Piece
from importer.engine.source.decisions import Decision, Standing
from importer.engine.source.dialect import Dialect
from importer.engine.source.formats.choice import Choice, Part, listed
from importer.engine.source.formats.contents import Contents
from importer.engine.source.formats.copy_records import CopyRecords, RowRefused
from importer.engine.source.formats.format import Layout, Wanted
from importer.engine.source.formats.sql.dump import COMPLETED, Dump, Rows
from importer.engine.source.formats.sql.values import FieldKind
from importer.engine.units import MIB

# Tables are looked for in so much of the dump before the import is planned, and rows at whose values it looks.
TABLES_BYTES = 512 * MIB
ROWS_LOOKED_AT = 1000
END_BYTES = 4096
TABLE = Choice("sql_table", "--sql-table", "table")
# What servers write with a type, and a new table does without: the width of whole numbers, and zeros before them.
_OF_NEW_TABLES = re.compile(r"(?<=int)\(\d+\)|(?<=year)\(4\)| +zerofill")
_CHANGES = ("DELETE", "UPDATE", "TRUNCATE")


def layout(contents: Contents, wanted: Wanted) -> Layout:
    """The tables of the dump, the one to read, and its fields."""
    dump = Dump(contents)
    statements: Counter[str] = Counter()
    fields: dict[str, tuple[str, ...]] = {}
    zones: dict[str, str] = {}
    unnamed: set[str] = set()
    for insert in dump.inserts(TABLES_BYTES):
        statements[insert.table] += 1
        zones.setdefault(insert.table, insert.zone)
        if insert.table not in fields:
            named = insert.columns or tuple(dump.created.get(insert.table, ()))
            if not named:
                unnamed.add(insert.table)
            fields[insert.table] = named or tuple(f"column_{at}" for at in range(1, dump.width() + 1))
        dump.text.end_insert()
    parts = [Part(name, fields[name], (_inserts(count),)) for name, count in statements.items()]
    part, decision = _choose(parts, wanted)
    zone = zones[part.name]
    chosen = {"sql_table": part.name, "header": part.name not in unnamed, "time_zone": zone}
    created = dump.created.get(part.name, {})
    types = tuple(_OF_NEW_TABLES.sub("", created.get(name, "")) for name in part.fields) if created else ()
    of_zone = _time_zone(zone) if dump.may_have_moments(part.name) else ()
    decisions = (decision, *_types(types), *of_zone, *_other_statements(dump), *_missing_end(dump, contents))
    kinds = _kinds_of_types(created, part.fields) if created else _kinds(contents, part.name, part.fields)
    of_bytes = frozenset(at for at, kind in enumerate(kinds) if kind is FieldKind.BYTES)
    key = _key(dump.keys.get(part.name, ()), part.fields)
    return Layout(part.fields, chosen, decisions, types=types, of_bytes=of_bytes, primary_key=key)


def _key(names: Sequence[str], fields: Sequence[str]) -> tuple[int, ...]:
    """The positions of the fields of a key; () if a column of it is no field."""
    return tuple(map(fields.index, names)) if {*names} <= {*fields} else ()


def _types(types: Sequence[str]) -> Iterator[Decision]:
    if types:
        yield Decision("types", ", ".join(types), Standing.PROVED, "CREATE TABLE in the dump states the types.")


def _time_zone(zone: str) -> Iterator[Decision]:
    if zone:
        evidence = f"The dump sets the time zone {zone}: the values of its TIMESTAMP columns are times there."
        yield Decision("time_zone", zone, Standing.PROVED, evidence)


def _inserts(count: int) -> str:
    return f"{count:,} INSERT statement{'' if count == 1 else 's'}"


def _choose(parts: Sequence[Part], wanted: Wanted) -> tuple[Part, Decision]:
    if not parts:
        raise SourceProblem(
            "The SQL has no INSERT or REPLACE with rows.",
            advice="Nothing of it is executed. Run it with the mysql client: mysql DATABASE < FILE.",
        )
    stated = wanted.stated.get("sql_table", "")
    if not stated:
        return TABLE.of(parts, wanted.columns)
    found = next((part for part in parts if part.name == stated), None)
    if found is None:
        names = listed([part.name for part in parts])
        raise SourceProblem(f"The dump has no rows for a table {stated}.", advice=f"It has some for {names}.")
    return TABLE.stated(found)


def _other_statements(dump: Dump) -> Iterator[Decision]:
    """What the dump has apart from rows, and that it is not executed."""
    if not dump.others:
        return
    names = ", ".join(f"{count:,} {word}" for word, count in sorted(dump.others.items()))
    changing = " or ".join(word for word in _CHANGES if word in dump.others)
    also = f" Rows that {changing} would change or remove arrive as they were inserted." if changing else ""
    yield Decision("statements", "skipped", Standing.RULE, f"Other statements are not executed: {names}.{also}")


def _missing_end(dump: Dump, contents: Contents) -> Iterator[Decision]:
    """A warning about a dump without the last line that its program writes: statements may be missing behind it.

    Of a larger dump than TABLES_BYTES only the last bytes are looked at. They are not known of one that is packed or
    not in UTF-8.
    """
    if not dump.open:
        return
    if dump.text.next() and COMPLETED in (contents.end(END_BYTES) or COMPLETED):
        return
    evidence = (
        f"The dump ends without the line “-- {COMPLETED.decode()}” that its program writes last: it may have been cut"
        " behind a statement. Compare it with the original."
    )
    yield Decision("dump_end", "missing", Standing.RULE, evidence)


def _kinds_of_types(created: Mapping[str, str], fields: Sequence[str]) -> list[FieldKind]:
    return [FieldKind.of_type(created.get(name, "")) for name in fields]


def _kinds(contents: Contents, table: str, fields: Sequence[str]) -> list[FieldKind]:
    """What each field has: by its column's type in the dump, else by the literals of the first rows."""
    dump = Dump(contents)
    kinds: list[FieldKind] = [FieldKind.PLAIN] * len(fields)
    looked_at = 0
    for insert in dump.inserts(TABLES_BYTES):
        if insert.table != table:
            dump.text.skip_statement()
            continue
        if created := dump.created.get(insert.table):
            return _kinds_of_types(created, fields)
        rows = Rows(dump.text, fields)
        for found in islice(rows.kinds(insert), ROWS_LOOKED_AT - looked_at):
            kinds = [max(pair) for pair in zip(kinds, found, strict=True)]
            looked_at += 1
        if looked_at == ROWS_LOOKED_AT:
            break
    return kinds


def convert(contents: Contents, dialect: Dialect) -> Iterator[Piece]:
    """The records of the rows of the table."""
    kinds = _kinds(contents, dialect.sql_table, dialect.fields)
    dump, out = Dump(contents), CopyRecords(len(dialect.fields), tolerate=contents.tolerate)
    rows = Rows(dump.text, dialect.fields, kinds, contents.encoding)
    for insert in dump.inserts():
        if insert.table != dialect.sql_table:
            dump.text.skip_statement()
            continue
        dump.require_like_first(insert)
        for record, line, offset in rows.records(insert):
            full = out.refuse(record, line, offset) if isinstance(record, RowRefused) else out.add(record, line, offset)
            if full:
                yield out.piece(dump.text.used)
    yield from out.rest(dump.text.used)

"""Finds the keys that a file has more than once, where that stops an import (`--on-duplicate fail`)."""

from importer.engine.errors import BadRow, RowsRefused
from importer.engine.mysql.connection import LoaderConnection, fetch_all
from importer.engine.mysql.quoting import quote_name, quote_table
from importer.engine.target.staging import CHUNK, FILE, LINE, ROW, Staged, staging_name

FIRST_NAMED = 20


def refuse_repeats(connection: LoaderConnection, schema: str, job: str, staged: Staged) -> None:
    """Raise RowsRefused, with the first rows whose key an earlier row has, and the lines of both. NULL is no key."""
    columns = staged.keys[0]
    key = ", ".join(map(quote_name, columns))
    keyed = " AND ".join(f"{quote_name(name)} IS NOT NULL" for name in columns)
    stage = quote_table(schema, staging_name(job))
    if not fetch_all(connection, f"SELECT 1 FROM {stage} WHERE {keyed} GROUP BY {key} HAVING COUNT(*) > 1 LIMIT 1"):
        return
    found = fetch_all(
        connection,
        f"SELECT {LINE}, {FILE}, first_line, first_file, COUNT(*) OVER (), {key} FROM (SELECT {LINE}, {FILE}, {CHUNK},"
        f" {ROW}, FIRST_VALUE({LINE}) OVER w AS first_line, FIRST_VALUE({FILE}) OVER w AS first_file, ROW_NUMBER() OVER"
        f" w AS place, {key} FROM {stage} WHERE {keyed} WINDOW w AS (PARTITION BY {key} ORDER BY {CHUNK}, {ROW})) AS"
        f" numbered WHERE place > 1 ORDER BY {CHUNK}, {ROW} LIMIT {FIRST_NAMED}",
    )
    rows = tuple(
        BadRow(int(line), columns[0], ", ".join(map(str, values)), _reason(columns, file, first, first_file))
        for line, file, first, first_file, _, *values in found
    )
    line, file, *_ = found[0]
    raise RowsRefused(
        f"{rows[0].reason} (value {rows[0].value}); such rows: {int(found[0][4]):,}",
        where=", ".join(filter(None, (file, f"line {int(line):,}"))),
        advice=f"{staged.table} is unchanged. Leave one of them out, or let the last one win (--on-duplicate last).",
        rows=rows,
        bad_rows=int(found[0][4]),
    )


def _reason(columns: tuple[str, ...], file: str, first: int, first_file: str) -> str:
    of_file = "" if first_file == file else f" of {first_file}"
    return f"Line {first:,}{of_file} has the same key ({', '.join(columns)})."

"""Whether the account may load into a table and keep the ledger there, before an import begins."""

from importer.engine.errors import TargetProblem
from importer.engine.load import ledger
from importer.engine.mysql.connection import Connection, fetch_row
from importer.engine.schema.table import Table
from importer.engine.target.privileges import account, grant_on_table, lacks_privilege

WORDS = {"INSERT": "insert into", "SELECT": "read", "DELETE": "delete from", "CREATE": "create"}
# UPDATE: for rejected rows.
OF_LEDGER = ("INSERT", "SELECT", "UPDATE")


def check_rights(connection: Connection, table: Table, mode_stages: bool, on_duplicate: str) -> None:
    """Raise TargetProblem, with the GRANTs, if the account lacks what a load needs.

    A mode that stages needs more of the table's database (target/privileges.py). A right that may come from a role, or
    from a grant on columns, counts as given.
    """
    of_table = [] if mode_stages else ["INSERT", *(["DELETE"] if on_duplicate == "replace" else [])]
    found = [_lacking(connection, table.schema, table.name, of_table, ["INSERT", "SELECT", *of_table[1:]])]
    database = str(fetch_row(connection, "SELECT DATABASE()")[0])
    if ledger.exists(connection):
        found.append(_lacking(connection, database, ledger.TABLE, ["INSERT", "SELECT"], OF_LEDGER))
    else:
        found.append(_lacking(connection, database, ledger.TABLE, ["CREATE"], ("CREATE", *OF_LEDGER)))
    if lacking := list(filter(None, found)):
        raise TargetProblem(
            f"The account may not {', and not '.join(what for what, _ in lacking)}.",
            where=account(connection),
            advice=" ".join(statement for _, statement in lacking),
        )


def _lacking(
    connection: Connection, schema: str, name: str, needed: list[str], granted: list[str] | tuple[str, ...]
) -> tuple[str, str] | None:
    """What the account lacks of the `needed` rights on the table, and the GRANT of the rights `granted`; else None."""
    lacking = [right for right in needed if lacks_privilege(connection, schema, name, right)]
    if not lacking:
        return None
    verb = " or ".join(WORDS[right] for right in lacking)
    return f"{verb} {schema}.{name}", grant_on_table(connection, granted, schema, name)

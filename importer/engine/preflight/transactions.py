"""Checks that a load into this target can be rolled back, which loading exactly once needs."""

import uuid

import MySQLdb

from importer.engine.load import ledger
from importer.engine.mysql.connection import connect_loader, execute
from importer.engine.mysql.error_messages import message_of
from importer.engine.mysql.quoting import quote_name
from importer.engine.mysql.servers.kinds import GALERA
from importer.engine.preflight.finding import Finding, Subject
from importer.engine.preflight.load_probe import PROBE_ROWS, load_probe
from importer.engine.preflight.transaction_probe import unfit


def ledger_table(subject: Subject) -> Finding:
    """Create the ledger if it is missing and the account may; otherwise the fix has the SQL."""
    created = not ledger.exists(subject.connection)
    try:
        ledger.create(subject.connection)
    except MySQLdb.Error as error:
        return Finding(
            "ledger_table",
            "fail",
            f"There is no table {ledger.TABLE}, and this account could not create it: {message_of(error)}",
            f"USE {quote_name(subject.address.database)};\n{ledger.CREATE_SQL};",
        )
    what, remedy = ledger.flaw(subject.connection)
    if what:
        return Finding(
            "ledger_table",
            "fail",
            f"The table {ledger.TABLE} {what}.",
            f"ALTER TABLE {quote_name(subject.address.database)}.{ledger.TABLE} {remedy};",
        )
    state = "has been created" if created else "exists"
    return Finding("ledger_table", "ok", f"The table {ledger.TABLE} {state}: it prevents chunks from loading twice.")


def rollback(subject: Subject) -> Finding:
    """Load a few rows like a chunk, roll back, and count the rows that are left."""
    if not ledger.exists(subject.connection):
        return Finding(
            "rollback", "warn", f"Not tested, because there is no table {ledger.TABLE}.", "See ledger_table."
        )
    job = str(uuid.uuid4())
    loaded, method = _load_and_roll_back(subject, job)
    if loaded != PROBE_ROWS:
        message = f"{PROBE_ROWS} rows were sent and {loaded} arrived: {method} does not work correctly here."
        return Finding("rollback", "fail", message, "Connect to the server itself, not to a proxy in front of it.")
    left = _count(subject, job)
    if not left:
        return _held(subject, f"{PROBE_ROWS} rows were loaded by {method} and rolled back: none is left.")
    ledger.delete_if_allowed(subject.connection, job)
    return Finding(
        "rollback",
        "fail",
        f"{PROBE_ROWS} rows were loaded and rolled back, and {left} are still there: this server cannot undo a load, "
        "so a chunk that fails half-way would leave rows behind.",
        f"ALTER TABLE {quote_name(subject.address.database)}.{ledger.TABLE} ENGINE = InnoDB; in a Galera cluster also "
        "SET GLOBAL wsrep_load_data_splitting = OFF;",
    )


def _held(subject: Subject, message: str) -> Finding:
    """The finding of a server that rolls back: on one that nobody has tried, a second session is tried as well."""
    if not subject.server.careful:
        return Finding("rollback", "ok", message)
    if reason := unfit(subject.address):
        return Finding("rollback", "fail", reason, "Use the address of a MySQL or MariaDB server.")
    return Finding("rollback", "ok", f"{message} A second session waits for the first one's ledger row.")


def _load_and_roll_back(subject: Subject, job: str) -> tuple[int, str]:
    """The number of rows that the loading transaction saw before the rollback, and the method's title."""
    with connect_loader(subject.address) as loader:
        execute(loader, "START TRANSACTION")
        method = load_probe(loader, subject.server, subject.address.database, job)
        seen = len(ledger.rows_by_chunk(loader, job))
        execute(loader, "ROLLBACK")
    return seen, method.title


def _count(subject: Subject, job: str) -> int:
    return len(ledger.rows_by_chunk(subject.connection, job))


def writable(subject: Subject) -> Finding:
    """Whether the server accepts writes."""
    server = subject.server
    closed = [name for name in ("read_only", "super_read_only", "innodb_read_only", "offline_mode") if server.on(name)]
    if not closed:
        return Finding("writable", "ok", "The server accepts writes.")
    return Finding(
        "writable",
        "fail",
        f"The server does not accept writes: {' and '.join(closed)} is on, as on a replica.",
        "Use the primary's address. If this is the primary: "
        + " ".join(f"SET GLOBAL {name} = OFF;" for name in reversed(closed) if name != "innodb_read_only"),
    )


def cluster(subject: Subject) -> Finding:
    """Whether a Galera cluster splits LOAD DATA into commits of 10,000 rows (server-behaviour.md, LOAD DATA LOCAL)."""
    server = subject.server
    if not server.cluster:
        return Finding("cluster", "ok", "Not a Galera cluster.")
    if server.on("wsrep_load_data_splitting"):
        return Finding(
            "cluster",
            "fail",
            "A Galera cluster that commits in the middle of LOAD DATA: a load that fails would leave rows behind.",
            "SET GLOBAL wsrep_load_data_splitting = OFF; and the same in every node's my.cnf.",
        )
    return Finding(
        "cluster",
        "warn",
        " ".join(["A node of a Galera cluster.", *(rule.what for rule in GALERA.rules)]),
        GALERA.advice,
    )

"""Preflight checks of a target before its first import: one finding for each check, with the exact fix.

`check` raises no error for what it finds: a step that fails becomes a finding, and the others still run.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

import MySQLdb

from importer.engine.errors import TargetProblem
from importer.engine.mysql.connection import Address, Connection, connect
from importer.engine.mysql.error_messages import explain
from importer.engine.mysql.server_info import Server, read_server
from importer.engine.mysql.waits import ASKING_SECONDS, within
from importer.engine.preflight import access, leftovers, network, server_settings, transactions
from importer.engine.preflight.finding import Finding, Subject

Step = Callable[[Subject], Finding]

# Each step has the name of its finding. The steps of the server also run when the database is missing.
SERVER_STEPS: tuple[Step, ...] = (
    server_settings.version,
    access.tls,
    transactions.writable,
    server_settings.local_infile,
    access.excess_privileges,
    access.diagnosis,
    transactions.cluster,
    server_settings.auto_increment,
    server_settings.binary_log,
    server_settings.durability,
    server_settings.buffer_pool,
    server_settings.redo_log,
    server_settings.sql_mode,
)
DATABASE_STEPS: tuple[Step, ...] = (
    access.privileges,
    transactions.ledger_table,
    transactions.rollback,
    leftovers.arrangements,
    leftovers.scratch_tables,
    network.network,
)


@within(ASKING_SECONDS)
def check(address: Address, files_dir: str = "") -> list[Finding]:
    """Connect and run all steps; creates the ledger table if the account may. Takes about a second, two for a server on
    another machine.

    `files_dir` is the folder that the server may load files from, "" if none is configured.
    """
    try:
        with connect(address) as connection:
            return [
                _sign_in(access.signed_in, connection, address),
                *_findings(connection, address, DATABASE_STEPS, files_dir),
            ]
    except TargetProblem as problem:
        if not access.is_database_missing(problem):
            return [access.refused(address, problem)]
    return _check_without_database(address)


def _check_without_database(address: Address) -> list[Finding]:
    """Run the steps of the server, after the server accepted the account but not the database."""
    try:
        # Every account may use this database.
        with connect(replace(address, database="information_schema")) as connection:
            return [_sign_in(access.no_database, connection, address), *_findings(connection, address, ())]
    except TargetProblem as problem:
        return [access.refused(address, problem)]


def _sign_in(step: Callable[[Connection, Address], Finding], connection: Connection, address: Address) -> Finding:
    """The finding of a step that follows the sign-in; also if the server does not answer as one does."""
    try:
        with explain(str(address)):
            return step(connection, address)
    except TargetProblem as problem:
        if access.is_lost(problem):
            raise
        return Finding("sign_in", "fail", f"Signed in, but: {problem.what}", problem.advice)


def _findings(
    connection: MySQLdb.Connection, address: Address, more: tuple[Step, ...], files_dir: str = ""
) -> Iterator[Finding]:
    try:
        with explain(str(address)):
            server = replace(read_server(connection, address), files_dir=files_dir)
            subject = Subject(connection, address, server)
        for step in (*SERVER_STEPS, *more):
            yield _run(step, subject)
    except TargetProblem as problem:
        yield Finding("connection", "fail", f"The check was interrupted: {problem.what}", problem.advice)


def _where_changed(finding: Finding, server: Server) -> Finding:
    """The finding; if its fix is a server's setting, with the place where the server's host has them."""
    place = next((each.settings_in for each in server.kinds if each.settings_in), "")
    if not place or "my.cnf" not in finding.fix:
        return finding
    return replace(finding, fix=f"{finding.fix} On this host: in {place}.")


def _run(step: Step, subject: Subject) -> Finding:
    """The finding of one step. Raises TargetProblem only if the connection is lost, so that it is reported once."""
    try:
        with explain(str(subject.address)):
            return _where_changed(step(subject), subject.server)
    except TargetProblem as problem:
        if access.is_lost(problem):
            raise
        return Finding(step.__name__, "fail", f"This could not be checked: {problem.what}", problem.advice)

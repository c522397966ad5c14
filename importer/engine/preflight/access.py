"""Checks sign-in, encryption of the connection, and the privileges of the account."""

import MySQLdb
from MySQLdb.constants import ER

from importer.engine.errors import TargetProblem
from importer.engine.load import ledger
from importer.engine.mysql import error_messages
from importer.engine.mysql.connection import (
    Address,
    Connection,
    cipher,
    fetch_all,
    fetch_row,
)
from importer.engine.mysql.diagnosis.sessions import SEES_ALL_SESSIONS, SEES_LOCKS
from importer.engine.mysql.quoting import quote_name, quote_text
from importer.engine.mysql.server_info import is_loopback
from importer.engine.mysql.sign_in.encryption import CertificateRefused, NotEncrypted, TlsRequired
from importer.engine.mysql.sign_in.own_tables import OwnTables
from importer.engine.preflight.finding import Finding, Subject
from importer.engine.target.privileges import account, account_parts, grant, grantee, has_privilege

# What a server answers to an account that may not read something.
DENIED = (ER.SPECIFIC_ACCESS_DENIED_ERROR, ER.TABLEACCESS_DENIED_ERROR, ER.DBACCESS_DENIED_ERROR)
# Global privileges that loading does not need and that a stolen password must not grant.
EXCESS = ("SUPER", "FILE", "CREATE USER", "SHUTDOWN")


def error_number(problem: TargetProblem) -> int:
    """The error number, of the server or the client library, that caused the problem; 0 if there is none."""
    cause = problem.__cause__
    number = cause.args[0] if isinstance(cause, MySQLdb.Error) and cause.args else 0
    return number if isinstance(number, int) else 0


def is_lost(problem: TargetProblem) -> bool:
    """Whether the connection or the server is gone, so that no further step can succeed."""
    cause = problem.__cause__
    return isinstance(cause, MySQLdb.Error) and error_messages.is_lost(cause)


def is_database_missing(problem: TargetProblem) -> bool:
    return error_number(problem) in (ER.BAD_DB_ERROR, ER.DBACCESS_DENIED_ERROR)


def signed_in(connection: Connection, address: Address) -> Finding:
    return Finding("sign_in", "ok", f"Signed in at {address.host}:{address.port} as {account(connection)}.")


def no_database(connection: Connection, address: Address) -> Finding:
    """The finding if the server accepts the account but not the database.

    The database is missing, or the account may not use it. The server tells only some accounts which of the two it is.
    """
    name = quote_name(address.database)
    fix = grant(connection, [error_messages.RIGHTS], address.database, account(connection))
    return Finding(
        "sign_in",
        "fail",
        f"The server accepts {account(connection)}, but there is no database {address.database}, or this account may "
        "not use it.",
        f"CREATE DATABASE IF NOT EXISTS {name} CHARACTER SET utf8mb4;\n{fix}",
    )


def refused(address: Address, problem: TargetProblem) -> Finding:
    """The finding if there is no connection: the reason and the fix."""
    where = f"{address.host}:{address.port}"
    if isinstance(problem, OwnTables):
        return Finding("own_tables", "fail", problem.what, problem.advice)
    if isinstance(problem, NotEncrypted):
        return Finding("tls", "fail", problem.what, problem.advice, tls_to_offer="off")
    if isinstance(problem, CertificateRefused):
        return Finding("tls", "fail", problem.what, problem.advice, tls_to_offer="encrypt")
    if isinstance(problem, TlsRequired):
        offered = "encrypt" if is_loopback(address.host) else "verify"
        return Finding("tls", "fail", problem.what, problem.advice, tls_to_offer=offered)
    return Finding("sign_in", "fail", f"No connection to {where}: {problem.what}", _sign_in_fix(address, problem))


def _sign_in_fix(address: Address, problem: TargetProblem) -> str:
    user = quote_text(address.user)
    return {
        ER.ACCESS_DENIED_ERROR: f"{problem.advice} To set a new password, on the server: "
        f"ALTER USER {user}@'<host>' IDENTIFIED BY '<new password>';",
        ER.HOST_NOT_PRIVILEGED: "Allow the account to connect from this machine, on the server: "
        f"CREATE USER {user}@'<this machine>' IDENTIFIED BY '<password>';",
    }.get(error_number(problem), problem.advice)


def tls(subject: Subject) -> Finding:
    """Whether the connection is encrypted, by the client library; the server reports the TLS version only."""
    tls_mode, local = subject.address.tls, is_loopback(subject.address.host)
    if used := cipher(subject.connection):
        version = fetch_row(subject.connection, "SHOW SESSION STATUS LIKE 'Ssl_version'")[1]
        checked = "certificate and host name are checked" if tls_mode == "verify" else "the certificate is not checked"
        message = f"Encrypted with {version}, {used}; {checked}."
        if tls_mode == "verify" or local:
            return Finding("tls", "ok", message)
        return Finding(
            "tls",
            "warn",
            message,
            "Another machine on the network can pose as the server: set the target's TLS to verify.",
        )
    if local:
        return Finding("tls", "ok", "Off, which is fine: the server is on this machine.")
    message = "Off: other machines on the network can read the rows."
    return Finding("tls", "warn", message, "Set the target's TLS to verify, unless the network is private.")


def privileges(subject: Subject) -> Finding:
    """Whether the account has INSERT and SELECT on the database, and CREATE if the ledger does not exist yet."""
    needed = ["INSERT", "SELECT"] + ([] if ledger.exists(subject.connection) else ["CREATE"])
    database = subject.address.database
    missing = [right for right in needed if not has_privilege(subject.connection, database, right)]
    if not missing:
        return Finding("privileges", "ok", f"The account may {' and '.join(needed)} in {database}: all that is needed.")
    fix = grant(subject.connection, needed, database, account(subject.connection))
    tables = _granted_tables(subject)
    if ledger.TABLE in tables and len(tables) > 1:
        names = ", ".join(name for name in tables if name != ledger.TABLE)
        return Finding("privileges", "warn", f"The account may load into these tables only: {names}.", fix)
    return Finding("privileges", "fail", f"The account may not {' or '.join(missing)} in {database}.", fix)


def _granted_tables(subject: Subject) -> list[str]:
    """The tables on which the account itself (no role) has both INSERT and SELECT, by name."""
    rows = fetch_all(
        subject.connection,
        "SELECT TABLE_NAME FROM information_schema.TABLE_PRIVILEGES WHERE TABLE_SCHEMA = %s AND GRANTEE = %s"
        " AND PRIVILEGE_TYPE IN ('INSERT', 'SELECT') GROUP BY TABLE_NAME HAVING COUNT(*) = 2 ORDER BY TABLE_NAME",
        (subject.address.database, grantee(subject.connection)),
    )
    return [row[0] for row in rows]


def diagnosis(subject: Subject) -> Finding:
    """Whether the account sees what holds an import up: transactions and locks of other connections."""
    asked = [(SEES_ALL_SESSIONS, "SELECT 1 FROM information_schema.INNODB_TRX LIMIT 1")]
    if subject.server.flavour != "MariaDB":
        asked.append((SEES_LOCKS, "SELECT 1 FROM performance_schema.metadata_locks LIMIT 1"))
    missing = [fix for fix, sql in asked if not _may_read(subject.connection, sql)]
    if not missing:
        return Finding("diagnosis", "ok", "The account sees who holds a lock that an import waits for.")
    own = account(subject.connection)
    return Finding(
        "diagnosis",
        "warn",
        "The account does not see transactions and locks of others. Imports load all the same, but when one waits"
        " for a lock, its page cannot say who holds it.",
        ";\n".join(each.format(account=own) for each in missing) + ";",
    )


def _may_read(connection: Connection, sql: str) -> bool:
    try:
        fetch_all(connection, sql)
    except MySQLdb.Error as error:
        return error.args[0] not in DENIED
    return True


def excess_privileges(subject: Subject) -> Finding:
    """Whether the account has global privileges that loading does not need (EXCESS)."""
    rows = fetch_all(
        subject.connection,
        "SELECT PRIVILEGE_TYPE FROM information_schema.USER_PRIVILEGES WHERE GRANTEE = %s",
        (grantee(subject.connection),),
    )
    granted = {row[0] for row in rows}
    excess = [right for right in EXCESS if right in granted]
    if not excess:
        return Finding("excess_privileges", "ok", "The account has no excess privileges on the whole server.")
    host = account_parts(subject.connection)[1]
    own = f"'millrace'@{quote_text(host)}"
    return Finding(
        "excess_privileges",
        "warn",
        f"The account has privileges on the whole server ({', '.join(excess)}) that loading does not need.",
        f"CREATE USER {own} IDENTIFIED BY '<password>';\n"
        f"{grant(subject.connection, [error_messages.RIGHTS], subject.address.database, own)}\n"
        "Then use that account in the target.",
    )

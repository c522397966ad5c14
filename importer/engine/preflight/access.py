"""Whether the account gets in, how safe the way there is, and what it may do."""

import MySQLdb
from MySQLdb.constants import CR, ER

from importer.engine.errors import TargetProblem
from importer.engine.load import ledger
from importer.engine.mysql.connection import Address, Connection, NotEncrypted, cipher, fetch_all
from importer.engine.mysql.quoting import quote_name, quote_text
from importer.engine.mysql.server_info import is_loopback
from importer.engine.preflight.finding import Finding, Subject
from importer.engine.target.privileges import account, account_parts, grant, grantee, has_privilege

# Global rights that an account for loading has no use for, and that are dear to whoever steals its password.
EXCESS = ("SUPER", "FILE", "CREATE USER", "SHUTDOWN")


def error_number(problem: TargetProblem) -> int:
    """The server's or the client library's number of the error behind a problem; 0 if there is none."""
    cause = problem.__cause__
    number = cause.args[0] if isinstance(cause, MySQLdb.Error) and cause.args else 0
    return number if isinstance(number, int) else 0


def is_database_missing(problem: TargetProblem) -> bool:
    return error_number(problem) in (ER.BAD_DB_ERROR, ER.DBACCESS_DENIED_ERROR)


def signed_in(connection: Connection, address: Address) -> Finding:
    return Finding("sign_in", "ok", f"Signed in at {address.host}:{address.port} as {account(connection)}.")


def no_database(connection: Connection, address: Address) -> Finding:
    """The account gets in, its database does not exist or is closed to it; the server says which only to some."""
    name = quote_name(address.database)
    fix = grant(connection, ["INSERT", "SELECT", "CREATE"], address.database, account(connection))
    return Finding(
        "sign_in",
        "fail",
        f"The server is there and lets {account(connection)} in, but there is no database {address.database}, "
        "or this account may not see it.",
        f"CREATE DATABASE IF NOT EXISTS {name} CHARACTER SET utf8mb4;\n{fix}",
    )


def refused(address: Address, problem: TargetProblem) -> Finding:
    """No connection can be had: why, and what to do."""
    where = f"{address.host}:{address.port}"
    if isinstance(problem, NotEncrypted):
        return Finding("tls", "fail", problem.what, problem.advice)
    return Finding("sign_in", "fail", f"No connection to {where}: {problem.what}", _way_in(address, problem))


def _way_in(address: Address, problem: TargetProblem) -> str:
    user = quote_text(address.user)
    return {
        ER.ACCESS_DENIED_ERROR: "Check the target's user name and password. To set a new password, on the server: "
        f"ALTER USER {user}@'<host>' IDENTIFIED BY '<new password>';",
        ER.HOST_NOT_PRIVILEGED: "Let the account in from this machine, on the server: "
        f"CREATE USER {user}@'<this machine>' IDENTIFIED BY '<password>';",
        CR.SSL_CONNECTION_ERROR: "The server needs a certificate that this machine trusts; --tls-ca names its"
        " authority's file. --tls encrypt does not check it; --tls off is for this machine and trusted networks only.",
    }.get(error_number(problem), problem.advice)


def tls(subject: Subject) -> Finding:
    """The client library says whether the connection is encrypted, the server only with which version."""
    wanted, near = subject.address.tls, is_loopback(subject.address.host)
    if used := cipher(subject.connection):
        version = fetch_all(subject.connection, "SHOW SESSION STATUS LIKE 'Ssl_version'")[0][1]
        checked = "certificate and host name are checked" if wanted == "verify" else "the certificate is not checked"
        message = f"Encrypted with {version}, {used}; {checked}."
        if wanted == "verify" or near:
            return Finding("tls", "ok", message)
        return Finding("tls", "warn", message, "Whoever is in between can pose as the server: use --tls verify.")
    if near:
        return Finding("tls", "ok", "Off, which is fine: the server is on this machine.")
    message = "Off: everybody on the way can read the rows."
    return Finding("tls", "warn", message, "Use --tls verify, unless the network is yours alone.")


def privileges(subject: Subject) -> Finding:
    """INSERT and SELECT on the database, and CREATE as long as the ledger is not there."""
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
    """Tables for which the account itself has both INSERT and SELECT, in order."""
    rows = fetch_all(
        subject.connection,
        "SELECT TABLE_NAME FROM information_schema.TABLE_PRIVILEGES WHERE TABLE_SCHEMA = %s AND GRANTEE = %s"
        " AND PRIVILEGE_TYPE IN ('INSERT', 'SELECT') GROUP BY TABLE_NAME HAVING COUNT(*) = 2 ORDER BY TABLE_NAME",
        (subject.address.database, grantee(subject.connection)),
    )
    return [row[0] for row in rows]


def excess_privileges(subject: Subject) -> Finding:
    """Global rights that loading does not need."""
    rows = fetch_all(
        subject.connection,
        "SELECT PRIVILEGE_TYPE FROM information_schema.USER_PRIVILEGES WHERE GRANTEE = %s",
        (grantee(subject.connection),),
    )
    held = {row[0] for row in rows}
    found = [right for right in EXCESS if right in held]
    if not found:
        return Finding("excess_privileges", "ok", "The account has no rights over the whole server.")
    host = account_parts(subject.connection)[1]
    own = f"'millrace'@{quote_text(host)}"
    return Finding(
        "excess_privileges",
        "warn",
        f"The account has rights over the whole server ({', '.join(found)}) that loading does not need.",
        f"CREATE USER {own} IDENTIFIED BY '<password>';\n"
        f"{grant(subject.connection, ['INSERT', 'SELECT', 'CREATE'], subject.address.database, own)}\n"
        "Then use that account in the target.",
    )

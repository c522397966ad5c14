"""Why a connection cannot be encrypted as the target asks: the server offers no TLS, or a certificate not trusted."""

import MySQLdb
from MySQLdb.constants import CR, ER

from importer.engine.errors import TargetProblem
from importer.engine.mysql.error_messages import message_of

TURN_ON = "choose --tls verify, or --tls encrypt, which does not check the certificate"
# ER_SECURE_TRANSPORT_REQUIRED of MySQL. MariaDB 10.11, and both servers for an account with REQUIRE SSL, refuse such a
# connection with error 1045 (access denied), as they refuse a wrong password (seen on MariaDB 10.11 and MySQL 9.7).
_TLS_REQUIRED = 3159
MAY_BE_REQUIRED = f"If the account or the server requires TLS (REQUIRE SSL, require_secure_transport), {TURN_ON}."


class NotEncrypted(TargetProblem):
    """The target requires TLS, and the server offers none."""

    def __init__(self, where: str) -> None:
        super().__init__(
            "The target asks for TLS, but the server offers none.",
            where=where,
            advice="Give the server a certificate (ssl_cert and ssl_key in its my.cnf); or, on this machine or a"
            " trusted network only, choose --tls off for the target.",
        )


class CertificateRefused(TargetProblem):
    """The server offers TLS, and its certificate cannot be verified."""

    def __init__(self, where: str, reason: str) -> None:
        super().__init__(
            f"The server's certificate cannot be verified: {reason}.",
            where=where,
            advice="Name the file of the certificate's authority by --tls-ca; or, on this machine or a trusted network"
            " only, choose --tls encrypt for the target, which does not check the certificate.",
        )


class TlsRequired(TargetProblem):
    """The server refuses connections without TLS."""

    def __init__(self, where: str) -> None:
        super().__init__(
            "The server requires TLS (require_secure_transport).", where=where, advice=f"{TURN_ON.capitalize()}."
        )


def may_require_tls(error: BaseException | None, tls: str) -> bool:
    """Whether TLS may be what the server misses, and not the right password; `tls`: that of the target."""
    return tls == "off" and isinstance(error, MySQLdb.Error) and error.args[:1] == (ER.ACCESS_DENIED_ERROR,)


def tls_problem(error: MySQLdb.Error, where: str, tls: str) -> TargetProblem | None:
    """Tell a server that requires TLS, or has none, apart from a certificate that is not trusted; None for others.

    `where`: the server's address; `tls`: the target's "off", "encrypt" or "verify". Connector/C gives the last two the
    number 2026 (CR_SSL_CONNECTION_ERROR), and tells them apart in the text only.
    """
    if error.args[:1] == (_TLS_REQUIRED,):
        return TlsRequired(where)
    if error.args[:1] != (CR.SSL_CONNECTION_ERROR,):
        return None
    reason = message_of(error).removeprefix("TLS/SSL error: ").removesuffix(".")
    if reason.startswith("SSL is required"):
        return NotEncrypted(where)
    return CertificateRefused(where, reason) if tls == "verify" else None

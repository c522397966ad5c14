"""Why a connection cannot be encrypted as the target asks: the server offers no TLS, or a certificate not trusted."""

import MySQLdb
from MySQLdb.constants import CR

from importer.engine.errors import TargetProblem
from importer.engine.mysql.error_messages import message_of


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


def tls_problem(error: MySQLdb.Error, where: str, tls: str) -> TargetProblem | None:
    """Tell a server without TLS apart from a certificate that is not trusted; None for another error.

    `where`: the server's address; `tls`: the target's "off", "encrypt" or "verify". Connector/C gives both the number
    2026 (CR_SSL_CONNECTION_ERROR), and tells them apart in the text only.
    """
    if error.args[:1] != (CR.SSL_CONNECTION_ERROR,):
        return None
    reason = message_of(error).removeprefix("TLS/SSL error: ").removesuffix(".")
    if reason.startswith("SSL is required"):
        return NotEncrypted(where)
    return CertificateRefused(where, reason) if tls == "verify" else None

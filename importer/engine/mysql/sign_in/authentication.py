"""The authentication methods that a server may ask for: none that shows the password to it, or to somebody in between.

The server chooses the method, so a hostile one chooses the one that gives it the most. MariaDB Connector/C sends the
readable password for mysql_clear_password and dialog; for caching_sha2_password and sha256_password through any TLS,
even unchecked or not there at all, and else encrypted with a key that the server itself sends. It obeys a list of
allowed methods, `restricted-auth`, which mysqlclient passes on in an option file only (server-behaviour.md).
"""

import os
import re
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Protocol

import MySQLdb

from importer.engine.errors import TargetProblem
from importer.engine.mysql.error_messages import message_of

# A challenge is answered; the answer does not contain the password.
ALWAYS = ("mysql_native_password", "client_ed25519", "parsec")
# The password itself is sent, encrypted by TLS or by the server's public key, if the server has it not in its cache.
EXCHANGE = ("caching_sha2_password", "sha256_password")
# The password itself is sent. PAM accounts of MariaDB use dialog.
CLEAR = ("mysql_clear_password", "dialog")
# The client library's error for a method that is not on the list (errmsg.h, CR_PLUGIN_NOT_ALLOWED).
NOT_ALLOWED = 5010
# The first version that knows `restricted-auth`. Others ignore it.
OLDEST_LIBRARY = (3, 3)

GROUP = "millrace"
HOW_TO_ALLOW = (
    "Set the target's TLS to verify; or give the target the server's public key, with TLS off (docs/targets.md); or let"
    " the account sign in with mysql_native_password, on MariaDB ed25519. PAM and LDAP need TLS verify and"
    " --clear-password."
)


class PasswordWithheld(TargetProblem):
    """The server asked for the password by a method that would show it."""

    code = 1203


class Account(Protocol):
    """What decides about the methods (connection.Address)."""

    @property
    def password(self) -> str: ...
    @property
    def tls(self) -> str: ...
    @property
    def server_key(self) -> str: ...
    @property
    def clear_password(self) -> bool: ...


def methods(account: Account, *, on_this_machine: bool) -> tuple[str, ...]:
    """The methods that the server may ask for. `on_this_machine`: the connection stays on the loopback interface."""
    verified = account.tls == "verify"
    # Through TLS the client library sends the password without that key.
    pinned = bool(account.server_key) and account.tls == "off"
    allowed: tuple[str, ...] = ALWAYS
    if verified or pinned or on_this_machine or not account.password:
        allowed += EXCHANGE
    if verified and account.clear_password:
        allowed += CLEAR
    return allowed


@contextmanager
def method_options(account: Account, *, on_this_machine: bool) -> Iterator[dict[str, Any]]:
    """mysqlclient's keywords that restrict the methods, valid inside the block.

    Raises TargetProblem if the client library cannot restrict them, or no temporary file can be written.
    """
    _require_library()
    allowed = methods(account, on_this_machine=on_this_machine)
    with ExitStack() as held:
        try:
            folder = held.enter_context(tempfile.TemporaryDirectory(prefix="millrace-"))
            path = _write_options(Path(folder), account, allowed)
        except OSError as error:
            what = f"No temporary file can be written: {error}."
            raise TargetProblem(what, advice="Make room there, or name another folder in TMPDIR.") from error
        options = {"read_default_file": os.fspath(path), "read_default_group": GROUP}
        if EXCHANGE[0] not in allowed:
            # Else the library begins with the server's default method, and gives up before the account's own is named.
            options["auth_plugin"] = ALWAYS[0]
        yield options


def _write_options(folder: Path, account: Account, allowed: Iterable[str]) -> Path:
    """Write the client library's option file, with the server's key if one is pinned."""
    lines = [f"[{GROUP}]", f"restricted-auth={','.join(allowed)}"]
    if account.server_key:
        key = folder / "server-key.pem"
        key.write_text(f"{account.server_key}\n")
        lines.append(f"server-public-key={key}")
    path = folder / "options.cnf"
    path.write_text("\n".join([*lines, ""]))
    return path


def withheld(error: MySQLdb.Error, where: str) -> PasswordWithheld | None:
    """The problem, if the error says that the server asked for a method that is not allowed."""
    if error.args[:1] != (NOT_ALLOWED,):
        return None
    named = re.search(r"'(\w{1,64})'", message_of(error))
    method = f" ({named[1]})" if named else ""
    return PasswordWithheld(
        f"The server asks for the password by a method{method} that could show it to others. It was not sent.",
        where=where,
        advice=HOW_TO_ALLOW,
    )


def _require_library() -> None:
    version = MySQLdb.get_client_info()
    numbers = tuple(int(each) for each in re.findall(r"\d+", version)[:2])
    # MySQL's own library has the version of its server, 8.0 or later.
    if not OLDEST_LIBRARY <= numbers < (5, 0):
        raise TargetProblem(
            f"The database client library {version} cannot refuse to send a readable password.",
            advice="Install MariaDB Connector/C 3.3 or later, and mysqlclient again.",
        )

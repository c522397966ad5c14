"""SFTP servers as the account that runs the command reaches them: its known hosts, its agent, its keys."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import paramiko

from importer.connections.protocols.sftp import PORT, SftpServer, fingerprint
from importer.engine.errors import SourceProblem
from importer.models import SourceConnection

SSH = "~/.ssh"
# Private keys without a passphrase, as ssh tries them; others come from the agent.
KEYS = {"id_ed25519": paramiko.Ed25519Key, "id_ecdsa": paramiko.ECDSAKey, "id_rsa": paramiko.RSAKey}


def open_location(connection: SourceConnection) -> "OwnSftp":
    return OwnSftp(connection)


class OwnSftp(SftpServer):
    """The files below sftp://HOST:PORT/PATH, of a host in ~/.ssh/known_hosts."""

    def _prepare(self, transport: paramiko.Transport) -> None:
        """Ask for a key of a kind that is known: a host may have several."""
        known = {name for name, _ in self._known_keys()}
        options = transport.get_security_options()
        options.key_types = tuple(sorted(options.key_types, key=lambda kind: _base_type(kind) not in known))

    def _require_known(self, transport: paramiko.Transport) -> None:
        shown = transport.get_remote_server_key()
        if fingerprint(shown) in (fingerprint(key) for _, key in self._known_keys()):
            return
        raise SourceProblem(
            f"The server shows the key {fingerprint(shown)}, which is not in {SSH}/known_hosts.",
            self._connection.base,
            "Compare it with what the server's owner says, and connect once with ssh to confirm it.",
        )

    def _sign_in(self, transport: paramiko.Transport) -> None:
        user = self._connection.settings.get("user", "")
        for key in _own_keys():
            with suppress(paramiko.AuthenticationException):
                transport.auth_publickey(user, key)
                return
        raise SourceProblem(
            "The server takes no key of your account.",
            self._connection.base,
            "Add one to the SSH agent (ssh-add), or let an admin store the account as a connection.",
        )

    def _known_keys(self) -> list[tuple[str, paramiko.PKey]]:
        hosts = paramiko.HostKeys()
        with suppress(FileNotFoundError):
            hosts.load(str(Path(SSH, "known_hosts").expanduser()))
        port = self._port or PORT
        found = hosts.lookup(self._host if port == PORT else f"[{self._host}]:{port}")
        return [(name, key) for name, key in found.items()] if found else []


def _base_type(kind: str) -> str:
    """The type of a key as known_hosts has it: ssh-rsa also for its newer signatures."""
    return "ssh-rsa" if kind.startswith("rsa-sha2-") else kind


def _own_keys() -> Iterator[paramiko.PKey]:
    yield from paramiko.Agent().get_keys()
    for name, kind in KEYS.items():
        # A key with a passphrase is the agent's to use.
        with suppress(FileNotFoundError, paramiko.SSHException):
            yield kind.from_private_key_file(str(Path(SSH, name).expanduser()))

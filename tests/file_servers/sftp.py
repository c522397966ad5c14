"""An SFTP server on loopback."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import asyncssh


class _SshAccount(asyncssh.SSHServer):
    """Accepts the user "me" with the password "secret", or with a key in `keys`."""

    def __init__(self, keys: list[asyncssh.SSHKey]) -> None:
        self.keys = keys

    def begin_auth(self, username: str) -> bool:
        return True

    def password_auth_supported(self) -> bool:
        return True

    def validate_password(self, username: str, password: str) -> bool:
        return (username, password) == ("me", "secret")

    def public_key_auth_supported(self) -> bool:
        return True

    def validate_public_key(self, username: str, key: asyncssh.SSHKey) -> bool:
        return username == "me" and key in self.keys


@dataclass(frozen=True)
class SftpFiles:
    """An SFTP server for `root` at `url`.

    `host_key` is the fingerprint of its key `public_key`; `private_key` signs in.
    """

    url: str
    root: Path
    host_key: str
    private_key: str
    public_key: str


@contextmanager
def sftp_files(root: Path) -> Iterator[SftpFiles]:
    host_key, key = asyncssh.generate_private_key("ssh-ed25519"), asyncssh.generate_private_key("ssh-ed25519")
    keys = [key.convert_to_public()]
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()

    async def listen() -> asyncssh.SSHAcceptor:
        return await asyncssh.listen(
            "127.0.0.1",
            0,
            server_factory=lambda: _SshAccount(keys),
            server_host_keys=[host_key],
            # Both factories belong to this server: several servers run at the same time in one test process.
            sftp_factory=lambda channel: asyncssh.SFTPServer(channel, chroot=str(root)),
        )

    server = asyncio.run_coroutine_threadsafe(listen(), loop).result(30)
    yield SftpFiles(
        f"sftp://127.0.0.1:{server.get_port()}",
        root,
        host_key.get_fingerprint("sha256"),
        key.export_private_key("openssh").decode(),
        host_key.export_public_key().decode().strip(),
    )
    loop.call_soon_threadsafe(server.close)
    asyncio.run_coroutine_threadsafe(server.wait_closed(), loop).result(30)
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()

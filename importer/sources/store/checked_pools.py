"""Connections of botocore that go only to an address that was checked, like those of all other protocols.

As botocore keeps them, their bounds hold for each request anew.
"""

import socket
from typing import Any

from botocore.awsrequest import (
    AWSHTTPConnection,
    AWSHTTPConnectionPool,
    AWSHTTPSConnection,
    AWSHTTPSConnectionPool,
)
from urllib3.exceptions import NewConnectionError

from importer.security import outbound_waits
from importer.security.outbound_addresses import connect_checked


def check_addresses(client: Any, *, private_allowed: bool | None) -> None:
    """Let the client connect to no forbidden address: a name may have another address at each look-up.

    botocore has no option for that, so its pools get other classes. The client must use no proxy. None: all addresses
    are allowed.
    """
    client._endpoint.http_session._manager.pool_classes_by_scheme = {
        "http": _pool_class(AWSHTTPConnectionPool, AWSHTTPConnection, private_allowed),
        "https": _pool_class(AWSHTTPSConnectionPool, AWSHTTPSConnection, private_allowed),
    }


def _pool_class(pool: type, connection: Any, private_allowed: bool | None) -> type:
    class Checked(connection):  # type: ignore[misc]
        def _new_conn(self) -> socket.socket:
            if private_allowed is None:
                opened: socket.socket = super()._new_conn()
                return opened
            try:
                made = connect_checked(self.host, self.port, private_allowed=private_allowed, seconds=self.timeout)
            except OSError as error:
                raise NewConnectionError(self, str(error)) from error
            for option in self.socket_options or ():
                made.setsockopt(*option)
            return made

        def request(self, *args: Any, **options: Any) -> None:
            if self.sock:
                outbound_waits.bound(self.sock)
            super().request(*args, **options)

    return type("CheckedPool", (pool,), {"ConnectionCls": Checked})

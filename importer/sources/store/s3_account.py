"""Where an S3 store answers, and who asks. Nothing here imports botocore before it is needed: it takes 20 MB."""

import os
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class S3Account:
    """Where a store answers, and who asks. What is empty comes from the environment or the role of this server.

    `private_allowed`: whether the endpoint may have an address inside a network; None: its addresses are not checked,
    because the settings of this server name it. `quick`: for a question whose answer somebody waits for; a silent store
    is given up after seconds.
    """

    endpoint: str
    region: str
    access_key: str
    secret_key: str = field(repr=False)
    tls_ca: str = ""
    private_allowed: bool | None = None
    quick: bool = False

    @property
    def client(self) -> Any:
        """The client of this process: child processes must not share its connections."""
        from importer.sources.store.s3_client import cached_client

        keys = (self.access_key, self.secret_key)
        where = (self.endpoint, self.region)
        return cached_client(*where, keys, self.tls_ca, self.private_allowed, self.quick, os.getpid())

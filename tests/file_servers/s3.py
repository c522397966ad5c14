"""A store with S3 on loopback."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import botocore.session
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from importer.management.processes.private_servers import free_port


class S3Files:
    """A SeaweedFS with S3 on it, one process that listens on one address; `client` is an admin's."""

    key, secret = "key", "secret-of-the-key"

    def __init__(self, folder: Path, address: str = "127.0.0.1") -> None:
        self._folder = folder
        ports = [free_port() for _ in range(8)]
        self.url = f"http://{address}:{ports[0]}"
        rights = {
            "name": "all",
            "actions": ["Admin"],
            "credentials": [{"accessKey": self.key, "secretKey": self.secret}],
        }
        (folder / "s3.json").write_text(json.dumps({"identities": [rights]}))
        names = (
            "s3",
            "s3.port.grpc",
            "master",
            "master.port.grpc",
            "volume",
            "volume.port.grpc",
            "filer",
            "filer.port.grpc",
        )
        flags = [f"-{name if '.' in name else f'{name}.port'}={port}" for name, port in zip(names, ports, strict=True)]
        flags += [
            "-s3",
            "-s3.port.iceberg=0",
            "-s3.port.lance=0",
            f"-s3.config={folder / 's3.json'}",
            f"-dir={folder}",
            f"-ip={address}",
        ]
        flags += [f"-ip.bind={address}", "-volume.max=5", "-master.volumeSizeLimitMB=64", "-master.telemetry=false"]
        self._command = [str(Path(sys.executable).with_name("weed")), "server", *flags]
        self.start()
        try:
            self.client = self._connect()
        except BaseException:
            self.stop()
            raise

    def start(self) -> None:
        """Start it, also after stop(): with the objects that it had."""
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(self._command, cwd=self._folder, stdout=log, stderr=log)

    def _connect(self) -> Any:
        client = botocore.session.get_session().create_client(
            "s3",
            region_name="us-east-1",
            endpoint_url=self.url,
            aws_access_key_id=self.key,
            aws_secret_access_key=self.secret,
            config=Config(retries={"max_attempts": 1}, request_checksum_calculation="when_required"),
        )
        until = time.monotonic() + 60
        while True:
            try:
                client.create_bucket(Bucket="files")
                client.put_object(Bucket="files", Key="ready", Body=b"yes")
                return client
            except (BotoCoreError, ClientError) as error:
                if self._process.poll() is not None or time.monotonic() > until:
                    raise RuntimeError((self._folder / "log").read_text()[-2000:]) from error
                if "BucketAlready" in str(error):
                    client.delete_bucket(Bucket="files")
                time.sleep(0.1)

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()


@contextmanager
def s3_files(folder: Path, address: str = "127.0.0.1") -> Iterator[S3Files]:
    server = S3Files(folder, address)
    try:
        yield server
    finally:
        server.stop()

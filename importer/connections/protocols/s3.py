"""Objects in a bucket of S3 or a compatible store, read in ranges without a copy.

Each range is requested with If-Match and the object's ETag, so that the request fails if the object was replaced.
"""

import gzip
import json
import os
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import botocore.session
import xxhash
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from botocore.loaders import JSONFileLoader, Loader
from django.contrib.auth.models import User

from importer.connections import download
from importer.connections.file_pattern import Pattern
from importer.connections.listed_files import ListedFile, refuse_too_many, sorted_by_name
from importer.connections.protocols.folder import is_unfinished
from importer.engine.errors import NoConnection, SourceChanged, SourceProblem
from importer.engine.preflight.finding import Finding
from importer.engine.units import MIB
from importer.models import SourceConnection, SourceFile
from importer.security.outbound_addresses import check_host

# Bytes per request: the round trip takes as long as some megabytes. Two windows may be in memory.
WINDOW = 2 * MIB
LONGEST_PATH = 1024
LARGEST_COPY = 5 * 2**30  # bytes that one request may copy (S3 API, CopyObject)

MISSING = ("404", "NoSuchKey", "NotFound")
CHANGED = ("412", "PreconditionFailed")
REFUSED = ("401", "403", "AccessDenied", "InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken")


def open_location(connection: SourceConnection) -> "Bucket":
    return Bucket(connection)


class Bucket:
    """The objects below s3://BUCKET/PREFIX."""

    def __init__(self, connection: SourceConnection) -> None:
        self._connection = connection
        self._bucket, _, prefix = connection.base.removeprefix("s3://").partition("/")
        self._prefix = f"{prefix}/" if prefix else ""

    def find(self, pattern: Pattern) -> list[ListedFile]:
        """The matching objects. They are listed page by page, with the pattern's fixed beginning as prefix."""
        files: list[ListedFile] = []
        for each in self._listed(pattern):
            name = each["Key"].removeprefix(self._prefix)
            # A key that ends in "/" is a folder's placeholder.
            if name[-1:] not in ("", "/") and pattern.matches(name) and not any(map(is_unfinished, name.split("/"))):
                files.append(ListedFile(name, each["Size"], each["LastModified"], each["ETag"]))
                refuse_too_many(len(files), self._connection.base)
        return sorted_by_name(files, self._connection.base)

    def folders(self, folder: tuple[str, ...]) -> list[str]:
        """The next part of each key that lies deeper than a folder."""
        prefix = self._prefix + "".join(f"{part}/" for part in folder)
        found: list[str] = []
        with self._translated_errors("/".join(folder)):
            pages = self._client.get_paginator("list_objects_v2")
            for page in pages.paginate(Bucket=self._bucket, Prefix=prefix, Delimiter="/"):
                found += [each["Prefix"].removeprefix(prefix).rstrip("/") for each in page.get("CommonPrefixes", ())]
                refuse_too_many(len(found), self._connection.base)
        return sorted(each for each in found if each and not is_unfinished(each))

    def head(self, file: ListedFile, size: int) -> bytes:
        return self.read(file.name, file.etag, 0, min(size, file.size or 0)) if file.size else b""

    def _listed(self, pattern: Pattern) -> Iterator[dict[str, Any]]:
        only_here = not pattern.subfolders and len(pattern.folders) == len(pattern.parts) - 1
        request = {"Bucket": self._bucket, "Prefix": self._prefix + pattern.prefix}
        with self._translated_errors(pattern.text):
            pages = self._client.get_paginator("list_objects_v2")
            for page in pages.paginate(**request, **({"Delimiter": "/"} if only_here else {})):
                yield from page.get("Contents", ())

    def fetch(self, file: ListedFile, user: User | None) -> SourceFile:
        """A reference to the object, without a copy.

        Its fingerprint is made of ETag and size: hashing the content would take as long as loading it.
        """
        del user  # Not an upload: the object keeps its owner.
        path = f"{self._connection.base}/{file.name}"
        if len(path) > LONGEST_PATH:
            raise SourceProblem(f"The name has more than {LONGEST_PATH} characters.", path, "Use a shorter one.")
        with self.opened(file.name, file.etag) as ranges:
            if not ranges.size:
                raise SourceProblem("The file is empty.", path, "Look at what writes it.")
            content = xxhash.xxh3_128_hexdigest(f"s3 {file.etag} {ranges.size}".encode())
            return download.register_in_place(self._connection, file, path, ranges.size, content)

    @contextmanager
    def opened(self, name: str, etag: str) -> Iterator["ObjectRanges"]:
        with self._translated_errors(name):
            seen = self._client.head_object(Bucket=self._bucket, Key=self._prefix + name, IfMatch=etag)
        with ExitStack() as later:
            yield ObjectRanges(partial(self.read, name, etag), seen["ContentLength"], later)

    def read(self, name: str, etag: str, offset: int, length: int) -> bytes:
        """`length` bytes from `offset` on of version `etag`. Raises SourceChanged if the object was replaced."""
        wanted = f"bytes={offset}-{offset + length - 1}"
        with self._translated_errors(name):
            answer = self._client.get_object(Bucket=self._bucket, Key=self._prefix + name, IfMatch=etag, Range=wanted)
            data: bytes = answer["Body"].read()
            return data

    def move(self, file: ListedFile, folder: str) -> None:
        to = f"{folder}/{file.name.rpartition('/')[2]}"
        there, here = self._etag(to), self._etag(file.name)
        if there and there != file.etag:
            raise SourceProblem(
                f"There is a {to} already.", self._connection.base, "Rename or remove one of them; put a date into it."
            )
        if here is None and there:
            return
        if not there:
            self._copy(file, to)
        self.delete(file)

    def _copy(self, file: ListedFile, to: str) -> None:
        if (file.size or 0) > LARGEST_COPY:
            raise SourceProblem("Objects of more than 5 GiB cannot be moved.", file.name, "Keep or delete it.")
        source = {"Bucket": self._bucket, "Key": self._prefix + file.name}
        with self._translated_errors(file.name):
            self._client.copy_object(
                Bucket=self._bucket, Key=self._prefix + to, CopySource=source, CopySourceIfMatch=file.etag
            )

    def delete(self, file: ListedFile) -> None:
        here = self._etag(file.name)
        if here is None:
            return
        if here != file.etag:
            raise self._changed(file.name)
        with self._translated_errors(file.name):
            self._client.delete_object(Bucket=self._bucket, Key=self._prefix + file.name)

    def _etag(self, name: str) -> str | None:
        """The object's current ETag; None if it does not exist."""
        with self._translated_errors(name):
            try:
                return str(self._client.head_object(Bucket=self._bucket, Key=self._prefix + name)["ETag"])
            except ClientError as error:
                if _code(error) in MISSING:
                    return None
                raise

    def check(self) -> Iterator[Finding]:
        with self._translated_errors(""):
            page = self._client.list_objects_v2(Bucket=self._bucket, Prefix=self._prefix, MaxKeys=1000)
        count = len(page.get("Contents", ()))
        more = "or more " if page.get("IsTruncated") else ""
        yield Finding("connection", "ok", f"The bucket can be listed: {count:,} {more}objects in {self._connection}.")
        if str(self._connection.settings.get("endpoint", "")).startswith("http:"):
            yield Finding("encryption", "warn", "Nothing is encrypted on the way.", "Use https:// if the server can.")

    @property
    def _client(self) -> Any:
        options, secrets = self._connection.settings, self._connection.secrets
        if endpoint := options.get("endpoint", ""):
            check_host(endpoint, private_allowed=self._connection.private_allowed)
        return _client(
            endpoint,
            options.get("region", ""),
            options.get("access_key", ""),
            secrets.get("secret_key", ""),
            options.get("tls_ca", ""),
            os.getpid(),
        )

    @contextmanager
    def _translated_errors(self, name: str) -> Iterator[None]:
        where = f"{self._connection.base}/{name}".rstrip("/")
        try:
            yield
        except ClientError as error:
            code = _code(error)
            if code in CHANGED:
                raise self._changed(name) from error
            reason = error.response["Error"].get("Message") or code
            if code in MISSING:
                raise SourceProblem("This is not there.", where, "Put it back, or correct the name.") from error
            if code in REFUSED:
                raise NoConnection(f"The store refuses it: {reason}.", where, "Look at the keys.") from error
            raise SourceProblem(f"The store answers {code}: {reason}.", where, "Try again later.", True) from error
        except (BotoCoreError, OSError) as error:
            raise NoConnection(f"The store cannot be read: {error}.", where, "Try again later.", True) from error

    def _changed(self, name: str) -> SourceChanged:
        return SourceChanged(
            "The object is no longer the one that was found.",
            f"{self._connection.base}/{name}",
            "Look for it again. It stays as it is.",
        )


class ObjectRanges:
    """One version of an object as a Readable (engine/source/byte_source.py). The latest window stays in memory.

    From the second consecutive window on, the next one is requested while the current one is read. The first window
    requests none ahead, because a small chunk ends in it.
    """

    def __init__(self, request: Callable[[int, int], bytes], size: int, later: ExitStack) -> None:
        self._request = request
        self._begin, self._window = 0, b""
        self._ahead: Future[bytes] | None = None
        self._thread = ThreadPoolExecutor(1)
        # Do not wait for a pending request: its answer is not needed any more.
        later.callback(self._thread.shutdown, wait=False, cancel_futures=True)
        self.size = size

    def read(self, offset: int, length: int) -> bytes:
        """Up to `length` bytes from `offset` on, b"" at the end. Raises SourceProblem, SourceChanged."""
        length = min(length, self.size - offset)
        if length <= 0:
            return b""
        at = offset - self._begin
        if at < 0 or at + length > len(self._window):
            self._move(offset, length)
            at = 0
        return self._window[at : at + length]

    def _move(self, offset: int, length: int) -> None:
        """Move the window to `offset`, with at least `length` bytes."""
        consecutive = bool(self._window) and 0 <= offset - self._begin <= len(self._window)
        window = self._window[offset - self._begin :] if consecutive else b""
        ahead, self._ahead = self._ahead, None
        if consecutive and ahead:
            window += ahead.result()
        if len(window) < length:
            begin = offset + len(window)
            window += self._request(begin, min(max(length - len(window), WINDOW), self.size - begin))
        self._begin, self._window = offset, window
        end = offset + len(window)
        if consecutive and end < self.size:
            self._ahead = self._thread.submit(self._request, end, min(WINDOW, self.size - end))


def _code(error: ClientError) -> str:
    return str(error.response.get("Error", {}).get("Code", ""))


class _OfS3(JSONFileLoader):  # type: ignore[misc]
    """botocore's service descriptions without documentation and other services: saves 7 MB in each worker."""

    def load_file(self, file_path: str) -> Any:
        for ending, opened in ((".json", open), (".json.gz", gzip.open)):
            if Path(file_path + ending).is_file():
                with opened(file_path + ending, "rb") as file:
                    description = json.load(file, object_hook=_without_words)
                for each in description.get("partitions", ()):
                    if "services" in each:
                        each["services"] = {"s3": each["services"].get("s3", {})}
                return description
        return None


def _without_words(described: dict[str, Any]) -> dict[str, Any]:
    if isinstance(described.get("documentation"), str):
        described["documentation"] = ""
    return described


@lru_cache(maxsize=1)
def _descriptions() -> Loader:
    """botocore's descriptions of S3, read once: each client would read them again."""
    return Loader(file_loader=_OfS3())


@lru_cache(maxsize=16)
def _client(endpoint: str, region: str, access_key: str, secret_key: str, tls_ca: str, _process: int) -> Any:
    """A botocore client, cached because creating one takes 0.1 s. Child processes must not share its connections."""
    session = botocore.session.get_session()
    session.register_component("data_loader", _descriptions())
    return session.create_client(
        "s3",
        region_name=region or None,
        endpoint_url=endpoint or None,
        aws_access_key_id=access_key or None,
        aws_secret_access_key=secret_key or None,
        verify=tls_ca or None,
        config=Config(
            connect_timeout=10,
            read_timeout=60,
            retries={"max_attempts": 3, "mode": "standard"},
            s3={"addressing_style": "path" if endpoint else "auto"},
            # Stores other than Amazon's do not know the newer checksums.
            request_checksum_calculation="when_required",
            response_checksum_validation="when_required",
            proxies={} if endpoint else None,
        ),
    )

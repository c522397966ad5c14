"""Objects in a bucket of S3 or a compatible store, read in ranges without a copy.

Each range is requested with If-Match and the object's ETag, so that the request fails if the object was replaced.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

import xxhash
from botocore.exceptions import ClientError
from django.contrib.auth.models import User

from importer.connections import download
from importer.connections.file_pattern import Pattern
from importer.connections.listed_files import ListedFile, refuse_too_many, sorted_by_name
from importer.connections.protocols.folder import is_left_out
from importer.engine.errors import SourceChanged, SourceProblem
from importer.engine.preflight.finding import Finding
from importer.models import SourceConnection, SourceFile
from importer.security.outbound_addresses import check_host
from importer.security.outbound_waits import awaiting_file, talking
from importer.sources.store.object_ranges import ObjectRanges, ObjectVersion
from importer.sources.store.s3_account import S3Account
from importer.sources.store.s3_errors import MISSING, Wording, code_of, translated

LARGEST_COPY = 5 * 2**30  # bytes that one request may copy (S3 API, CopyObject)


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
        with self._translated_errors(pattern.text):
            for each in self._listed(pattern):
                name = each["Key"].removeprefix(self._prefix)
                # A key that ends in "/" is a folder's placeholder.
                if name[-1:] not in ("", "/") and pattern.matches(name) and not any(map(is_left_out, name.split("/"))):
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
        return sorted(each for each in found if each and not is_left_out(each))

    def seen(self, name: str) -> ListedFile | None:
        found = self._present(name)
        return ListedFile(name, found["ContentLength"], found["LastModified"], found["ETag"]) if found else None

    def head(self, file: ListedFile, size: int) -> bytes:
        return self.read(file.name, file.etag, 0, min(size, file.size or 0)) if file.size else b""

    def _listed(self, pattern: Pattern) -> Iterator[dict[str, Any]]:
        only_here = not pattern.subfolders and len(pattern.folders) == len(pattern.parts) - 1
        request = {"Bucket": self._bucket, "Prefix": self._prefix + pattern.prefix}
        pages = self._client.get_paginator("list_objects_v2")
        for page in pages.paginate(**request, **({"Delimiter": "/"} if only_here else {})):
            yield from page.get("Contents", ())

    def fetch(self, file: ListedFile, user: User | None) -> SourceFile:
        """A reference to the object, without a copy.

        Its fingerprint is made of ETag and size: hashing the content would take as long as loading it.
        """
        del user  # Not an upload: the object keeps its owner.
        path = f"{self._connection.base}/{file.name}"
        with self.opened(file.name, file.etag) as ranges:
            if not ranges.size:
                raise SourceProblem("The file is empty.", path, "Look at what writes it.")
            content = xxhash.xxh3_128_hexdigest(f"s3 {file.etag} {ranges.size}".encode())
            return download.register_in_place(self._connection, file, path, ranges.size, content)

    @contextmanager
    def opened(self, name: str, etag: str) -> Iterator[ObjectRanges]:
        with self._translated_errors(name):
            size = self._version(name, etag).size()
        with ExitStack() as later:
            yield ObjectRanges(partial(self.read, name, etag), size, later)

    def read(self, name: str, etag: str, offset: int, length: int) -> bytes:
        """`length` bytes from `offset` on of version `etag`. Raises SourceChanged if the object was replaced."""
        with self._translated_errors(name), awaiting_file():
            return self._version(name, etag).read(offset, length)

    def _version(self, name: str, etag: str) -> ObjectVersion:
        return ObjectVersion(self._client, self._bucket, self._prefix + name, etag)

    def move(self, file: ListedFile, folder: str) -> str:
        to = f"{folder}/{file.name.rpartition('/')[2]}"
        there, here = self._etag(to), self._etag(file.name)
        if there and there != file.etag:
            raise SourceProblem(
                f"There is a {to} already.", self._connection.base, "Rename or remove one of them; put a date into it."
            )
        if here is None and there:
            return there
        if not there:
            self._copy(file, to)
        self.delete(file)
        # The copy of an object that was uploaded in parts has another etag (S3 API, CopyObject).
        return self._etag(to) or file.etag

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
        found = self._present(name)
        return str(found["ETag"]) if found else None

    def _present(self, name: str) -> dict[str, Any] | None:
        """What the store says of the object now; None if it does not exist."""
        with self._translated_errors(name):
            try:
                found: dict[str, Any] = self._client.head_object(Bucket=self._bucket, Key=self._prefix + name)
                return found
            except ClientError as error:
                if code_of(error) in MISSING:
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
        return S3Account(
            endpoint,
            options.get("region", ""),
            options.get("access_key", ""),
            secrets.get("secret_key", ""),
            options.get("tls_ca", ""),
            self._connection.private_allowed,
        ).client

    @contextmanager
    def _translated_errors(self, name: str) -> Iterator[None]:
        with talking(self._where(name)), translated(self._where(name)):
            yield

    def _where(self, name: str) -> str:
        return f"{self._connection.base}/{name}".rstrip("/")

    def _changed(self, name: str) -> SourceChanged:
        what, advice = Wording().changed
        return SourceChanged(what, self._where(name), advice)

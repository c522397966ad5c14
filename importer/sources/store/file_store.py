"""The store of this installation: FILE_STORE with its account. Without it, files stay in folders of this host."""

from collections.abc import Callable, Container, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from django.conf import settings

from importer.engine.errors import NoConnection, SourceProblem
from importer.sources.store.multipart import put_file
from importer.sources.store.object_ranges import ObjectRanges, ObjectVersion
from importer.sources.store.presigned_upload import PresignedUpload
from importer.sources.store.s3_account import S3Account
from importer.sources.store.s3_errors import Wording, translated

MOST_KEYS = 1000  # that one request deletes (S3 API, DeleteObjects)
# Files of an import that is not known here: a restored database may not know what the store's other user does.
UNKNOWN_KEPT = timedelta(hours=24)


class StoreAway(NoConnection):
    """The store does not answer, or is not able to; it may a little later."""


class NotInStore(SourceProblem):
    """The store answers, and does not have the object."""


WORDING = Wording(
    missing=("The file is no longer in the store.", "Look at who deletes in the store; upload the file again."),
    changed=("The file in the store is no longer the one that was put there.", "Upload it again."),
    keys="Correct FILE_STORE_ACCESS_KEY and FILE_STORE_SECRET_KEY on this host.",
    no_keys="Set FILE_STORE_ACCESS_KEY and FILE_STORE_SECRET_KEY on this host.",
    away=StoreAway,
    gone=NotInStore,
    silent="The store for files does not answer.",
)


@dataclass(frozen=True)
class StoredObject:
    """An object of the store: its address, bytes and version."""

    address: str
    size: int
    etag: str
    written_at: datetime | None = None  # of one that is listed

    @property
    def name(self) -> str:
        return self.address.rpartition("/")[2]


@dataclass(frozen=True)
class FileStore:
    """The objects below `base`, s3://BUCKET/PREFIX. An object's address begins with it.

    `browser_url`: where browsers reach the store; "" where they do not.

    All methods raise StoreAway if the store does not answer, and NoConnection if it refuses the account.
    """

    base: str
    account: S3Account
    browser_url: str = ""

    def address_of(self, *parts: str) -> str:
        """The address of the object with this name below the base."""
        return "/".join((self.base, *parts))

    def put(self, address: str, path: Path, on_piece: Callable[[bytes], None] = lambda _: None) -> StoredObject:
        """Put a file there, in place of what is there. `on_piece` is given its bytes in their order.

        Each part has a checksum that the store compares; what it has at the end is compared by size. Nothing stays
        behind of a file that was not put whole.
        """
        with self._translated(address):
            etag = put_file(self._client, self._bucket, self._key(address), path, on_piece)
            size = ObjectVersion(self._client, self._bucket, self._key(address), etag).size()
        if size != path.stat().st_size:
            self.delete(address)
            raise StoreAway(
                f"{path.stat().st_size:,} bytes were put into the store, and it has {size:,}; they were removed.",
                address,
                "Try again. If that fails, too, look at the store.",
                retryable=True,
            )
        return StoredObject(address, size, etag)

    def put_bytes(self, address: str, data: bytes) -> None:
        """Put a small object there."""
        with self._translated(address):
            self._client.put_object(Bucket=self._bucket, Key=self._key(address), Body=data)

    @contextmanager
    def opened(self, address: str, etag: str = "") -> Iterator[ObjectRanges]:
        """A version of an object for reading; without an ETag the present one.

        Raises NotInStore if it is gone, SourceChanged for another one.
        """
        version = ObjectVersion(self._client, self._bucket, self._key(address), etag)
        with self._translated(address):
            version, size = (version, version.size()) if etag else version.latest()

        def read(offset: int, length: int) -> bytes:
            with self._translated(address):
                return version.read(offset, length)

        with ExitStack() as later:
            yield ObjectRanges(read, size, later)

    def latest(self, address: str) -> StoredObject:
        """The object that is there now. Raises NotInStore."""
        with self._translated(address):
            version, size = ObjectVersion(self._client, self._bucket, self._key(address), "").latest()
        return StoredObject(address, size, version.etag)

    def has(self, address: str) -> bool:
        """Whether the object is there."""
        try:
            with self.opened(address):
                return True
        except NotInStore:
            return False

    def delete_below(self, *parts: str) -> None:
        """Delete all objects below a folder of the store."""
        self.delete(*(each.address for each in self.listed(*parts)))

    def folders(self, *parts: str) -> list[str]:
        """The names of the folders in a folder of the store."""
        prefix = self._folder(*parts)
        with self._translated(self.address_of(*parts)):
            pages = self._client.get_paginator("list_objects_v2")
            found = pages.paginate(Bucket=self._bucket, Prefix=prefix, Delimiter="/")
            names = [each["Prefix"] for page in found for each in page.get("CommonPrefixes", ())]
        return [each.removeprefix(prefix).rstrip("/") for each in names]

    def delete(self, *addresses: str) -> None:
        """Delete objects. One that is gone already is no error."""
        for first in range(0, len(addresses), MOST_KEYS):
            keys = [{"Key": self._key(each)} for each in addresses[first : first + MOST_KEYS]]
            with self._translated(addresses[first]):
                if len(keys) == 1:
                    self._client.delete_object(Bucket=self._bucket, **keys[0])
                else:
                    self._client.delete_objects(Bucket=self._bucket, Delete={"Objects": keys, "Quiet": True})

    def listed(self, *parts: str) -> Iterator[StoredObject]:
        """The objects below a folder of the store."""
        with self._translated(self.address_of(*parts)):
            pages = self._client.get_paginator("list_objects_v2")
            for page in pages.paginate(Bucket=self._bucket, Prefix=self._folder(*parts)):
                for each in page.get("Contents", ()):
                    address = f"s3://{self._bucket}/{each['Key']}"
                    yield StoredObject(address, each["Size"], each["ETag"], each["LastModified"])

    def check(self) -> None:
        """Raise unless the store answers within seconds, lists the bucket and takes and deletes an object."""
        quick, address = self.quick, self.address_of("check")
        with quick._translated(self.base):
            quick._client.list_objects_v2(Bucket=self._bucket, Prefix=self._key(address), MaxKeys=1)
        quick.put_bytes(address, b"Millrace can write here.\n")
        quick.delete(address)

    def answers(self) -> bool:
        """Whether the store answers within seconds, and lets this account look into the bucket."""
        quick = self.quick
        with suppress(SourceProblem):
            with quick._translated(self.base):
                quick._client.list_objects_v2(Bucket=self._bucket, Prefix=self._prefix, MaxKeys=1)
            return True
        return False

    def presigned_upload(self, address: str, upload: str = "") -> PresignedUpload:
        """The presigned upload of an object, by its id."""
        signer = replace(self.account, endpoint=self.browser_url).client if self.browser_url else None
        translated = partial(self._translated, address)
        return PresignedUpload(self._client, signer, self._bucket, self._key(address), upload, translated)

    def abort_older(self, before: datetime, kept: Container[str] = ()) -> int:
        """Remove the parts of uploads into the store that began before this time and did not end; their number.

        `kept`: the ids of those whose parts still arrive.
        """
        with self._translated(self.base):
            pages = self._client.get_paginator("list_multipart_uploads")
            found = pages.paginate(Bucket=self._bucket, Prefix=self._prefix)
            uploads = (each for page in found for each in page.get("Uploads", ()))
            old = [each for each in uploads if each["Initiated"] < before and each["UploadId"] not in kept]
            for each in old:
                self._client.abort_multipart_upload(Bucket=self._bucket, Key=each["Key"], UploadId=each["UploadId"])
        return len(old)

    @property
    def quick(self) -> "FileStore":
        """The same store for questions that somebody waits for: it is given up after seconds of silence."""
        return replace(self, account=replace(self.account, quick=True))

    @property
    def _client(self) -> Any:
        return self.account.client

    @property
    def _bucket(self) -> str:
        return self.base.removeprefix("s3://").partition("/")[0]

    @property
    def _prefix(self) -> str:
        return self.base.removeprefix(f"s3://{self._bucket}").lstrip("/")

    def _folder(self, *parts: str) -> str:
        return "".join(f"{part}/" for part in (self._prefix, *parts) if part)

    def _key(self, address: str) -> str:
        if not address.startswith(f"{self.base}/"):
            raise SourceProblem(
                f"The file is in another store than FILE_STORE, which is {self.base}.",
                address,
                "Set FILE_STORE to where the files are, or upload the file again.",
            )
        return address.removeprefix(f"s3://{self._bucket}/")

    def _translated(self, address: str) -> AbstractContextManager[None]:
        return translated(address, WORDING)


def file_store() -> FileStore | None:
    """The store of this installation; None where files stay in folders."""
    if not settings.FILE_STORE:
        return None
    return FileStore(
        settings.FILE_STORE,
        S3Account(
            settings.FILE_STORE_ENDPOINT,
            settings.FILE_STORE_REGION,
            settings.FILE_STORE_ACCESS_KEY,
            settings.FILE_STORE_SECRET_KEY or "",
            settings.FILE_STORE_CA,
        ),
        settings.FILE_STORE_BROWSER_URL,
    )


def require_store(address: str) -> FileStore:
    """The store that has this object. Raises SourceProblem without one."""
    if store := file_store():
        return store
    raise SourceProblem(
        "The file is in a store, and this host has no FILE_STORE.",
        address,
        "Set FILE_STORE and its account as on the other hosts, and restart.",
    )

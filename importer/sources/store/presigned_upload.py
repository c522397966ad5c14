"""A multipart upload whose parts a browser, or a program, puts into the store by presigned URLs."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any

from importer.engine.errors import SourceProblem
from importer.sources.store.s3_errors import MISSING, code_of

SIGNED_SECONDS = 3600  # a part that takes longer needs another URL
CHECKSUM = "x-amz-checksum-sha256"  # its header, which the store compares (S3 API, UploadPart)
# How a store says that parts are not those which are named (S3 API, CompleteMultipartUpload).
DIFFERENT = ("InvalidPart", "InvalidPartOrder", "BadDigest", "InvalidRequest")


class UploadEnded(SourceProblem):
    """The store has no such upload in parts: they were joined, or removed."""


class PartsDiffer(SourceProblem):
    """The parts in the store are not those that were sent."""


@dataclass(frozen=True)
class StoredPart:
    """A part that is in the store."""

    size: int
    etag: str


@dataclass(frozen=True)
class PresignedUpload:
    """The upload `id` of an object; "" before create().

    `client` asks the store, `signer` signs URLs for the address by which browsers reach it. `translated` turns their
    errors into Problems, which all methods raise.
    """

    client: Any
    signer: Any
    bucket: str
    key: str
    id: str
    translated: Callable[[], AbstractContextManager[None]]

    def create(self) -> "PresignedUpload":
        """Create the upload in the store. Returns it with its id."""
        with self.translated():
            # Without the algorithm Amazon refuses parts that have the checksum.
            answer = self.client.create_multipart_upload(Bucket=self.bucket, Key=self.key, ChecksumAlgorithm="SHA256")
        return replace(self, id=str(answer["UploadId"]))

    def signed_url(self, number: int, size: int, checksum: str) -> str:
        """The URL for a PUT of part `number` (from 1), of `size` bytes with this SHA-256 in Base64.

        The request must have the header CHECKSUM, and the store refuses other bytes. It is valid for SIGNED_SECONDS.
        """
        part = {**self._names, "PartNumber": number, "ContentLength": size, "ChecksumSHA256": checksum}
        with self.translated():
            return str(self.signer.generate_presigned_url("upload_part", Params=part, ExpiresIn=SIGNED_SECONDS))

    def parts(self) -> dict[int, StoredPart]:
        """The parts that are there, by their numbers. Raises UploadEnded."""
        found: dict[int, StoredPart] = {}
        with self._known():
            for page in self.client.get_paginator("list_parts").paginate(**self._names):
                # SeaweedFS names a part that was sent twice two times, the older one first.
                for each in page.get("Parts", ()):
                    found[each["PartNumber"]] = StoredPart(each["Size"], each["ETag"])
        return found

    def join(self, checksums: Sequence[str]) -> None:
        """Join all parts, which must have these SHA-256 in Base64, to the object. Raises UploadEnded, PartsDiffer."""
        there = self.parts()
        if sorted(there) != list(range(1, len(checksums) + 1)):
            raise PartsDiffer(f"{len(checksums):,} parts are to be joined, and the store has {len(there):,}.")
        named = [
            {"PartNumber": number, "ETag": there[number].etag, "ChecksumSHA256": checksum}
            for number, checksum in enumerate(checksums, 1)
        ]
        with self._known(DIFFERENT):
            self.client.complete_multipart_upload(**self._names, MultipartUpload={"Parts": named})

    def abort(self) -> None:
        """Remove the parts. Nothing happens if the upload has ended already."""
        with suppress(UploadEnded), self._known():
            self.client.abort_multipart_upload(**self._names)

    @property
    def _names(self) -> dict[str, str]:
        return {"Bucket": self.bucket, "Key": self.key, "UploadId": self.id}

    @contextmanager
    def _known(self, different: Sequence[str] = ()) -> Iterator[None]:
        """Raise UploadEnded, and PartsDiffer for the codes in `different`; other errors are translated."""
        from botocore.exceptions import ClientError

        with self.translated():
            try:
                yield
            except ClientError as error:
                if code_of(error) in MISSING:
                    raise UploadEnded("The store has no such upload.") from error
                if code_of(error) in different:
                    raise PartsDiffer("The parts in the store are not those of this file.") from error
                raise

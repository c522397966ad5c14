"""Puts a file into a bucket: at once if it is small, else in parts, each with a checksum that the store compares."""

import base64
import hashlib
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from importer.engine.units import MIB

PART_BYTES = 16 * MIB  # at least 5 MiB (S3 API, UploadPart)
MOST_PARTS = 10_000  # S3 API, multipart upload limits
PARTS_AT_ONCE = 4

OnPiece = Callable[[bytes], None]


def part_bytes(size: int) -> int:
    """The bytes of each part but the last of an object of `size` bytes."""
    return max(PART_BYTES, -(-size // MOST_PARTS))


def put_file(client: Any, bucket: str, key: str, path: Path, on_piece: OnPiece) -> str:
    """Put a file there; the ETag of the object. `on_piece` is given the file's bytes in their order.

    Raises ClientError, BotoCoreError and OSError; then nothing stays in the bucket, unless this process is killed.
    """
    size = path.stat().st_size
    with path.open("rb", buffering=0) as file:
        if size > PART_BYTES:
            return _MultipartUpload(client, bucket, key, part_bytes(size)).send(file, on_piece)
        data = _read(file, size)
        on_piece(data)
        answer = client.put_object(Bucket=bucket, Key=key, Body=data, ContentMD5=_checksum(data))
        return str(answer["ETag"])


@dataclass(frozen=True)
class _MultipartUpload:
    """One upload of an object in parts of `part_bytes`."""

    client: Any
    bucket: str
    key: str
    part_bytes: int

    def send(self, file: BinaryIO, on_piece: OnPiece) -> str:
        from botocore.exceptions import BotoCoreError, ClientError

        place = {"Bucket": self.bucket, "Key": self.key}
        upload = {**place, "UploadId": self.client.create_multipart_upload(**place)["UploadId"]}
        try:
            parts = self._send_parts(upload, file, on_piece)
            answer = self.client.complete_multipart_upload(**upload, MultipartUpload={"Parts": parts})
            return str(answer["ETag"])
        except BaseException:
            with suppress(ClientError, BotoCoreError, OSError):  # The sweep removes what a silent store keeps.
                self.client.abort_multipart_upload(**upload)
            raise

    def _send_parts(self, upload: dict[str, str], file: BinaryIO, on_piece: OnPiece) -> list[dict[str, Any]]:
        """Send the parts, several at a time; their numbers and ETags. At most PARTS_AT_ONCE + 1 are in memory."""
        sent: list[dict[str, Any]] = []
        waiting: deque[Future[dict[str, Any]]] = deque()
        with ThreadPoolExecutor(PARTS_AT_ONCE) as pool:
            try:
                while data := _read(file, self.part_bytes):
                    on_piece(data)
                    if len(waiting) == PARTS_AT_ONCE:
                        sent.append(waiting.popleft().result())
                    waiting.append(pool.submit(self._send_part, upload, len(sent) + len(waiting) + 1, data))
                sent += [each.result() for each in waiting]
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        return sent

    def _send_part(self, upload: dict[str, str], number: int, data: bytes) -> dict[str, Any]:
        answer = self.client.upload_part(**upload, PartNumber=number, Body=data, ContentMD5=_checksum(data))
        return {"PartNumber": number, "ETag": answer["ETag"]}


def _read(file: BinaryIO, size: int) -> bytes:
    """The next `size` bytes, fewer at the end: a raw read may return less."""
    pieces: list[bytes] = []
    while size and (piece := file.read(size)):
        pieces.append(piece)
        size -= len(piece)
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def _checksum(data: bytes) -> str:
    return base64.b64encode(hashlib.md5(data, usedforsecurity=False).digest()).decode()

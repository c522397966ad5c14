"""The client of S3 and compatible stores, made once in each process for each account."""

import gzip
import json
from functools import lru_cache
from pathlib import Path
from typing import Any

import botocore.session
from botocore.config import Config
from botocore.loaders import JSONFileLoader, Loader

from importer.engine.errors import NoConnection
from importer.security import outbound_waits
from importer.sources.store.checked_pools import check_addresses

ATTEMPTS = 3  # of a request, within some seconds
REDIRECTS = (301, 302, 303, 307, 308)


@lru_cache(maxsize=16)
def cached_client(
    endpoint: str,
    region: str,
    keys: tuple[str, str],
    tls_ca: str,
    private_allowed: bool | None,
    quick: bool,
    _process: int,
) -> Any:
    """The botocore client of an S3Account, cached because creating one takes 0.1 s."""
    session = botocore.session.get_session()
    session.register_component("data_loader", _descriptions())
    access_key, secret_key = keys
    client = session.create_client(
        "s3",
        region_name=region or None,
        endpoint_url=endpoint or None,
        aws_access_key_id=access_key or None,
        aws_secret_access_key=secret_key or None,
        verify=tls_ca or None,
        config=Config(
            # Otherwise botocore signs the URLs for browsers in the older way, without their headers.
            signature_version="s3v4" if endpoint else None,
            connect_timeout=2 if quick else 10,
            read_timeout=3 if quick else 60,
            retries={"max_attempts": 1 if quick else ATTEMPTS, "mode": "standard"},
            s3={"addressing_style": "path" if endpoint else "auto"},
            # Stores other than Amazon's do not know the newer checksums.
            request_checksum_calculation="when_required",
            response_checksum_validation="when_required",
            proxies={} if endpoint else None,
        ),
    )
    client.meta.events.register("response-received.s3", _note_answer)
    if endpoint:
        client.meta.events.register("response-received.s3", _refuse_redirects)
    check_addresses(client, private_allowed=private_allowed if endpoint else None)
    return client


def _note_answer(response_dict: dict[str, Any] | None, **_: Any) -> None:
    if response_dict:
        outbound_waits.answered()


def _refuse_redirects(response_dict: dict[str, Any] | None, **_: Any) -> None:
    """Raise NoConnection for a redirect. botocore would ask a compatible store for another region again and again."""
    if response_dict and response_dict["status_code"] in REDIRECTS:
        raise NoConnection("The store redirects to another place.", advice="Name the endpoint that has the bucket.")


def warm_up() -> None:
    """Read what all clients need, without asking anybody: processes that are forked later have it then.

    Otherwise it takes each of them 0.27 s of processor time and 20 MB.
    """
    cached_client("http://127.0.0.1", "us-east-1", ("none", "none"), "", None, False, 0)


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

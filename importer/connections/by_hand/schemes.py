"""What looks like an address, and its scheme. addresses.py reads them, and needs the libraries of their servers."""

import difflib
import os
from collections.abc import Sequence

from importer.engine.errors import SourceProblem

# Those that addresses.py reads.
SCHEMES = ("https", "http", "s3", "sftp")
ADVICE = "Write https://HOST/PATH/FILE, s3://BUCKET/FILE or sftp://USER@HOST/PATH/FILE, without a password."


def is_address(name: str) -> bool:
    """Whether a name is meant as an address, also with a scheme that is not read, or with a slash missing."""
    return "://" in name or (name.partition(":")[0] in SCHEMES and not os.path.lexists(name))


def check_scheme(address: str, others: Sequence[str] = ()) -> None:
    """Raise SourceProblem for a scheme that is not read, with the one that is meant; `others` stand elsewhere."""
    scheme, _, rest = address.partition(":")
    if scheme in SCHEMES and rest.startswith("//"):
        return
    near = [scheme] if scheme in SCHEMES else difflib.get_close_matches(scheme, [*SCHEMES, *others], 1)
    meant = f"Did you mean {near[0]}://? " if near else ""
    raise SourceProblem("No file is read from such an address.", without_password(address), meant + ADVICE)


def without_password(address: str) -> str:
    """The address as far as it can hold no password."""
    scheme, _, rest = address.partition("://")
    return f"{scheme}://…@{rest.rpartition('@')[2]}" if "@" in rest else address

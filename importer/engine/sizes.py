"""Units of bytes, and sizes in words."""

MIB = 2**20
GIB = 2**30


def human_bytes(count: int) -> str:
    """A size as people say it: 134217728 is "128 MiB"."""
    size = float(count)
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:.4g} {unit}"
        size /= 1024
    return f"{size:.4g} TiB"

"""A file of numbers, each with a word."""

from pathlib import Path


def word_file(path: Path, numbers: range) -> Path:
    """Write the columns n and word with a row for each number; returns the path."""
    path.write_text("n,word\n" + "".join(f"{n},word {n}\n" for n in numbers))
    return path

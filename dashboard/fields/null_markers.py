"""NULL markers as the form writes them: a line of CSV, so that a marker may contain a comma or be empty."""

import csv
import io
from collections.abc import Iterator

from importer.engine.errors import Problem


def parse_markers(text: str) -> tuple[str, ...]:
    """Read NULL markers, written as a line of CSV so that a marker may contain a comma or be empty.

    `NA, ""` -> ("NA", ""). Raises Problem if the text is not valid CSV.
    """
    try:
        return tuple(dict.fromkeys(next(csv.reader([text], skipinitialspace=True), [])))
    except csv.Error as error:
        raise Problem(f"{text!r} is no list of NULL markers.", advice='Write it as in a CSV file: NA, ""') from error


def show_markers(markers: tuple[str, ...]) -> str:
    """The inverse of parse_markers."""
    return ", ".join(_quoted(markers))


def _quoted(markers: tuple[str, ...]) -> Iterator[str]:
    for marker in markers:
        line = io.StringIO()
        plain = marker and marker == marker.strip()
        csv.writer(line, quoting=csv.QUOTE_MINIMAL if plain else csv.QUOTE_ALL, lineterminator="").writerow([marker])
        yield line.getvalue()

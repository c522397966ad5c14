"""Reads the option files of MySQL's and MariaDB's client programs, such as ~/.my.cnf.

Format: MySQL manual, Using Option Files.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from importer.engine.errors import Problem

GROUPS = ("client", "client-server", "client-mariadb", "millrace")
ESCAPES = {"b": "\b", "t": "\t", "n": "\n", "r": "\r", "\\": "\\", "s": " "}
# A file that includes itself ends here.
DEEPEST = 10


def read_options(path: Path) -> dict[str, str]:
    """The options of the groups of clients, with hyphens in their names. Of several with one name the last counts.

    Raises Problem if the file cannot be read.
    """
    return dict(_options(path, DEEPEST))


def _options(path: Path, depth: int) -> Iterator[tuple[str, str]]:
    group = ""
    for line in _lines(path):
        if match := re.match(r"!include(dir)?\s+(.+)", line):
            for each in _included(Path(match[2].strip()), bool(match[1])) if depth else ():
                yield from _options(each, depth - 1)
        elif match := re.fullmatch(r"\[(.*)\].*", line):
            group = match[1].strip()
        elif line and line[0] not in "#;" and group in GROUPS:
            name, _, value = line.partition("=")
            yield name.strip().replace("_", "-"), _value(value.strip())


def _lines(path: Path) -> Iterator[str]:
    try:
        text = path.read_text()
    except (OSError, UnicodeError) as error:
        raise Problem(
            "The option file cannot be read.", where=str(path), advice="Name a readable one: --defaults-file FILE."
        ) from error
    return map(str.strip, text.splitlines())


def _included(path: Path, is_folder: bool) -> list[Path]:
    return sorted(path.glob("*.cnf")) if is_folder else [path]


def _value(text: str) -> str:
    """The value without quotes, a comment behind it and escapes."""
    quoted = re.match(r"""(["'])(.*?)\1\s*(#.*)?$""", text)
    plain = quoted[2] if quoted else re.sub(r"\s+#.*$", "", text)
    return re.sub(r"\\([btnr\\s])", lambda found: ESCAPES[found[1]], plain)

"""Files on this machine that a path or a pattern names."""

import glob
from pathlib import Path

from config.plain_text import undecoded
from importer.engine.errors import SourceProblem
from importer.sources.limits import refuse_none, refuse_too_many

ADVICE = "Check the folder and the pattern: * and ? stand for characters of one name."


def local_files(name: str) -> list[Path]:
    """The file of this path; or the regular files that match a pattern with *, ? or [abc], sorted by name.

    A path that exists is no pattern. As in a shell, * leaves out hidden files. Raises SourceProblem if a pattern
    matches no file, too many, or one whose name is not in UTF-8.
    """
    path = Path(name).expanduser()
    if not glob.has_magic(name) or path.exists():
        return [path]
    root = Path(path.anchor)
    hidden = path.name.startswith(".")
    matching = root.glob(str(path.relative_to(root)))
    found = sorted(each for each in matching if each.is_file() and each.name.startswith(".") == hidden)
    refuse_none(len(found), name, ADVICE)
    refuse_too_many(len(found), name)
    if wrong := next(filter(None, (undecoded(str(each)) for each in found)), ""):
        raise SourceProblem("The name of this file is not in UTF-8.", wrong, "Rename it.")
    return found

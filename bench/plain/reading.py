"""Reads a plain file as an import into its table does, and says what is wrong with the reading."""

import re
from pathlib import Path

from bench.plain.files import PlainFile
from importer.engine.errors import Problem
from importer.engine.mapping.suggest import suggest_mapping
from importer.engine.reading.build import make_reading
from importer.engine.reading.expected import expected_columns
from importer.engine.source.profile.profile import profile_file

_NUMBER = re.compile(r"\d+")


def fault(file: PlainFile, path: Path) -> str:
    """What is wrong with the reading of a file without any option, in a few words; "" if nothing is.

    The file is written to `path`.
    """
    path.write_bytes(file.content)
    try:
        profile = profile_file(path, None, expected_columns(file.table))
        reading = make_reading(profile, file.table, suggest_mapping(profile, file.table))
    except Problem as problem:
        return f"refused: {_NUMBER.sub('N', problem.what)[:60]}"
    if reading.guesses:
        return f"asked: {', '.join(sorted(each.name for each in reading.guesses))}"
    if profile.header != file.table.column_names:
        return "other names"
    if profile.rows != file.rows:
        return "other values"
    if any(each.format for each in reading.columns):
        return "values are converted"
    return ""

"""`millrace preset`: lists, shows, renames and deletes presets, and takes them from one installation to another."""

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from config.contracts.documents import PRESET
from importer.access.acting import acting_user
from importer.engine.errors import Problem, in_file
from importer.engine.stored import to_json
from importer.management.base_command import PreparedCommand
from importer.management.build_import import named_target
from importer.management.verbs.presets import VERBS
from importer.management.verbs.verb import Context, Verb, option
from importer.models import MappingPreset
from importer.preparation import presets

STANDARD_INPUT = "-"


def _document(preset: MappingPreset) -> dict[str, Any]:
    used = preset.used_at.isoformat() if preset.used_at else None
    return {"id": preset.pk, **to_json(presets.exported(preset)), "used_at": used}


def _preset(id: int) -> MappingPreset:
    return presets.all_seen().get(pk=id)


def _rename(id: int, name: str) -> dict[str, Any]:
    preset = _preset(id)
    presets.rename(preset, name)
    return _document(preset)


def _import(context: Context) -> None:
    options = context.options
    read = _read(options.file)
    read = replace(read, name=options.new_name or read.name)
    preset = presets.save_exported(read, named_target(options.target or read.target), options.table, acting_user())
    context.output.say(f"The preset {preset.name} is imported, for {preset.table} of {preset.target}.")


def _read(file: str) -> presets.ExportedPreset:
    """The exported preset in the file. Raises Problem for anything else."""
    advice = f"Name a file that `preset export` has written; its schema is {PRESET.schema}."
    try:
        text = sys.stdin.read() if file == STANDARD_INPUT else Path(file).read_text()
        values = json.loads(text)
    except (OSError, ValueError) as error:
        raise Problem(f"No preset can be read: {error}.", where=file, advice=advice) from error
    if not isinstance(values, dict) or values.get("schema") != PRESET.schema:
        raise Problem("That is no exported preset.", where=file, advice=advice)
    with in_file(file):
        return presets.read_exported(values)


class Command(PreparedCommand):
    help = "List, show, rename, delete, export and import presets: stored settings for files with a certain header."
    verbs = {
        **VERBS,
        "import": Verb(
            "make a preset of what `export` has written",
            _import,
            (
                option("file", help="the file, or - for standard input"),
                option("--new-name", metavar="NAME", default="", help="instead of the name in the file"),
                option("--to", "--target", dest="target", metavar="TARGET", help="a target other than the file's"),
                option("--table", default="", metavar="TABLE", help="TABLE or SCHEMA.TABLE, other than the file's"),
            ),
        ),
    }
    operations = {
        "list_presets": lambda: map(_document, presets.all_seen()),
        "rename_preset": _rename,
        "delete_preset": lambda id: _preset(id).delete(),
    }

"""`millrace preset`: lists, shows, renames and deletes presets, and takes them from one installation to another."""

import json
import sys
from argparse import ArgumentParser
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from config.contracts.documents import PRESET, PRESETS
from importer.access.acting import acting_user
from importer.engine.errors import Problem, in_file
from importer.engine.stored import to_json
from importer.management.base_command import PreparedCommand
from importer.management.build_import import named_target
from importer.management.terminal.new_file import document_text, write_document
from importer.management.terminal.preset_text import preset_line, preset_lines
from importer.management.terminal.verbs import PRESET_SAID, add_preset_verbs
from importer.models import MappingPreset
from importer.preparation import presets

STANDARD_INPUT = "-"


class Command(PreparedCommand):
    help = "List, show, rename, delete, export and import presets: stored settings for files with a certain header."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_preset_verbs(parser, VERBS)

    def handle(self, *_args: Any, verb: str, **options: Any) -> None:
        """Run one verb. Raises Problem."""
        VERBS[verb](self, **options)

    def _list(self, *, as_json: bool, **_: Any) -> None:
        found = presets.all_seen()
        if as_json:
            self.give(PRESETS, {"presets": [_summary(each) for each in found]})
            return
        self.write_list(preset_line(_summary(each)) for each in found)

    def _show(self, *, name: str, as_json: bool, **_: Any) -> None:
        shown = to_json(presets.exported(presets.by_name(name)))
        if as_json:
            self.give(PRESET, shown)
            return
        for line in preset_lines(shown):
            self.stdout.write(line)

    def _rename(self, *, name: str, new: str, **_: Any) -> None:
        preset = presets.by_name(name)
        presets.rename(preset, new)
        self.stdout.write(PRESET_SAID["rename"].format(name=name, new=preset.name))

    def _delete(self, *, name: str, **_: Any) -> None:
        presets.by_name(name).delete()
        self.stdout.write(PRESET_SAID["delete"].format(name=name))

    def _export(self, *, name: str, out: Path | None, as_json: bool, **_: Any) -> None:
        values = to_json(presets.exported(presets.by_name(name)))
        if out is None:
            if as_json:
                self.give(PRESET, values)
            else:
                self.stdout.write(document_text(PRESET.of(values)))
            return
        write_document(PRESET.of(values), out)
        self.stdout.write(PRESET_SAID["export"].format(name=name, out=out))

    def _import(self, *, file: str, new_name: str, target: str | None, table: str, **_: Any) -> None:
        read = _read(file)
        read = replace(read, name=new_name or read.name)
        preset = presets.save_exported(read, named_target(target or read.target), table, acting_user())
        self.stdout.write(f"The preset {preset.name} is imported, for {preset.table} of {preset.target}.")


VERBS: dict[str, Callable[..., None]] = {
    "list": Command._list,
    "show": Command._show,
    "rename": Command._rename,
    "delete": Command._delete,
    "export": Command._export,
    "import": Command._import,
}


def _summary(preset: MappingPreset) -> dict[str, Any]:
    return {
        "name": preset.name,
        "target": preset.target.name,
        "table": preset.table,
        "header": preset.header,
        "used": preset.used_at.isoformat() if preset.used_at else None,
    }


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

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
from importer.management.command_line.new_file import write_new
from importer.models import MappingPreset
from importer.preparation import presets

STANDARD_INPUT = "-"


class Command(PreparedCommand):
    help = "List, show, rename, delete, export and import presets: stored settings for files with a certain header."

    def add_arguments(self, parser: ArgumentParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True, metavar="|".join(VERBS))
        verbs.add_parser("list", help="all presets, by name")
        verbs.add_parser("show", help="what a preset sets").add_argument("name")
        rename = verbs.add_parser("rename", help="give a preset another name")
        rename.add_argument("name")
        rename.add_argument("new", metavar="NEW_NAME")
        verbs.add_parser("delete", help="delete a preset; schedules keep their settings").add_argument("name")
        export = verbs.add_parser("export", help="write a preset as JSON, for `import` in another installation")
        export.add_argument("name")
        export.add_argument("--out", type=Path, metavar="FILE", help="write it there, not to standard output")
        taken = verbs.add_parser("import", help="make a preset of what `export` has written")
        taken.add_argument("file", help="the file, or - for standard input")
        taken.add_argument("--new-name", metavar="NAME", default="", help="instead of the name in the file")
        taken.add_argument("--to", "--target", dest="target", metavar="TARGET", help="a target other than the file's")
        taken.add_argument("--table", default="", metavar="TABLE", help="TABLE or SCHEMA.TABLE, other than the file's")

    def handle(self, *_args: Any, verb: str, **options: Any) -> None:
        """Run one verb. Raises Problem."""
        VERBS[verb](self, **options)

    def _list(self, *, as_json: bool, **_: Any) -> None:
        found = presets.all_seen()
        if as_json:
            self.give(PRESETS, {"presets": [_summary(each) for each in found]})
            return
        for each in found:
            used = f"used {each.used_at:%Y-%m-%d}" if each.used_at else "not used yet"
            self.stdout.write(f"{each.name}: {each.table} of {each.target}, {len(each.header)} fields, {used}")

    def _show(self, *, name: str, as_json: bool, **_: Any) -> None:
        preset = presets.by_name(name)
        if as_json:
            self.give(PRESET, to_json(presets.exported(preset)))
            return
        self.stdout.write(f"{preset.name}: {preset.table} of {preset.target}")
        for field, each in zip(preset.header, preset.mapping, strict=False):
            how = ", ".join(filter(None, (*each.transforms, each.datetime_format)))
            null = f", NULL: {', '.join(each.null_markers)}" if each.null_markers else ""
            self.stdout.write(f"  {field} -> {each.column or '(left out)'}{f' ({how})' if how else ''}{null}")
        for filling in preset.fillings:
            self.stdout.write(f"  {filling.column} = {filling.text or f'@{filling.source}'}")
        for label, value in presets.changed_options(preset.options):
            self.stdout.write(f"  {label}: {value}")

    def _rename(self, *, name: str, new: str, **_: Any) -> None:
        preset = presets.by_name(name)
        presets.rename(preset, new)
        self.stdout.write(f"{name} is called {preset.name} now.")

    def _delete(self, *, name: str, **_: Any) -> None:
        presets.by_name(name).delete()
        self.stdout.write(f"The preset {name} is deleted. Schedules that were made with it keep their settings.")

    def _export(self, *, name: str, out: Path | None, as_json: bool, **_: Any) -> None:
        values = to_json(presets.exported(presets.by_name(name)))
        text = json.dumps(PRESET.of(values), indent=2)
        if out is None:
            if as_json:
                self.give(PRESET, values)
            else:
                self.stdout.write(text)
            return
        write_new(out, [f"{text}\n".encode()])
        self.stdout.write(f"The preset {name} is in {out}.")

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

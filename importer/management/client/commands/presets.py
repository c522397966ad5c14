"""`millrace --server URL preset`."""

from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any

from config.contracts.documents import PRESET, PRESETS
from importer.management.client.commands.context import Command, CommandContext
from importer.management.terminal.new_file import document_text, write_document
from importer.management.terminal.preset_text import preset_line, preset_lines
from importer.management.terminal.verbs import LIST, PRESET_SAID, add_preset_verbs

ABOUT = "list, show, rename, delete and export presets"
NOT_EXPORTED = ("id", "used_at")


def add_arguments(parser: ArgumentParser) -> None:
    """Add the verbs and their options."""
    add_preset_verbs(parser, VERBS)


def run(context: CommandContext) -> int:
    """Run one verb."""
    return VERBS[context.options.verb](context)


def _list(context: CommandContext) -> int:
    found = sorted(context.millrace.pages("list_presets"), key=lambda each: each["name"])
    rows = [_summary(each) for each in found]
    context.output.give(PRESETS, {"presets": rows})
    context.output.write_list(map(preset_line, rows))
    return 0


def _summary(preset: Mapping[str, Any]) -> dict[str, Any]:
    return {**{name: preset[name] for name in ("name", "target", "table", "header")}, "used": preset["used_at"]}


def _exported(context: CommandContext) -> dict[str, Any]:
    found = context.named("list_presets", "preset")
    return {name: value for name, value in found.items() if name not in NOT_EXPORTED}


def _show(context: CommandContext) -> int:
    shown = _exported(context)
    context.output.give(PRESET, shown)
    for line in preset_lines(shown):
        context.output.say(line)
    return 0


def _export(context: CommandContext) -> int:
    document, name, out = PRESET.of(_exported(context)), context.options.name, context.options.out
    if out is None:
        context.output.give_whole(document)
        context.output.say(document_text(document))
    else:
        write_document(document, out)
        context.output.say(PRESET_SAID["export"].format(name=name, out=out))
    return 0


def _rename(context: CommandContext) -> int:
    found = context.named("list_presets", "preset")
    renamed = context.millrace.call("rename_preset", {"name": context.options.new}, id=found["id"])
    context.output.say(PRESET_SAID["rename"].format(name=found["name"], new=renamed["name"]))
    return 0


def _delete(context: CommandContext) -> int:
    found = context.named("list_presets", "preset")
    context.millrace.call("delete_preset", id=found["id"])
    context.output.say(PRESET_SAID["delete"].format(name=found["name"]))
    return 0


VERBS: Mapping[str, Command] = {
    LIST: _list,
    "show": _show,
    "rename": _rename,
    "delete": _delete,
    "export": _export,
}

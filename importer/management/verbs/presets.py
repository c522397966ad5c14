"""`millrace preset`: lists, shows, renames, deletes and exports presets."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from config.contracts.documents import PRESET, PRESETS
from importer.engine.mapping.columns import described_values
from importer.engine.plan.options import changed_options
from importer.engine.plan.stored_plan import options_from_json
from importer.management.terminal.new_file import document_text, write_document
from importer.management.verbs.verb import Context, Verb, Verbs, named, option

NOT_EXPORTED = ("id", "used_at")


def _list(context: Context) -> None:
    found = sorted(context.api.pages("list_presets"), key=lambda each: each["name"])
    rows = [_summary(each) for each in found]
    context.output.give(PRESETS, {"presets": rows})
    context.output.write_list(map(_line, rows))


def _summary(preset: Mapping[str, Any]) -> dict[str, Any]:
    return {**{name: preset[name] for name in ("name", "target", "table", "header")}, "used": preset["used_at"]}


def _line(preset: Mapping[str, Any]) -> str:
    used = f"used {preset['used'][:10]}" if preset["used"] else "not used yet"
    return f"{preset['name']}: {preset['table']} of {preset['target']}, {len(preset['header'])} fields, {used}"


def _exported(context: Context) -> dict[str, Any]:
    found = context.named("list_presets", "preset")
    return {name: value for name, value in found.items() if name not in NOT_EXPORTED}


def _show(context: Context) -> None:
    shown = _exported(context)
    context.output.give(PRESET, shown)
    for line in _lines(shown):
        context.output.say(line)


def _lines(preset: Mapping[str, Any]) -> Iterator[str]:
    """What a preset sets: the column of each field, the other columns, and the options that differ from the usual."""
    yield f"{preset['name']}: {preset['table']} of {preset['target']}"
    for field, each in zip(preset["header"], preset["mapping"], strict=False):
        values = described_values(each.get("values", ()))
        how = ", ".join(filter(None, (*each["transforms"], each["datetime_format"], values)))
        null = f", NULL: {', '.join(each['null_markers'])}" if each["null_markers"] else ""
        yield f"  {field} -> {each['column'] or '(left out)'}{f' ({how})' if how else ''}{null}"
    for filling in preset["fillings"]:
        yield f"  {filling['column']} = {filling['text'] or '@' + filling['source']}"
    for label, value in changed_options(options_from_json(preset["options"])):
        yield f"  {label}: {value}"


def _export(context: Context) -> None:
    document, name, out = PRESET.of(_exported(context)), context.options.name, context.options.out
    if out is None:
        context.output.give_whole(document)
        context.output.say(document_text(document))
    else:
        write_document(document, out)
        context.output.say(f"The preset {name} is in {out}.")


def _rename(context: Context) -> None:
    found = context.named("list_presets", "preset")
    renamed = context.api.call("rename_preset", {"name": context.options.new}, id=found["id"])
    context.output.say(f"{found['name']} is called {renamed['name']} now.")


def _delete(context: Context) -> None:
    found = context.named("list_presets", "preset")
    context.api.call("delete_preset", id=found["id"])
    context.output.say(f"The preset {found['name']} is deleted. Schedules that were made with it keep their settings.")


VERBS: Verbs = {
    "list": Verb("all presets, by name", _list),
    "show": Verb("what a preset sets", _show, (named("preset"),)),
    "rename": Verb(
        "give a preset another name", _rename, (named("preset"), option("new", metavar="NEW_NAME", help="its new name"))
    ),
    "delete": Verb("delete a preset; schedules keep their settings", _delete, (named("preset"),)),
    "export": Verb(
        "write a preset as JSON, for `import` in another installation",
        _export,
        (named("preset"), option("--out", type=Path, metavar="FILE", help="write it there, not to standard output")),
    ),
}

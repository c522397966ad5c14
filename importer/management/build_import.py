"""Builds an import from the options of `millrace load`."""

import dataclasses
import sys
from typing import Any

from importer.access.policy import seen
from importer.connections.by_hand.resolve import forget_unused, refuse_missing, resolve_sources
from importer.connections.by_hand.schemes import check_scheme, is_address
from importer.connections.by_hand.server_file import find_on_server
from importer.engine.errors import Problem, WrongUsage
from importer.engine.mapping.transforms import TRANSFORMS
from importer.engine.plan.option_specs import OPTIONS
from importer.engine.plan.options import NO_LIMIT, Options
from importer.engine.reading.stated import Stated
from importer.engine.schema.added_columns import as_requested
from importer.engine.source.dialect import LINE_ENDS
from importer.engine.source.formats.options import FORMAT_NAMES
from importer.management.argument_types import once_each
from importer.management.import_options import FORMAT_FIELDS, SWITCHES, check_named
from importer.management.terminal import by_url
from importer.models import MappingPreset, SourceFile, Target
from importer.preparation import presets
from importer.preparation.prepare import ImportRequest, NewTableRequest, PreparedImport, prepare, require_load
from importer.preparation.whole_file import AsRead, read_alone, read_for_table

# Options that a preset has already, unless they may be stated for a file (presets.statable).
SET_BY_A_PRESET = (
    "map",
    "match",
    "add_column",
    "set",
    "null",
    "line_end",
    *FORMAT_FIELDS,
    *FORMAT_NAMES,
    *SWITCHES,
)


def read_from_options(options: dict[str, Any]) -> AsRead:
    """How the file of the options is read, for the table that they name or for a new one; warnings go to stderr.

    Raises Problem as prepare_from_options() does.
    """
    files, url = by_url.split_url(options["file"])
    if url or options["target"] or options["preset"]:
        # Without the checks of values nothing would be found.
        return read_for_table(prepare_from_options({**options, "checks": True}))
    if options["table"] and options["mode"] != "create":
        raise Problem(
            "A table is named, and no server.",
            advice="Name it: --to TARGET, or mysql://... behind the files. For a new table: --mode create.",
        )
    _check_files(files, options)
    if options["server_file"]:
        raise Problem(
            "A file on a database's host is named, and no server.", advice="Name it: --to TARGET, or mysql://..."
        )
    source = _here(files, options)
    try:
        return read_alone(source, options["table"] or "", _request(options))
    except BaseException:
        forget_unused([source])
        raise


def prepare_from_options(options: dict[str, Any]) -> PreparedImport:
    """Prepare the import of the options; warnings go to stderr. Raises Problem if the import is not possible."""
    preset = presets.by_name(options["preset"]) if options["preset"] else None
    files, url = by_url.split_url(options["file"])
    _check_files(files, options)
    target, table = _target_of_url(url, options) if url else _target_and_table(options, preset)
    require_load(target, table)
    source = _source(files, target, options)
    try:
        with by_url.password_explained(target):
            if preset:
                return _prepare_from_preset(options, preset, source, target, table)
            return _prepare(options, source, target, table)
    except BaseException:
        forget_unused([source])
        raise


def _check_files(files: list[str], options: dict[str, Any]) -> None:
    """Raise Problem unless the files are named, in one way, by addresses that are read, and those here are there."""
    check_named(files, options["from_connection"], options["server_file"])
    for each in filter(is_address, files):
        check_scheme(each, [scheme.removesuffix("://") for scheme in by_url.SCHEMES])
    if not options["from_connection"]:
        refuse_missing(files)


def _source(files: list[str], target: Target, options: dict[str, Any]) -> SourceFile:
    there = options["server_file"]
    return find_on_server(target, there) if there else _here(files, options)


def _here(files: list[str], options: dict[str, Any]) -> SourceFile:
    """The named files, which do not lie on the host of a target."""
    return resolve_sources(
        files,
        options["from_connection"],
        private_allowed=options["allow_private"],
        all_members=options["all_members"],
    )


def _target_of_url(url: str, options: dict[str, Any]) -> tuple[Target, str]:
    """The target and the table of a URL, or of --table. Raises Problem if there are two, or none."""
    if options["target"] or options["preset"]:
        raise Problem("The server is named twice: by a URL, and by --to or --preset.", advice="Leave one of them out.")
    target, table = by_url.target_of(url, options)
    if table and options["table"]:
        raise Problem("The table is named twice: in the URL, and by --table.", advice="Leave one of them out.")
    table = table or _table(options)
    return by_url.saved(target), table


def _target_and_table(options: dict[str, Any], preset: MappingPreset | None) -> tuple[Target, str]:
    """The target and the table that the options or the preset name. Raises Problem without one."""
    if preset is None:
        return named_target(options["target"]), _table(options)
    _refuse_set_by_preset(options, preset)
    target = named_target(options["target"]) if options["target"] else preset.target
    return target, options["table"] or preset.table


def _prepare(options: dict[str, Any], source: SourceFile, target: Target, table: str) -> PreparedImport:
    prepared = prepare(source, target, table, _request(options))
    if not options["check_only"]:  # A check prints the whole reading.
        _write_notes(prepared)
    return prepared


def _request(options: dict[str, Any]) -> ImportRequest:
    """What the options request for an import without a preset."""
    return ImportRequest(
        known_format=_known_format(options),
        match=options["match"] or "",
        null_markers=options["null"],
        overrides=options["map"],
        stated=Stated(ignore_fields=options["ignore_fields"]),
        accept_guesses=options["accept_guesses"],
        fillings=options["set"],
        added_columns=as_requested(options["add_column"]),
        options=_new_options(options),
        new_table=NewTableRequest(
            dict(options["type"] or ()), tuple(options["primary_key"] or ()), widen=not options["no_widen"]
        ),
    )


def _write_notes(prepared: PreparedImport) -> None:
    """Write the suggested conversions and doubtful values to stderr, since there is no page that shows them."""
    for each in prepared.mapping:
        conversions = [TRANSFORMS[name].words for name in each.transforms] + [each.datetime_format]
        if any(conversions):
            listed = ", ".join(filter(None, conversions))
            sys.stderr.write(f"{each.column} is read as {listed} (--map changes that).\n")
    for line in prepared.reading.lines:
        sys.stderr.write(f"{line}\n")


def _refuse_set_by_preset(options: dict[str, Any], preset: MappingPreset) -> None:
    for name in SET_BY_A_PRESET:
        if options[name] not in (None, []) and name not in presets.statable(preset):
            flag = f"{'no-' if options[name] is False else ''}{name.replace('_', '-')}"
            raise Problem(
                f"--{flag} cannot be combined with --preset, which sets that already.",
                advice="Leave it out, or import without the preset.",
            )


def _prepare_from_preset(
    options: dict[str, Any], preset: MappingPreset, source: SourceFile, target: Target, table: str
) -> PreparedImport:
    """Prepare an import from a preset.

    Target, table, load options, and what may be stated for a file, replace the preset's.
    """
    prepared = presets.prepare_with(
        preset,
        source,
        target,
        table,
        _options(options, preset.options),
        {name: options[name] for name in presets.statable(preset) if options[name] is not None},
        accept_guesses=options["accept_guesses"],
    )
    if changed := presets.differences(preset, prepared.table):
        sys.stderr.write(f"The table has changed since the preset was saved: {'; '.join(changed)}.\n")
    presets.mark_used(preset)
    return prepared


def named_target(name: str | None) -> Target:
    target = seen(Target.objects.filter(name=name)).first()
    if target:
        return target
    known = (
        ", ".join(seen(Target.objects.registered()).values_list("name", flat=True))
        or "none yet; see `millrace target add`"
    )
    if name and "://" in name:
        raise Problem(
            "A URL is given, and the name of a registered target is expected.",  # Not shown: it may have a password.
            advice="Write the URL with its table after the file: mysql://USER@HOST/DATABASE.TABLE.",
        )
    if not name:
        ways = "mysql://USER@HOST/DATABASE.TABLE after the file, or --to TARGET --table TABLE"
        raise WrongUsage("No server is named.", advice=f"Name it: {ways}. Registered targets: {known}.")
    raise Problem(f"There is no target named {name}.", advice=f"Known: {known}.")


def _table(options: dict[str, Any]) -> str:
    if not options["table"]:
        advice = "Add --table TABLE, or end the URL in /DATABASE.TABLE; a preset (--preset NAME) has a table, too."
        raise WrongUsage("No table is named.", advice=advice)
    return str(options["table"])


def _options(options: dict[str, Any], otherwise: Options) -> Options:
    """The options that were given, the others from `otherwise`. Of variables, the ones not given are kept."""
    given = {each.name: options.get(each.name) for each in dataclasses.fields(Options)}
    if given["max_rejects"] == NO_LIMIT:
        given["max_rejects"], otherwise = None, otherwise.without_limit()
    for setting in OPTIONS:
        if isinstance(pairs := given[setting.name], list):
            given[setting.name] = setting.kind.onto(getattr(otherwise, setting.name), once_each(setting.flag, pairs))
    return dataclasses.replace(otherwise, **{name: value for name, value in given.items() if value is not None})


def _new_options(options: dict[str, Any]) -> Options:
    """The options of an import without a preset: with the default limit of rejects, unless that is lifted."""
    chosen = _options(options, Options())
    return chosen if options["max_rejects"] == NO_LIMIT else chosen.with_default_limit()


def _known_format(options: dict[str, Any]) -> dict[str, Any]:
    """The fields of the file's dialect that were given."""
    given = {name: options[name] for name in (*FORMAT_FIELDS, *FORMAT_NAMES) if options[name] is not None}
    if options["line_end"]:
        given["line_end"] = LINE_ENDS[options["line_end"]]
    return given | {
        name: values[options[flag]] for flag, (name, values) in SWITCHES.items() if options[flag] is not None
    }

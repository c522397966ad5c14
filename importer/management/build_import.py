"""Builds an import from the options of `millrace load`."""

import sys
from collections.abc import Sequence
from typing import Any

from importer.access.policy import seen
from importer.connections.by_hand.resolve import forget_unused, refuse_missing, resolve_sources
from importer.connections.by_hand.schemes import check_scheme, is_address
from importer.connections.by_hand.server_file import find_on_server
from importer.engine.errors import Problem, TargetProblem, WrongUsage
from importer.engine.mapping.transforms import TRANSFORMS
from importer.engine.reading.questions import NeedsAnswer
from importer.management.import_options import check_named, flag_of, wish_of
from importer.management.terminal import by_url
from importer.models import ImportJob, MappingPreset, SourceFile, Target
from importer.preparation import like, presets
from importer.preparation.prepare import PreparedImport, prepare, require_load
from importer.preparation.request import ImportRequest, Wish, add_fault_of_file, profiling
from importer.preparation.whole_file import AsRead, read_alone, read_for_table


def read_from_options(options: dict[str, Any]) -> AsRead:
    """How the file of the options is read, for the table that they name or for a new one; warnings go to stderr.

    Raises Problem as prepare_from_options() does.
    """
    files, url = by_url.split_url(options["file"])
    if url or options["target"] or options["preset"] or options["like"]:
        return read_for_table(prepare_from_options(options))
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
        return read_alone(source, wish_of(options))
    except BaseException:
        forget_unused([source])
        raise


def prepare_from_options(options: dict[str, Any]) -> PreparedImport:
    """Prepare the import of the options; warnings go to stderr. Raises Problem if the import is not possible."""
    wish = wish_of(options)
    preset = presets.by_name(options["preset"]) if options["preset"] else None
    request = like.request_of(wish)
    files, url = by_url.split_url(options["file"])
    _check_files(files, options)
    if preset and not url and (decided := presets.decided(preset, wish)):
        raise Problem(
            f"{flag_of(decided[0], options)} cannot be combined with --preset, which sets that already.",
            advice="Leave it out, or import without the preset.",
        )
    try:
        target, table = (
            _target_of_url(url, options, request.before)
            if url
            else _target_and_table(options, preset or request.before)
        )
    except TargetProblem as problem:
        _add_fault_of_file(problem, files, options, wish)
        raise
    require_load(target, table)
    source = _source(files, target, options)
    try:
        with by_url.password_explained(target):
            if preset:
                return _prepare_from_preset(preset, source, target, table, wish)
            prepared = prepare(source, target, table, request)
            if not options["check_only"]:  # A check prints the whole reading.
                _write_notes(prepared)
            return prepared
    except NeedsAnswer as asked:
        if request.before:  # Why the columns of that import are not taken.
            _write(asked.reading.notes)
        forget_unused([source])
        raise
    except BaseException:
        forget_unused([source])
        raise


def _add_fault_of_file(problem: TargetProblem, files: list[str], options: dict[str, Any], wish: Wish) -> None:
    """Add to the problem of a target that cannot be entered that of the file, if it has one."""
    if options["server_file"]:
        return
    source = _here(files, options)
    try:
        add_fault_of_file(problem, ImportRequest.of(wish), profiling(source))
    finally:
        forget_unused([source])


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


def _target_of_url(url: str, options: dict[str, Any], before: ImportJob | None) -> tuple[Target, str]:
    """The target and the table of a URL, or of --table, or that of an import to be like.

    Raises Problem if there are two, or none.
    """
    if options["target"] or options["preset"]:
        raise Problem("The server is named twice: by a URL, and by --to or --preset.", advice="Leave one of them out.")
    target, table = by_url.target_of(url, options)
    if table and options["table"]:
        raise Problem("The table is named twice: in the URL, and by --table.", advice="Leave one of them out.")
    table = table or _table(options, before.table_name if before else "")
    return by_url.saved(target), table


def _target_and_table(options: dict[str, Any], before: MappingPreset | ImportJob | None) -> tuple[Target, str]:
    """The target and the table that the options name, or else `before`, a preset or an import. Raises Problem."""
    if options["target"] or before is None:
        return named_target(options["target"]), _table(options, before.table if before else "")
    if before.target.by_url:
        by_url.hold_password(before.target, options)
    return before.target, _table(options, before.table)


def _write_notes(prepared: PreparedImport) -> None:
    """Write the suggested conversions and doubtful values to stderr, since there is no page that shows them."""
    for each in prepared.mapping:
        conversions = [TRANSFORMS[word].words if word in TRANSFORMS else word for word in each.words]
        if conversions:
            listed = ", ".join(conversions)
            sys.stderr.write(f"{each.column} is read as {listed} (--map changes that).\n")
    _write(prepared.reading.lines)


def _write(lines: Sequence[str]) -> None:
    for line in lines:
        sys.stderr.write(f"{line}\n")


def _prepare_from_preset(
    preset: MappingPreset, source: SourceFile, target: Target, table: str, wish: Wish
) -> PreparedImport:
    prepared = presets.prepare_with(preset, source, target, table, wish)
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


def _table(options: dict[str, Any], otherwise: str = "") -> str:
    if not (table := options["table"] or otherwise):
        advice = "Add --table TABLE, or end the URL in /DATABASE.TABLE; a preset (--preset NAME) has a table, too."
        raise WrongUsage("No table is named.", advice=advice)
    return str(table)

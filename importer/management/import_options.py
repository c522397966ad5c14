"""The options of `millrace load`, in groups. They are a contract (see README)."""

import argparse
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from importer.engine.errors import Problem, WrongUsage
from importer.engine.mapping.columns import FieldOverride
from importer.engine.mapping.suggest import MATCHES
from importer.engine.mapping.transforms import LISTED_NAMES
from importer.engine.plan.option_kinds import Group, OptionSpec
from importer.engine.plan.option_specs import OPTIONS, SPEED, named
from importer.engine.source.dialect import unescape_mark
from importer.engine.source.formats.options import FORMAT, FORMAT_NAMES, FORMAT_OPTIONS
from importer.engine.source.formats.own_line_ends import line_end_of
from importer.engine.source.formats.registry import NAMES
from importer.management.argument_types import (
    character,
    checked,
    column_type,
    encoding,
    field_mapping,
    file_name_column,
    generated_column,
    once_each,
    rows,
    typed,
)

# Switches that set a field of Dialect: the field, and its values for --X and --no-X.
SWITCHES: dict[str, tuple[str, dict[bool, Any]]] = {
    "header": ("header", {True: True, False: False}),
    "trailing_delimiter": ("trailing_delimiter", {True: True, False: False}),
    "keep_blank_lines": ("blank_lines", {True: "keep", False: "skip"}),
    "skip_repeated_header": ("skip_repeated_header", {True: True, False: False}),
    "unquoted_empty_null": ("unquoted_empty_is_null", {True: True, False: False}),
}
# Other options that state a field of Dialect, which has the same name.
FORMAT_FIELDS = ("delimiter", "quote", "escape", "encoding", "skip_rows", "comment", "skip_after_header", "skip_footer")
# The options that state a field of the file's format: their name is that of the field.
_FORMAT = ("line_end", *FORMAT_FIELDS, *FORMAT_NAMES)
# The options that say what has another name in a wish.
_OF_NAMES = {
    "columns": ("map",),
    "generated": ("set",),
    "add_columns": ("add_column",),
    "new_table": ("type", "primary_key", "no_widen"),
}
# Options that are listed before all groups of the help.
BEFORE_GROUPS = ("mode", "once", "priority")


def usage(word: str, table: str) -> str:
    """The usage of `load`, `plan` or `check`. `table`: how the table is named, which a check may be without."""
    return f"%(prog)s FILE... {f'[{table}]' if word == 'check' else table} [options]"


def check_named(files: Sequence[str], connection: str, server_file: str) -> None:
    """Raise Problem unless the files of an import are named, and in one way."""
    if not (files or server_file):
        raise WrongUsage(
            "No file is named.", advice="Name it before the URL, or - for standard input, or --server-file PATH."
        )
    if server_file and (files or connection):
        raise Problem(
            "--server-file cannot be combined with other files.",
            server_file,
            "Import the file on the database's host alone.",
        )


def add_flags(parser: argparse.ArgumentParser, add_server_flags: Callable[[argparse.ArgumentParser], None]) -> None:
    """Add all options to the parser; `add_server_flags` adds those that say how the database server is reached."""
    parser.add_argument(
        "file",
        nargs="*",
        metavar="FILE",
        help="a path, a pattern such as 'sales-*.csv', an address (https://, s3://, sftp://), or - for standard input;"
        " several are read as one",
    )
    parser.add_argument(
        "--all-members", action="store_true", help="FILE is an archive: all files in it are read as one"
    )
    parser.add_argument("--allow-private", action="store_true", help="an address may be one of a private network")
    parser.add_argument(
        "--from",
        dest="from_connection",
        default="",
        metavar="CONNECTION",
        help="FILE is a file, or a pattern, of this connection (see `millrace connection list`)",
    )
    parser.add_argument(
        "--server-file",
        default="",
        metavar="PATH",
        help="instead of FILE: a file on the database's host, by its path there; the server reads it itself",
    )
    parser.add_argument(
        "--to", "--target", dest="target", metavar="TARGET", help="name of a target (see `millrace target list`)"
    )
    parser.add_argument("--table", help="TABLE or SCHEMA.TABLE")
    parser.add_argument("--preset", metavar="NAME", help="use a preset's target, table, format, columns and options")
    parser.add_argument(
        "--like",
        type=int,
        metavar="IMPORT",
        help="use those of this import (its number), as far as they fit; what else is given holds",
    )
    _add_option(parser, named("mode"))
    _add_option(parser, named("once"))
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument("--plan-only", action="store_true", help="show the plan, and do not import")
    instead.add_argument(
        "--check-only",
        action="store_true",
        help="read the whole file, say which rows could not be loaded, and do not import; needs no target",
    )
    parser.add_argument(
        "--accept-guesses", action="store_true", help="continue where the file can be read in more than one way"
    )
    parser.add_argument("--in-process", action="store_true", help="load in this process, without Redis and workers")
    parser.add_argument(
        "--workers", dest="in_process", action="store_false", help="hand the import to the running workers"
    )
    _add_option(parser, named("priority"))
    add_server_flags(parser)
    _add_new_table(parser)
    _add_row_policy(parser)
    _add_format(parser)
    _add_mapping(parser)
    _add_speed(parser)


def _add_new_table(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("the table that --mode create creates")
    group.add_argument("--type", type=column_type, action="append", metavar="COLUMN=TYPE", help="may be repeated")
    group.add_argument("--primary-key", action="append", metavar="COLUMN", help="may be repeated")
    group.add_argument("--no-widen", action="store_true", help="stop if a type is too narrow instead of widening it")


def _add_row_policy(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("rows that cannot be loaded as they are")
    for option in OPTIONS:
        if option.group is not Group.SPEED and option.name not in BEFORE_GROUPS:
            _add_option(group, option)


def _add_format(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("the file's format, where it is not detected")
    group.add_argument(FORMAT.flag, choices=NAMES, help=FORMAT.about)
    for option in FORMAT_OPTIONS:
        group.add_argument(
            option.flag, dest=option.name, metavar=option.metavar, type=checked(option.read), help=option.about
        )
    group.add_argument("--null", action="append", metavar="MARKER", help="text that means NULL; may be repeated")
    group.add_argument(
        "--delimiter",
        type=checked(unescape_mark),
        help=r"one or more characters; \t and \x01 stand for control characters",
    )
    group.add_argument("--quote", type=character, help="'' for none")
    group.add_argument(
        "--escape",
        type=character,
        help=r"'' (RFC 4180); '\' as MySQL; quote: only \" is escaped; php: as PHP's fputcsv, backslashes stay",
    )
    group.add_argument("--encoding", type=encoding, help="such as cp1252, utf-16-le, shift_jis")
    _add_switch(group, "--header", "the first record has the names of the fields, or is data")
    group.add_argument(
        "--line-end",
        type=checked(line_end_of),
        metavar="MARK",
        help=r"what ends a record: lf, crlf, cr, any (each of the three does), or a text such as ^^^\n",
    )
    group.add_argument("--skip-rows", type=rows, metavar="N", help="lines before the header, or before the data")
    group.add_argument(
        "--comment",
        type=checked(unescape_mark),
        metavar="PREFIX",
        help="a line that begins with it is no record; '' for none",
    )
    group.add_argument("--skip-after-header", type=rows, metavar="N", help="lines below the header that are no records")
    group.add_argument("--skip-footer", type=rows, metavar="N", help="lines at the file's end that are no records")
    _add_switch(group, "--skip-repeated-header", "a record that equals the header is none, or is data")
    _add_switch(group, "--trailing-delimiter", "each record ends in one more delimiter, after which no field begins")
    _add_switch(group, "--keep-blank-lines", "an empty line is a row, or no record")
    _add_switch(
        group,
        "--unquoted-empty-null",
        "an empty field is NULL without quotes and an empty text with quotes, or always text",
    )


def _add_switch(group: argparse._ArgumentGroup, flag: str, text: str) -> None:
    """Add a flag and its opposite, --no-X. Without either the value is None: as detected."""
    group.add_argument(flag, action=argparse.BooleanOptionalAction, default=None, help=text)


def _add_mapping(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("the column of each field, and how its values are read; the rest as suggested")
    group.add_argument(
        "--map",
        type=field_mapping,
        action="append",
        default=[],
        metavar="FIELD=COLUMN[:TRANSFORM,...]",
        help="a field (its name, or #3) and its column (empty: leave the field out); may be repeated. TRANSFORM is"
        f" {LISTED_NAMES}, plain, null=MARKER, OLD>NEW (the value OLD is loaded as NEW), lookup(TABLE.COLUMN) (the"
        " number of the row of TABLE with this text), or at the end date=FORMAT",
    )
    group.add_argument("--match", choices=MATCHES, help="match fields and columns by name, or by position")
    group.add_argument(
        "--ignore-fields", action="store_true", help="fields that no column has the name of are meant to be left out"
    )
    group.add_argument(
        "--add-column",
        type=column_type,
        action="append",
        default=[],
        metavar="COLUMN=TYPE",
        help="a column that the table gets before its first row is loaded, if it does not have it; may be repeated",
    )
    group.add_argument(
        "--set",
        type=generated_column,
        action="append",
        default=[],
        metavar="COLUMN=VALUE",
        help="for a column without a field: a text, or @file, @row, @line, @time; may be repeated",
    )
    group.add_argument(
        "--file-name-column",
        dest="set",
        type=file_name_column,
        action="append",
        metavar="COLUMN",
        help="the column that gets the name of each row's file; the same as --set COLUMN=@file",
    )


def _add_speed(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(
        "speed",
        "The plan decides the options that are not given, with reasons (--plan-only). docs/settings.md explains each.",
    )
    for option in SPEED:
        _add_option(group, option)


def _add_option(group: argparse._ArgumentGroup | argparse.ArgumentParser, option: OptionSpec) -> None:
    """Add the option's flag. Its value is None if it is not given."""
    how = option.kind.flag
    if "action" not in how or how["action"] == "append":
        how["type"] = typed(option.kind)
    group.add_argument(option.flag, dest=option.name, help=option.about.replace("%", "%%"), **how)


def wish_of(options: Mapping[str, Any]) -> dict[str, Any]:
    """The body of a request for an import (docs/api.md), but for the files. It has nothing that was not given."""
    wanted = {
        "target": options["target"],
        "table": options["table"],
        "preset": options["preset"],
        "like": options["like"],
        "match": options["match"],
        "format": _format(options),
        "null": options["null"],
        "columns": [_column(each) for each in options["map"]],
        "generated": [{"column": each.column, "source": each.source, "text": each.text} for each in options["set"]],
        "add_columns": once_each("--add-column", options["add_column"]),
        "options": _options(options),
        "new_table": _new_table(options),
        "ignore_fields": options["ignore_fields"],
        "accept_guesses": options["accept_guesses"],
        "all_members": options["all_members"],
    }
    return {name: value for name, value in wanted.items() if value}


def _format(options: Mapping[str, Any]) -> dict[str, Any]:
    given = {name: options[name] for name in _FORMAT if options[name] is not None}
    switched = {field: values[options[flag]] for flag, (field, values) in SWITCHES.items() if options[flag] is not None}
    return given | switched


def _column(override: FieldOverride) -> dict[str, Any]:
    values = {
        "field": override.field,
        "column": override.column,
        "transforms": override.transforms,
        "null": override.null_markers,
        "date_format": override.datetime_format,
        "values": override.values,
        "lookup": override.lookup.text if override.lookup else None,
    }
    return {name: value for name, value in values.items() if value is not None}


def _options(options: Mapping[str, Any]) -> dict[str, Any]:
    given = {}
    for each in OPTIONS:
        if (value := options.get(each.name)) is not None:
            given[each.name] = once_each(each.flag, value) if isinstance(value, list) else value
    return given


def _new_table(options: Mapping[str, Any]) -> dict[str, Any]:
    made = {"types": dict(options["type"] or ()), "primary_key": options["primary_key"]}
    given: dict[str, Any] = {name: value for name, value in made.items() if value}
    return given | ({"widen": False} if options["no_widen"] else {})


def flag_of(name: str, options: Mapping[str, Any]) -> str:
    """The flag that said this of a wish, such as `format.header`."""
    field = name.removeprefix("format.")
    switch = next((flag for flag, (switched, _) in SWITCHES.items() if switched == field), "")
    negated = "no-" if switch and options[switch] is False else ""
    said = switch or next((each for each in _OF_NAMES.get(field, ()) if options[each]), field)
    return f"--{negated}{said.replace('_', '-')}"

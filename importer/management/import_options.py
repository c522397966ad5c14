"""The options of `manage.py import_csv`, in groups. They are a contract (see README)."""

import argparse
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from importer.engine.mapping.transforms import TRANSFORMS
from importer.engine.plan.options import BOUNDS, OFFERED
from importer.engine.source.dialect import LINE_ENDS, from_written
from importer.engine.target.write_modes import MODES
from importer.management.argument_types import (
    asked_field,
    bounded,
    character,
    column_type,
    encoding,
    filling,
    level,
    percent,
    rows,
    size,
    variable,
)
from importer.preparation.option_catalog import OPTIONS, OptionKind, OptionSpec


def add_flags(parser: CommandParser) -> None:
    """All of them."""
    parser.add_argument("file", type=Path)
    parser.add_argument("--target", help="name of a target (see `manage.py target list`)")
    parser.add_argument("--table", help="TABLE or SCHEMA.TABLE")
    parser.add_argument("--preset", metavar="NAME", help="target, table, format, columns and options as saved")
    parser.add_argument("--mode", choices=list(MODES), help="default: append")
    parser.add_argument("--plan-only", action="store_true", help="show what would be done, and do nothing")
    parser.add_argument("--in-process", action="store_true", help="without Redis and workers")
    parser.add_argument("--json", action="store_true", help="print one report as JSON")
    _add_new_table(parser)
    _add_accounting(parser)
    _add_format(parser)
    _add_mapping(parser)
    _add_speed(parser)


def _add_new_table(parser: CommandParser) -> None:
    group = parser.add_argument_group("the table that --mode create makes")
    group.add_argument("--type", type=column_type, action="append", metavar="COLUMN=TYPE", help="may be repeated")
    group.add_argument("--primary-key", action="append", metavar="COLUMN", help="may be repeated")
    group.add_argument("--no-widen", action="store_true", help="end where a type is too narrow")


def _add_accounting(parser: CommandParser) -> None:
    group = parser.add_argument_group("rows that cannot go in as they are")
    group.add_argument(
        "--on-error",
        choices=OFFERED["on_error"],
        help="a row that cannot go in stops the import, or is left out and kept in a reject file (default: stop)",
    )
    group.add_argument("--max-rejects", type=rows, metavar="N", help="with --on-error reject: most rows left out")
    group.add_argument(
        "--max-reject-percent",
        type=percent,
        metavar="P",
        help="with --on-error reject: the same as a share of all rows",
    )
    group.add_argument(
        "--on-duplicate",
        choices=OFFERED["on_duplicate"],
        help="a row whose key is there already cannot go in (fail), is skipped, or replaces the row that is there;"
        " the last two keep the file's order, one chunk after another (default: fail)",
    )
    group.add_argument(
        "--rounding",
        choices=OFFERED["rounding"],
        help="a value that would lose digits goes in and is counted, or cannot go in (default: notice)",
    )
    group.add_argument("--verify", choices=OFFERED["verify"], help="what is compared afterwards (default: counts)")


def _add_format(parser: CommandParser) -> None:
    group = parser.add_argument_group("the file, where it does not show it by itself")
    group.add_argument("--null", action="append", metavar="MARKER", help="text that means NULL; may be repeated")
    group.add_argument(
        "--delimiter", type=from_written, help=r"one or more characters; \t and \x01 stand for control characters"
    )
    group.add_argument("--quote", type=character, help="'' for none")
    group.add_argument("--escape", type=character, help="'' (RFC 4180) or a backslash")
    group.add_argument("--encoding", type=encoding, help="such as cp1252, utf-16-le, shift_jis")
    group.add_argument("--no-header", action="store_true", help="the first record is data")
    group.add_argument("--line-end", choices=LINE_ENDS, help="what ends a record; any: each of the three does")
    group.add_argument("--skip-rows", type=rows, metavar="N", help="lines before the header, or before the data")
    group.add_argument("--trailing-delimiter", action="store_true", help="each record ends in one more delimiter")
    group.add_argument("--keep-blank-lines", action="store_true", help="a line with nothing in it is a row")
    group.add_argument(
        "--unquoted-empty-null", action="store_true", help='nothing between two delimiters is NULL, "" is an empty text'
    )


def _add_mapping(parser: CommandParser) -> None:
    group = parser.add_argument_group("which field goes where, and how it reads; the rest is as suggested")
    group.add_argument(
        "--map",
        type=asked_field,
        action="append",
        default=[],
        metavar="FIELD=COLUMN[:TRANSFORM,...]",
        help="a field (its name, or #3) and its column, or nothing to leave it out; may be repeated. TRANSFORM is"
        f" {', '.join(TRANSFORMS)}, null=MARKER, or at the end date=FORMAT",
    )
    group.add_argument(
        "--set",
        type=filling,
        action="append",
        default=[],
        metavar="COLUMN=VALUE",
        help="for a column without a field: a text, or @file, @row, @line, @time; may be repeated",
    )


def _add_speed(parser: CommandParser) -> None:
    group = parser.add_argument_group(
        "speed",
        "What is not given here the plan decides, and says why (--plan-only). docs/settings.md says more of each.",
    )
    for setting in OPTIONS:
        group.add_argument(setting.flag, dest=setting.name, help=setting.about.replace("%", "%%"), **_how(setting))


def _how(setting: OptionSpec) -> dict[str, Any]:
    """How argparse reads the setting's values; None is what it gives where the flag was not given."""
    match setting.kind:
        case OptionKind.CHOICE:
            choices = tuple(filter(None, OFFERED[setting.name]))
            return {"choices": choices, "type": level if setting.name == "isolation" else str}
        case OptionKind.SIZE:
            return {"type": size, "metavar": "32M"}
        case OptionKind.SWITCH:
            return {"action": argparse.BooleanOptionalAction}
        case OptionKind.VARIABLES:
            return {"type": variable, "action": "append", "metavar": "NAME=VALUE"}
    return {"type": bounded(*BOUNDS[setting.name]), "metavar": "N"}

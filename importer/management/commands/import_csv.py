"""`manage.py import_csv`: an import from a shell. Its options and its report are a contract (see README)."""

import dataclasses
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from tqdm import tqdm

from importer import in_process, jobs, presets, rejects, sources, workers
from importer.engine.dialect import LINE_ENDS, Dialect, from_written
from importer.engine.doubts import mapping_notes
from importer.engine.errors import Problem
from importer.engine.modes import MODES
from importer.engine.options import OFFERED, Options
from importer.engine.profile import profile_file
from importer.engine.transforms import TRANSFORMS
from importer.management.arguments import (
    asked_field,
    character,
    column_type,
    encoding,
    filling,
    percent,
    rows,
    sessions,
    size,
)
from importer.management.prepared import PreparedCommand
from importer.models import ImportJob, Target
from importer.preparation import AskedTable, Prepared, prepare

# Flags that say something about the dialect, and what.
FLAGS: dict[str, tuple[str, Any]] = {
    "no_header": ("header", False),
    "trailing_delimiter": ("trailing_delimiter", True),
    "keep_blank_lines": ("blank_lines", "keep"),
    "unquoted_empty_null": ("unquoted_empty_is_null", True),
}
LOOK_EVERY = 0.2  # seconds
MOST_KINDS = 20  # printed; the report as JSON has all
NOBODY_CAME = 20  # seconds after which a job that nobody took is worth a word


class Command(PreparedCommand):
    help = "Load a CSV file into a table of a target, and prove that every row arrived."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--target", help="name of a target (see `manage.py target list`)")
        parser.add_argument("--table", help="TABLE or SCHEMA.TABLE")
        parser.add_argument("--preset", metavar="NAME", help="target, table, format, columns and options as saved")
        parser.add_argument("--mode", choices=list(MODES), help="default: append")
        _add_new_table(parser)
        _add_accounting(parser)
        parser.add_argument("--method", choices=OFFERED["method"])
        parser.add_argument("--indexes", choices=OFFERED["indexes"])
        parser.add_argument("--chunk-size", type=size, help="bytes, such as 32M; default: the plan decides")
        parser.add_argument("--parallel", type=sessions, help="chunks at once; default: the plan decides")
        parser.add_argument("--null", action="append", metavar="MARKER", help="text that means NULL; may be repeated")
        _add_mapping(parser)
        parser.add_argument(
            "--delimiter", type=from_written, help=r"one or more characters; \t and \x01 stand for control characters"
        )
        parser.add_argument("--quote", type=character, help="'' for none")
        parser.add_argument("--escape", type=character, help="'' (RFC 4180) or a backslash")
        parser.add_argument("--encoding", type=encoding, help="such as cp1252, utf-16-le, shift_jis")
        parser.add_argument("--no-header", action="store_true", help="the first record is data")
        _add_lines(parser)
        parser.add_argument("--plan-only", action="store_true", help="show what would be done, and do nothing")
        parser.add_argument("--in-process", action="store_true", help="without Redis and workers")
        parser.add_argument("--json", action="store_true", help="print one report as JSON")

    def handle(self, *_args: Any, **options: Any) -> None:
        try:
            prepared = _prepare(options)
            if options["plan_only"]:
                self._show_plan(prepared, options["json"])
                return
            job = _follow(jobs.create(prepared), prepared, options)
        except Problem as problem:
            raise CommandError(str(problem)) from problem
        self._show_report(job, options["json"])
        if not (job.status == ImportJob.Status.SUCCEEDED and job.balanced):
            sys.exit(1)

    def _show_plan(self, prepared: Prepared, as_json: bool) -> None:
        if as_json:
            self.stdout.write(json.dumps(prepared.plan.as_json(), indent=2))
            return
        for reason in prepared.plan.reasons:
            self.stdout.write(f"{'! ' if reason.holds_back else '- '}{reason.choice}: {reason.why}")
        self.stdout.write(prepared.plan.statement)
        if prepared.plan.staged:
            self.stdout.write("\n".join(["", *prepared.plan.staged.make, "", prepared.plan.staged.finish]))

    def _show_report(self, job: ImportJob, as_json: bool) -> None:
        files = self._write_files(job)
        if as_json:
            self.stdout.write(json.dumps(jobs.report(job, **files), indent=2))
            return
        self.stdout.write(f"Import {job.pk} {job.status}: {jobs.equation(job)}")
        if job.rows_per_second:
            self.stdout.write(f"{job.rows_per_second:,.0f} rows/s, verified against the ledger on the server")
        self._show_kinds(job)
        if files["rejects_file"]:
            self.stdout.write(f"Rejected rows, to mend and import again: {files['rejects_file']}")
        if files["reasons_file"]:
            self.stdout.write(f"Line, column, value and reason of each: {files['reasons_file']}")
        if job.problem:
            self._show_problem(job.problem)
        if jobs.could_leave_out(job):
            self.stderr.write(
                "Such rows can be left out and kept with their reasons: with --on-error reject, or by a retry on the"
                " job's page, which loads what is not in yet."
            )
        self._show_what_stands(job)

    def _show_what_stands(self, job: ImportJob) -> None:
        """What has become of the table where that is not plain from the numbers."""
        if job.stages and not job.finished:
            self.stderr.write(
                "The server does not answer: whether all rows are in, or none, is known as soon as it does."
                if job.leftover
                else f"{job.table} is as it was: mode {job.options.mode} brings in all rows or none."
            )
        elif job.kept_table:
            self.stdout.write(f"The old table is kept as {job.kept_table}: manage.py kept_table restore|drop {job.pk}")
        elif job.loaded_rows and not job.balanced and not job.stages:
            self.stderr.write(
                f"{job.loaded_rows:,} rows of other chunks are in the table and stay there. Retry on the job's page"
                " loads what is missing, from the same file. Before a corrected file is imported as a new one, those"
                " rows must be deleted from the table, or they are there twice."
            )

    def _write_files(self, job: ImportJob) -> dict[str, Path | None]:
        try:
            return {
                "rejects_file": rejects.write_reject_file(job),
                "reasons_file": rejects.write_reasons_file(job),
            }
        except Problem as problem:  # The import is as it is; only these files are not to be had here.
            self.stderr.write(str(problem))
            return {"rejects_file": None, "reasons_file": None}

    def _show_kinds(self, job: ImportJob) -> None:
        """The commonest reasons for rows that did not go in, and what was changed and counted."""
        for amount, kinds in (("rows", job.reject_reasons), ("values", job.notices)):
            for kind in kinds[:MOST_KINDS]:
                column = f"column {kind['column']}: " if kind["column"] else ""
                self.stdout.write(f"  {kind[amount]:,} {amount}: {column}{kind['reason']}")
            if len(kinds) > MOST_KINDS:
                self.stdout.write(f"  and {len(kinds) - MOST_KINDS} more reasons")

    def _show_problem(self, problem: dict[str, Any]) -> None:
        where = f"{problem['where']}: " if problem["where"] else ""
        self.stderr.write(f"{where}{problem['what']}")
        for row in problem["rows"]:
            column = f", column {row['column']}" if row["column"] else ""
            self.stderr.write(f"  line {row['line']:,}{column}: {row['value']!r}: {row['reason']}")
        if problem["bad_rows"] > len(problem["rows"]):
            self.stderr.write(f"  and {problem['bad_rows'] - len(problem['rows']):,} more in this chunk")
        self.stderr.write(problem["advice"])


def _add_new_table(parser: CommandParser) -> None:
    """How the table is to be that mode create makes."""
    parser.add_argument("--type", type=column_type, action="append", metavar="COLUMN=TYPE", help="with --mode create")
    parser.add_argument("--primary-key", action="append", metavar="COLUMN", help="with --mode create; may be repeated")
    parser.add_argument("--no-widen", action="store_true", help="with --mode create: end where a type is too narrow")


def _add_accounting(parser: CommandParser) -> None:
    """What becomes of rows that cannot go in as they are."""
    parser.add_argument(
        "--on-error",
        choices=OFFERED["on_error"],
        help="a row that cannot go in stops the import, or is left out and kept in a reject file (default: stop)",
    )
    parser.add_argument("--max-rejects", type=rows, metavar="N", help="with --on-error reject: most rows left out")
    parser.add_argument(
        "--max-reject-percent",
        type=percent,
        metavar="P",
        help="with --on-error reject: the same as a share of all rows",
    )
    parser.add_argument(
        "--on-duplicate",
        choices=OFFERED["on_duplicate"],
        help="a row whose key is there already cannot go in (fail), is skipped, or replaces the row that is there;"
        " the last two keep the file's order, one chunk after another (default: fail)",
    )
    parser.add_argument(
        "--rounding",
        choices=OFFERED["rounding"],
        help="a value that would lose digits goes in and is counted, or cannot go in (default: notice)",
    )
    parser.add_argument("--verify", choices=OFFERED["verify"], help="what is compared afterwards (default: counts)")


def _add_lines(parser: CommandParser) -> None:
    """What is a record, and what is none."""
    parser.add_argument("--line-end", choices=LINE_ENDS, help="what ends a record; any: each of the three does")
    parser.add_argument("--skip-rows", type=rows, metavar="N", help="lines before the header, or before the data")
    parser.add_argument("--trailing-delimiter", action="store_true", help="each record ends in one more delimiter")
    parser.add_argument("--keep-blank-lines", action="store_true", help="a line with nothing in it is a row")
    parser.add_argument(
        "--unquoted-empty-null", action="store_true", help='nothing between two delimiters is NULL, "" is an empty text'
    )


def _add_mapping(parser: CommandParser) -> None:
    """Which field goes where, and how it reads; the rest is as suggested."""
    parser.add_argument(
        "--map",
        type=asked_field,
        action="append",
        default=[],
        metavar="FIELD=COLUMN[:TRANSFORM,...]",
        help="a field (its name, or #3) and its column, or nothing to leave it out; may be repeated. TRANSFORM is"
        f" {', '.join(TRANSFORMS)}, null=MARKER, or at the end date=FORMAT",
    )
    parser.add_argument(
        "--set",
        type=filling,
        action="append",
        default=[],
        metavar="COLUMN=VALUE",
        help="for a column without a field: a text, or @file, @row, @line, @time; may be repeated",
    )


def _prepare(options: dict[str, Any]) -> Prepared:
    if options["preset"]:
        return _prepare_as_saved(options)
    prepared = prepare(
        sources.register(options["file"]),
        _target(options["target"]),
        _required(options, "table"),
        dialect=_dialect(options),
        null_markers=options["null"],
        asked=options["map"],
        fillings=options["set"],
        options=_options(options, Options()),
        asked_table=AskedTable(
            dict(options["type"] or ()), tuple(options["primary_key"] or ()), widen=not options["no_widen"]
        ),
    )
    _tell_of_reading(prepared)
    return prepared


def _tell_of_reading(prepared: Prepared) -> None:
    """What the sample suggested about values, and what is doubtful: there is no page to ask on."""
    for each in prepared.mapping:
        read = [TRANSFORMS[name].label.lower() for name in each.transforms] + [each.datetime_format]
        if any(read):
            sys.stderr.write(f"{each.column} is read as {', '.join(filter(None, read))} (--map says otherwise).\n")
    for note in mapping_notes(prepared.profile, prepared.table, prepared.mapping):
        sys.stderr.write(f"{note}\n")


def _prepare_as_saved(options: dict[str, Any]) -> Prepared:
    """As a preset says; another target or table may be named, and other options."""
    for name in ("map", "set", "null", "delimiter", "quote", "escape", "encoding", "line_end", "skip_rows", *FLAGS):
        if options[name]:
            raise Problem(
                f"--{name.replace('_', '-')} says what the preset says already.",
                advice="Leave it out, or import without the preset.",
            )
    preset = presets.named(options["preset"])
    presets.check_header(preset, profile_file(options["file"], preset.file_dialect).header)
    prepared = prepare(
        sources.register(options["file"]),
        _target(options["target"]) if options["target"] else preset.target,
        options["table"] or preset.table,
        dialect=preset.file_dialect,
        mapping=preset.mapping,
        fillings=preset.fillings,
        options=_options(options, preset.options),
    )
    if changed := presets.differences(preset, prepared.table):
        sys.stderr.write(f"The table has changed since the preset was saved: {'; '.join(changed)}.\n")
    presets.mark_used(preset)
    return prepared


def _target(name: str | None) -> Target:
    target = Target.objects.filter(name=name).first()
    if target:
        return target
    known = ", ".join(Target.objects.values_list("name", flat=True)) or "none yet; see `manage.py target add`"
    what = f"There is no target named {name}." if name else "--target is missing."
    raise Problem(what, advice=f"Known: {known}.")


def _required(options: dict[str, Any], name: str) -> Any:
    if not options[name]:
        raise Problem(f"--{name} is missing.", advice="Name it, or a preset that knows it.")
    return options[name]


def _options(options: dict[str, Any], otherwise: Options) -> Options:
    """What was asked for, and `otherwise` for what was not."""
    asked = {each.name: options.get(each.name) for each in dataclasses.fields(Options)}
    asked |= {"chunk_bytes": options["chunk_size"], "parallelism": options["parallel"]}
    return dataclasses.replace(otherwise, **{name: value for name, value in asked.items() if value is not None})


def _dialect(options: dict[str, Any]) -> Dialect:
    """What was asked for, on top of what the file suggests.

    Raises SourceProblem if its encoding can only be guessed.
    """
    names = ("delimiter", "quote", "escape", "encoding", "skip_rows")
    asked = {name: options[name] for name in names if options[name] is not None}
    if options["line_end"]:
        asked["line_end"] = LINE_ENDS[options["line_end"]]
    asked |= {name: value for flag, (name, value) in FLAGS.items() if options[flag]}
    profile = profile_file(options["file"], **asked)
    if profile.doubt:
        raise profile.doubt
    return profile.dialect


def _follow(job: ImportJob, prepared: Prepared, options: dict[str, Any]) -> ImportJob:
    """Start the job and wait for its end, with a progress bar on a terminal. Ctrl-C cancels the job."""
    quiet = options["json"] or not sys.stderr.isatty()
    with tqdm(total=prepared.source.size, unit="B", unit_scale=True, disable=quiet, desc=f"import {job.pk}") as bar:
        told = False

        def look(now: ImportJob) -> None:
            nonlocal told
            if not told and (before := jobs.holder(now)):
                told = True
                sys.stderr.write(f"Import {before.pk} has the table {now.table}: this one waits for it.\n")
            bar.total = now.read_size
            bar.set_postfix_str(f"{now.loaded_rows:,} rows, {now.status}")
            bar.update(now.data_offset + now.committed_bytes - bar.n)

        wait: Callable[[], ImportJob] = lambda: _wait(job.pk, look)  # noqa: E731
        if options["in_process"]:
            wait = lambda: in_process.run(job.pk, prepared.plan.parallelism, look)  # noqa: E731
        else:
            _tell_of_few_workers(options["parallel"])
            jobs.start(job.pk)
        try:
            ended = wait()
        except KeyboardInterrupt:
            jobs.cancel(job.pk)
            ended = wait()
        look(ended)
    return ended


def _tell_of_few_workers(asked: int | None) -> None:
    most = workers.loads_at_once()
    if asked and 0 < most < asked:
        sys.stderr.write(f"--parallel {asked}: the workers that run now load {most} at once, which is not exceeded.\n")


def _wait(job_id: int, look: Callable[[ImportJob], None]) -> ImportJob:
    begun = time.monotonic()
    warned = False
    while not (job := ImportJob.objects.get(pk=job_id)).ended:
        look(job)
        if not warned and job.step == ImportJob.Step.SCAN_QUEUED and time.monotonic() - begun > NOBODY_CAME:
            warned = True
            sys.stderr.write("No worker has taken the import yet: is `make run` running? --in-process needs none.\n")
        time.sleep(LOOK_EVERY)
    return job

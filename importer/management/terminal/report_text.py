"""Reports, plans, schedules and findings as lines for a terminal, from their documents (docs/contracts.md)."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from config.contracts.outcomes import PREVIEWED, UNDECIDED
from config.contracts.report import NO_ROWS
from importer.engine.errors import NotAsSeen, TooManyChanges, is_of_bad_rows, is_of_broken_proof
from importer.engine.load.rejects.server_warnings import DUPLICATE
from importer.engine.load.verify import Equation
from importer.engine.reading.questions import question_lines
from importer.engine.source.chunks.skipped_lines import SkippedLines
from importer.engine.source.decisions import Answer, Decision, Standing
from importer.engine.source.records.row_error import shortened

MOST_KINDS = 20  # reasons that are printed; the report has all
MOST_FIELDS = 60  # fields that are printed; the report has all
MARKS = ("delimiter", "quote", "escape")  # of a CSV file
SIGNS = {"ok": "ok  ", "warn": "warn", "fail": "FAIL"}

# Keys of rows that others have changed that are named.
MOST_KEYS = 10


def equation_of(rows: Mapping[str, int]) -> Equation:
    """The equation of a report's `rows`."""
    return Equation(**{name: rows.get(name, 0) for name in NO_ROWS if name != "missing"})


def reading_lines(reading: Mapping[str, Any]) -> Iterator[str]:
    """How a report's `reading` reads the file: its format, and the column of each field."""
    marks = [f"{name} '{reading[name]}'" for name in MARKS if reading[name]]
    marks += [f"line end {reading['line_end']}"] if reading["line_end"] else []
    header = {True: ["a header"], False: ["no header"]}.get(reading["header"], [])
    yield f"Read as {reading['format']}: {', '.join([reading['encoding'], *marks, *header])}"
    for field in reading["columns"][:MOST_FIELDS]:
        yield f"  {_field_line(field)}"
    if (more := len(reading["columns"]) - MOST_FIELDS) > 0:
        yield f"  and {more:,} more fields"


def _field_line(field: Mapping[str, Any]) -> str:
    if not field["column"]:
        return f"{field['field']}: left out"
    how = f", read as {field['format']}" if field["format"] else ""
    null = f", NULL is {' or '.join(each or 'empty' for each in field['null_words'])}" if field["null_words"] else ""
    return f"{field['field']} -> {field['column']} {field['type']}{how}{null}"


def plan_lines(plan: Mapping[str, Any]) -> Iterator[str]:
    """A report's `plan`: each decision with its reason, "!" before one that holds the load back, and the SQL."""
    for reason in plan["reasons"]:
        yield f"{'! ' if reason['holds_back'] else '- '}{reason['choice']}: {reason['why']}"
    if any(reason["holds_back"] for reason in plan["reasons"]):
        yield "(! holds the load back)"
    for each in plan["sql"]:
        yield f"\n{each['when']}:\n{each['statements']}"


def questions(report: Mapping[str, Any]) -> Iterator[str]:
    """The questions of a report with the outcome "needs an answer", with the flags that answer them."""
    guesses = [
        Decision(
            each["name"],
            each["value"],
            Standing(each["standing"]),
            each["evidence"],
            each["field"],
            tuple(Answer(given["label"], given["flag"], shows=tuple(given["shows"])) for given in each["answers"]),
        )
        for each in report["reading"]["guesses"]
    ]
    yield from question_lines(guesses, report["problem"]["where"])


def compared_lines(compared: Mapping[str, Any] | None, *, written: bool) -> Iterator[str]:
    """A report's `compared`; without the counts and rows that the equation makes up for, if it was `written`."""
    if not compared:
        return
    if not written:
        again = f"; {compared['repeated']:,} have a key that comes again later" if compared["repeated"] else ""
        yield (
            f"Of the file's rows {compared['new']:,} are new, {compared['changed']:,} change a row, and"
            f" {compared['unchanged']:,} are equal to one{again}."
        )
    if not written and compared["missing"]:
        gone = (
            f"{compared['marked']:,} would be marked"
            if compared["marked"]
            else f"{compared['deleted']:,} would be deleted"
        )
        yield f"The table has {compared['missing']:,} more, of which {gone}."
    if compared["columns"]:
        changed = ", ".join(f"{name} {rows:,}" for name, rows in compared["columns"].items())
        yield f"Changed rows by column: {changed}"
    if written and (kept := compared["missing"] - compared["deleted"] - compared["marked"]):
        yield f"Rows of the table that the file does not have, and that stay: {kept:,}"
    for kind, rows in compared["first"].items() if not written else ():
        for number, row in enumerate(rows):
            values = (f"{name} {' -> '.join(map(_value, texts))}" for name, texts in row.items())
            yield f"  {kind if not number else ' ' * len(kind)}  {', '.join(values)}"


def undo_lines(undo: Mapping[str, Any] | None, command: str) -> Iterator[str]:
    """A report's `undo`: how to take the import back, or what was taken back."""
    if not undo:
        return
    if undo["problem"]:
        yield "It was not taken back:"
        yield from problem_lines(undo["problem"])
    if undo["asked"]:
        yield "It is being taken back."
    elif undo["taken_back_at"]:
        yield (
            f"Taken back: {undo['changed']:,} changed rows have their old values, {undo['deleted']:,} deleted ones are"
            f" back, {undo['new']:,} new ones are gone."
        )
        if undo["by_others"]:
            left = "overwritten" if undo["overwritten"] else "left as they are"
            named = "; ".join(", ".join(key) for key in undo["first"][:MOST_KEYS])
            more = "" if undo["by_others"] <= MOST_KEYS else f", and {undo['by_others'] - MOST_KEYS:,} more"
            yield f"Changed by others since, and {left}: {undo['by_others']:,} ({', '.join(undo['key'])} {named}{more})"
    elif undo["kept_table"]:
        yield f"To take it back: {command}"


def _value(text: str | None) -> str:
    return "NULL" if text is None else shortened(text)


def skipped_lines(lines: SkippedLines) -> Iterator[str]:
    """How many lines of the file are no records, and those with a text of their own."""
    if not lines:
        return
    yield f"Not data: {lines}"
    for each in lines.shown:
        if each.kind not in ("header", "blank"):
            yield f"  line {each.line:,}, {each.words}: {shortened(each.text)}"


def repeated_line(earlier: str) -> str:
    """What a command writes of an import whose content an `earlier` one has loaded, which these words name."""
    return f"{earlier}: this one loads it once more. To refuse that: --once"


def kind_lines(reject_reasons: Sequence[Mapping[str, Any]], notices: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The most frequent reasons for rejected rows and for changed values."""
    for amount, kinds in (("rows", reject_reasons), ("values", notices)):
        for kind in kinds[:MOST_KINDS]:
            column = f"column {kind['column']}: " if kind["column"] else ""
            named = amount if kind[amount] != 1 else amount.removesuffix("s")
            yield f"  {kind[amount]:,} {named}: {column}{kind['reason']}"
        if len(kinds) > MOST_KINDS:
            yield f"  and {len(kinds) - MOST_KINDS} more reasons"


def problem_lines(problem: Mapping[str, Any]) -> Iterator[str]:
    """The problem of an import, with the first bad rows."""
    where = f"{problem['where']}: " if problem["where"] else ""
    yield f"{where}{problem['what']}"
    for row in problem["rows"]:
        column = f", column {row['column']}" if row["column"] else ""
        yield f"  line {row['line']:,}{column}: {shortened(row['value'])}: {row['reason']}"
    if problem["bad_rows"] > len(problem["rows"]):
        yield f"  and {problem['bad_rows'] - len(problem['rows']):,} more in this chunk"
    yield problem["advice"]


# What to do with rows that are staged, by the kind of the problem.
_OF_STAGED = {
    TooManyChanges.__name__: "To apply it all the same: {command} apply {job} --all-the-same. To drop it: {command}"
    " drop {job}",
    NotAsSeen.__name__: "To compare again: {command} compare {job}. To drop it: {command} drop {job}",
}


def _ways_out(job: int, problem: Mapping[str, Any], loaded: int, prefix: str) -> Iterator[str]:
    """The commands that load the missing rows of an import that has ended.

    `problem`: its own; {} if it has none, or if its bad rows cannot be left out. `loaded`: the rows that it leaves in
    the table. `prefix`: the beginning of command lines for its server.
    """
    retry = f"{prefix} job retry {job}"
    if way := _OF_STAGED.get(problem.get("kind", "")):
        yield way.format(command=f"{prefix} job", job=job)
    if is_of_bad_rows(problem):
        yield f"To leave out the bad rows, and keep them with their reasons: {retry} --on-error reject"
        if DUPLICATE in (row["code"] for row in problem["rows"]):
            skip = "A new import leaves out rows whose key is there with --on-duplicate skip"
            yield f"{skip}, and replaces those rows with --on-duplicate replace."
    if loaded and is_of_broken_proof(problem):
        yield f"{loaded:,} rows were recorded as loaded. How many of them are in the table now is not known."
    elif loaded:
        yield (
            f"{loaded:,} rows of other chunks are in the table and stay there. The missing rows, from the same file:"
            f" {retry}. Before a corrected file is imported, delete these rows from the table; otherwise they are"
            " loaded twice."
        )


def report_lines(report: Mapping[str, Any], prefix: str) -> Iterator[str]:
    """A report in words, without its problem. `prefix`: the beginning of command lines for its server."""
    job, rows = report["job"], report["rows"]
    if report["approval"] and not report["approval"]["approved_at"]:
        digest = report["approval"]["digest"]
        yield f"Import {job} waits for approval by another person; nothing is written before."
        yield (
            f"Digest: {digest}. That person approves it on the import's page, or: {prefix} job approve {job} --digest"
            " DIGEST"
        )
        yield f"To follow it: {prefix} job wait {job}. To give it up: {prefix} job cancel {job}"
        return
    if report["outcome"] in (PREVIEWED.words, UNDECIDED.words):
        yield f"Import {job} {report['outcome']}: {rows['source']:,} rows were compared, and nothing was changed."
    else:
        yield f"Import {job} {report['outcome'] or report['debug']['status']}: {equation_of(rows)}"
    yield from compared_lines(report.get("compared"), written=report["balanced"])
    if report["outcome"] == PREVIEWED.words:
        yield f"To change the table so: {prefix} job apply {job}. To drop what is staged: {prefix} job drop {job}"
    yield from undo_lines(report.get("undo"), f"{prefix} job undo {job}")
    yield from skipped_lines(SkippedLines.from_json(report["lines"])) if rows["source_is_final"] else ()
    if rate := report["rates"].get("rows_per_second"):
        compared = ", each stored value compared with the file" if report["debug"]["plan"].get("readback") else ""
        yield f"{rate:,.0f} rows/s, verified against the ledger on the server{compared}"
    if slower := report["rates"].get("slower_than_like"):
        yield slower["words"]
    yield from kind_lines(report["rejects"].get("reasons") or (), report["notices"])
    yield from _rejects(report, prefix)
    yield from (f"{each['what']} {each['advice']}" for each in report["outside_changes"])
    # A server of an older release has none.
    for wait in report.get("lock_waits", ()):
        yield f"It waited {wait['seconds']:.1f} s for a lock while it was {wait['during']}. {wait['what']}"
    yield from (cause_line(each) for each in report["why"])


def _rejects(report: Mapping[str, Any], prefix: str) -> Iterator[str]:
    """Where the rejected rows are, or how to get them."""
    file, reasons = report["rejects"].get("file"), report["rejects"].get("reasons_file")
    if file or report["rows"]["rejected"]:
        where = file or f"{prefix} job rejects {report['job']} --out FILE"
        yield f"Rejected rows, to be corrected and imported again: {where}"
    if reasons:
        yield f"Line, column, value and reason of each: {reasons}"


def cause_line(cause: Mapping[str, Any]) -> str:
    """Why an import waits or is slow, in a line."""
    return " ".join(filter(None, (cause[name] for name in ("what", "evidence", "advice"))))


def problem_and_ways_out(report: Mapping[str, Any], prefix: str) -> Iterator[str]:
    """The problem of an import with its first bad rows, the commands that load the missing rows, and what it leaves."""
    problem, rows, debug = report["problem"] or {}, report["rows"], report["debug"]
    if problem:
        yield from problem_lines(problem)
    if report["outcome"]:
        stay = 0 if report["balanced"] or debug.get("plan", {}).get("staged") else rows["loaded"]
        left_out = is_of_bad_rows(problem) and debug.get("on_error", "stop") != "stop"
        yield from _ways_out(report["job"], {} if left_out else problem, stay, prefix)
    yield from debug.get("left", ())


def finding_lines(finding: Mapping[str, Any]) -> Iterator[str]:
    """What the check of a target or a connection has found, with the fix."""
    yield f"{SIGNS[finding['status']]}  {finding['name']}: {finding['message']}"
    for line in finding["fix"].splitlines():
        yield f"      {line}"

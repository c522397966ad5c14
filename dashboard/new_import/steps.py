"""The steps of the new import page in words: a line for each, what is missing before the start, and the plan."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dashboard.formatting import number, roughly
from dashboard.new_import.grid.grid import Grid
from dashboard.new_import.preview import Preview
from importer.engine.errors import SourceProblem
from importer.engine.mapping.date_formats import format_words
from importer.engine.source import encodings
from importer.engine.source.dialect import Dialect, escape_mark
from importer.engine.source.formats.options import FORMAT_OPTIONS
from importer.engine.source.formats.registry import FORMATS
from importer.engine.source.profile.profile import SAMPLE_ROWS, Profile
from importer.engine.source.profile.sample import SAMPLE_BYTES
from importer.engine.target.write_modes import SWAPPING
from importer.engine.units import count_of
from importer.jobs.rejects.origin import columns_of_place
from importer.models import ImportJob
from importer.preparation.prepare import PreparedImport

# The options whose choices the plan's sentence names, in this order.
IN_SHORT = ("parallelism", "indexes", "sort")
FIELDS_NAMED = ANSWERS_NAMED = 3


@dataclass(frozen=True)
class Steps:
    """What the page says of its steps. `missing` keeps the import from starting; `remarks` do not.

    `accepts`: what the button that accepts the first answers would accept.
    `clear`: the file can be read, and no question about its format is open. `placed`: there is a table, with no problem
    and no open question about fields.
    """

    format: str
    table: str
    missing: tuple[str, ...]
    remarks: tuple[str, ...]
    plan: str
    accepts: str
    clear: bool
    placed: bool


def steps(preview: Preview, grid: Grid | None, adder: ImportJob | None) -> Steps:
    """The words for a preview. `adder`: the import that has added rows of the file to the table already."""
    asked = {each.about_columns for each in preview.open_questions}
    return Steps(
        format_in_short(preview.dialect) if preview.profile else "",
        _table(preview),
        tuple(_missing(preview)),
        (*_repeated(adder), *(_remarks(preview, grid) if grid else ())),
        _plan(preview, preview.profile, grid) if preview.profile else "",
        _first_answers(preview),
        clear=preview.profile is not None and False not in asked,
        placed=preview.table is not None and preview.problem is None and True not in asked,
    )


def _first_answers(preview: Preview) -> str:
    """The first answers that nobody has accepted, each with the field that it is about."""
    asked = [each for each in preview.open_questions if each.answers]
    named = []
    for each in asked[:ANSWERS_NAMED]:
        words = format_words(each.answers[0].label)
        named.append(f"{each.decision.field}: {_lower(words)}" if each.decision.field else words)
    more = len(asked) - len(named)
    return "; ".join([*named, f"{number(more)} more"] if more else named)


def _plan(preview: Preview, profile: Profile, grid: Grid | None) -> str:
    return plan_sentence(preview.prepared, _rows(preview, profile, grid)) if preview.prepared else ""


def format_in_short(dialect: Dialect) -> str:
    """A dialect in a few words: "semicolon, UTF-8, header row". A rare delimiter is in quotes."""
    if dialect.is_converted:
        return _other_format_in_short(dialect)
    names = {",": "comma", ";": "semicolon", "\t": "tab", "|": "vertical bar"}
    delimiter = names.get(dialect.delimiter, f"“{escape_mark(dialect.delimiter)}”")
    encoding = encodings.COMMON.get(dialect.encoding, "")
    return ", ".join(
        (
            delimiter,
            encoding if encoding.startswith("UTF") else dialect.encoding,
            "header row" if dialect.header else "no header row",
        )
    )


def _other_format_in_short(dialect: Dialect) -> str:
    """A format in a few words: "Excel workbook, sheet Orders"."""
    found = FORMATS[dialect.format]
    stated = (
        f"{each.label.lower()} {getattr(dialect, each.name)}" for each in FORMAT_OPTIONS if getattr(dialect, each.name)
    )
    return ", ".join((found.label, *stated))


def _table(preview: Preview) -> str:
    if not (preview.table and preview.target):
        return "Choose a target" if not preview.target else "Choose a table"
    table = preview.table
    place = f"{preview.target.name} · {table.schema}.{table.name}"
    if preview.new_table:
        return f"{place} · new table, {_count(len(table.columns), 'column')}"
    rows = f"about {count_of(table.rows_estimate, 'row')} now" if table.rows_estimate else "empty or nearly empty"
    return f"{place} · {rows}, {_count(len(table.keys), 'key') if table.keys else 'no key'}"


def _missing(preview: Preview) -> Iterator[str]:
    """What keeps the import from starting."""
    if isinstance(preview.problem, SourceProblem) and not preview.profile:
        yield "The file cannot be read yet"
    elif preview.problem:
        yield preview.problem.what
    elif preview.open_questions:
        yield _count(len(preview.open_questions), "question")
    elif not preview.target:
        yield "Choose a target"
    elif not preview.table:
        yield "Choose a table"


def _first_of(names: Sequence[str]) -> str:
    return ", ".join(names[:FIELDS_NAMED]) + (" …" if len(names) > FIELDS_NAMED else "")


def _repeated(adder: ImportJob | None) -> Iterator[str]:
    if adder:
        yield f"import {adder.pk} has added rows of this file already"


def _remarks(preview: Preview, grid: Grid) -> Iterator[str]:
    """What the import will leave out or add, as far as the rows that were read show it."""
    if not preview.mapping:
        return
    left_out = grid.left_out
    if left_out:
        yield f"{_count(len(left_out), 'field')} not loaded ({_first_of(left_out)})"
    if preview.added:
        names = _first_of([each.name for each in preview.added])
        yield f"{_count(len(preview.added), 'column')} will be added to the table ({names})"
    again = preview.choices.again
    if again and (columns := columns_of_place(preview.fillings)):
        yield f"{', '.join(columns)}: from this file, not from where the rows stood in import {again.pk}"
    if (bad := grid.problems.count) and not grid.stops:
        of = "" if grid.problems.whole else f" of the first {number(grid.problems.scanned)}"
        every = "no row fits: " if grid.none_fits else ""
        yield f"{every}{_count(bad, 'row')}{of} will be rejected"


@dataclass(frozen=True)
class RowCount:
    """The rows of a file: counted, or estimated by the first ones."""

    rows: int
    counted: bool

    def __str__(self) -> str:
        if self.counted:
            return _count(self.rows, "row")
        unit = 10 ** max(0, len(str(self.rows)) - 3)
        return f"about {count_of(round(self.rows / unit) * unit, 'row')}"


def _rows(preview: Preview, profile: Profile, grid: Grid | None) -> RowCount:
    if preview.prepared and preview.prepared.files:
        whole = preview.prepared.profile
        return RowCount(round((whole.size - whole.data_offset) / max(1, whole.record_bytes)), counted=False)
    if grid and grid.problems.whole:
        return RowCount(grid.problems.scanned, counted=True)
    if len(profile.rows) < SAMPLE_ROWS and profile.size <= SAMPLE_BYTES and not profile.packing:
        return RowCount(len(profile.rows), counted=True)
    return RowCount(round((profile.size - profile.data_offset) / max(1, profile.record_bytes)), counted=False)


def plan_sentence(prepared: PreparedImport, rows: RowCount) -> str:
    """The plan in a sentence: "336,776 rows into demo.flights, 2 in parallel, about 4 s"."""
    plan = prepared.plan
    chosen = {each.option: each.choice for each in plan.reasons}
    parts = [f"{rows} into {plan.schema}.{plan.final_table}"]
    parts += [_lower(chosen[name]) for name in IN_SHORT if name in chosen and (name != "sort" or plan.sorted_by)]
    seconds = prepared.previous.expected_seconds(rows.rows)
    if seconds is not None:
        parts.append(f"about {roughly(max(1, seconds))}")
    return ", ".join(parts)


def _count(many: int, what: str) -> str:
    return f"{number(many)} {what}{'' if many == 1 else 's'}"


def _lower(text: str) -> str:
    """The text within a sentence; a word in capitals, such as LOAD, stays."""
    return text if text[:2].isupper() else text[:1].lower() + text[1:]


@dataclass(frozen=True)
class Groups:
    """The chosen options in a sentence for each group, and those of the first two in one."""

    mode: str
    errors: str
    verify: str
    summary: str


def groups(preview: Preview) -> Groups:
    """The words for the option groups of step 3."""
    options, mode, table = preview.choices.option_form, preview.choices.mode, preview.table
    mode = f"{mode.capitalize()}{_into(mode, table.name) if table else ''}"
    if not options["priority"].usual:
        mode += f" · {options['priority'].words} priority"
    words = {name: options[name].words for name in ("on_error", "on_duplicate", "verify")}
    invalid = f"{_lower(words['on_error'])}{_limit(preview)}"
    if options["on_duplicate"].text in ("", "fail"):
        # A row with a key that is there already is an invalid row.
        errors = f"Invalid rows and duplicate keys: {invalid}"
    else:
        errors = f"Invalid rows: {invalid} · duplicate keys: {_lower(words['on_duplicate'])}"
    return Groups(mode, errors, words["verify"], f"{_lower(mode)} · {_lower(errors)}")


def _into(mode: str, table: str) -> str:
    return f" {table}" if mode in SWAPPING else f" to {table}" if mode == "append" else f" into {table}"


def _limit(preview: Preview) -> str:
    """The limit of rejected rows; "" if there is none, or no plan yet."""
    words = preview.prepared.options.reject_limit_words if preview.prepared else ""
    return f", {words}" if words else ""

"""The grid of one file: its mapping in the headers, the first rows as they will be stored, and what is left over."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from dashboard.fields.standings import STANDINGS
from dashboard.new_import.grid.cells import FileRow, Row, file_rows, row_cells
from dashboard.new_import.grid.columns import Field, UnfilledColumn
from dashboard.new_import.grid.problems import row_problems
from dashboard.new_import.grid.view import KINDS, WINDOW, GridView
from dashboard.new_import.preview import Preview
from dashboard.new_import.questions import AnswerButton, Question, add_all, leave_all_out
from importer.engine.errors import Problem
from importer.engine.mapping.columns import ColumnMapping, with_listed
from importer.engine.mapping.new_table.fields import is_date_in_two_ways, readings_as_number
from importer.engine.mapping.preview import PreviewValue, preview_values
from importer.engine.mapping.readings import non_null_values
from importer.engine.mapping.transforms import BLANKS, TRANSFORMS
from importer.engine.mysql.connection import connect
from importer.engine.schema.column_types import Family
from importer.engine.source.decisions import Standing
from importer.engine.source.profile.profile import Profile
from importer.engine.target.write_modes import KEEPING
from importer.preparation.row_problems import RowProblems

# Options in all selects of columns together; with more of them, a column is typed and suggested.
MOST_OPTIONS = 800
MOST_QUESTIONS = 10
# Of a field whose values the page offers to replace: different texts in the sample, and their characters.
MOST_TEXTS, LONGEST_TEXT = 20, 60
# Columns without a field that are shown, in addition to those that need a value.
MOST_UNFILLED = WINDOW


@dataclass(frozen=True)
class Grid:
    """The grid as the page shows it: `numbers` are the positions (from 0) of the fields in its window.

    `examining`: a worker searches the rest of the file for rows with problems.
    """

    preview: Preview
    profile: Profile
    view: GridView
    problems: RowProblems
    examining: bool
    found: tuple[int, ...]
    shown: tuple[FileRow, ...]
    converted: Sequence[dict[int, PreviewValue]]

    @property
    def numbers(self) -> tuple[int, ...]:
        return self.found[self.view.first : self.view.first + WINDOW]

    @property
    def stops(self) -> bool:
        """Whether a row with a problem stops the import."""
        return self.preview.choices.option_form["on_error"].text != "reject"

    @property
    def needs_every_row(self) -> bool:
        """Whether a row with a problem cannot be left out."""
        prepared = self.preview.prepared
        return bool(prepared and prepared.options.needs_every_row)

    @property
    def none_fits(self) -> bool:
        """Whether each row of the file has a problem."""
        return self.problems.whole and self.problems.count > 0 and not self.problems.others

    @property
    def windowed(self) -> bool:
        """Whether the file has more fields than the page shows at a time."""
        return len(self.profile.header) > WINDOW

    @property
    def last(self) -> int:
        """The place (from 1) of the last field of the window among those that are found."""
        return self.view.first + len(self.numbers)

    @property
    def before(self) -> int | None:
        """The first field of the window before this one; None if there is none."""
        return max(0, self.view.first - WINDOW) if self.view.first else None

    @property
    def after(self) -> int | None:
        """The first field of the window after this one; None if there is none."""
        after = self.view.first + WINDOW
        return after if after < len(self.found) else None

    @property
    def kinds(self) -> dict[str, str]:
        return KINDS

    @property
    def mapping(self) -> tuple[ColumnMapping, ...]:
        return self.preview.mapping or tuple(ColumnMapping("") for _ in self.profile.header)

    @cached_property
    def fields(self) -> list[Field]:
        """The fields in the window."""
        return [self._field(number) for number in self.numbers]

    def _field(self, number: int) -> Field:
        preview, mapping = self.preview, self.mapping[number]
        table, request = preview.table, preview.new_table_request
        columns = {column.name.lower(): column for column in table.columns} if table else {}
        keys = [name.lower() for name in (table.primary_key if table else ())]
        sure = preview.reading.columns[number] if preview.reading else None
        column = columns.get(mapping.column.lower())
        text = preview.new_table is not None and column is not None and column.column_type.family is Family.CHARACTER
        listed = with_listed(self.profile, {number: mapping})
        values = non_null_values(listed, number, mapping) if text else Counter[str]()
        wrong_types = request.types if request and preview.problem else {}
        return Field(
            number=number,
            name=self.profile.header[number],
            mapping=mapping,
            column=column,
            key=mapping.column.lower() in keys,
            sure=sure,
            nulls=preview.created.nulls(mapping.column) if preview.created else "",
            nulls_offered=preview.created.nulls_offered(mapping.column) if preview.created else {},
            wrong_type=wrong_types.get(mapping.column, ""),
            added=next((each.type for each in preview.added if each.name == mapping.column), ""),
            as_number=readings_as_number(values, self.profile.dialect.delimiter),
            as_date=is_date_in_two_ways(values, self.profile.dialect.delimiter),
            sample=_few_texts(self.profile, number, mapping),
        )

    @property
    def rows(self) -> list[Row]:
        """The rows, with the values of the fields in the window."""
        null, mapping = self.profile.dialect.null or "", self.preview.mapping
        return [
            row_cells(row, converted, self.numbers, mapping, null)
            for row, converted in zip(self.shown, self.converted, strict=True)
        ]

    @property
    def typed(self) -> bool:
        """Whether columns are typed, because selects would have too many options."""
        table, most = self.preview.table, min(WINDOW, len(self.profile.header))
        return table is not None and len(table.columns) * most > MOST_OPTIONS

    @cached_property
    def unfilled_found(self) -> list[UnfilledColumn]:
        """The columns that no field goes into, as far as their names have what is looked for."""
        return [each for each in self.unfilled if self.view.find_column in each.column.name.lower()]

    @cached_property
    def unfilled_shown(self) -> list[UnfilledColumn]:
        """Of the columns that are found: all that need a value or have one, and the first of the others."""
        columns = self.unfilled_found
        others = [each.number for each in columns if not (each.missing or each.filling)][:MOST_UNFILLED]
        return [each for each in columns if each.missing or each.filling or each.number in others]

    @property
    def unfilled_more(self) -> int:
        """The number of columns that are found and not shown."""
        return len(self.unfilled_found) - len(self.unfilled_shown)

    @property
    def states_unfilled(self) -> bool:
        """Whether one of them needs a value or has one."""
        return any(each.missing or each.filling for each in self.unfilled)

    @property
    def searches_unfilled(self) -> bool:
        """Whether the columns that no field goes into are too many to show all of them."""
        return len(self.unfilled) > MOST_UNFILLED

    @cached_property
    def unfilled(self) -> list[UnfilledColumn]:
        """The columns of the table that no field goes into."""
        preview = self.preview
        mapped = {each.column.lower() for each in preview.mapping}
        chosen = {each.column.lower(): each for each in preview.fillings}
        columns = enumerate(preview.table.columns if preview.table else ())
        return [
            UnfilledColumn(number, column, chosen.get(column.name.lower()), preview.choices.mode in KEEPING)
            for number, column in columns
            if column.name.lower() not in mapped
        ]

    @property
    def questions(self) -> list[Question]:
        """The first questions about fields and columns."""
        return self.preview.column_questions[:MOST_QUESTIONS]

    @property
    def asked_together(self) -> list[Question]:
        """Of all questions those about fields without a column, if one answer may be given to all of them."""
        without = [each for each in self.preview.column_questions if each.decision.name == "mapping"]
        return without if self.leave_all_out else []

    @property
    def all_accepted(self) -> bool:
        """Whether the first answers to the questions of asked_together are accepted."""
        return all(each.identity in self.preview.choices.accepted for each in self.asked_together)

    @property
    def asked_alone(self) -> list[Question]:
        """Of the first questions those that are not asked together."""
        return [each for each in self.questions if each not in self.asked_together]

    @property
    def more_questions(self) -> int:
        """The number of questions about fields and columns that are asked when the first ones are answered."""
        return len(self.preview.column_questions) - len(self.questions)

    @property
    def leave_all_out(self) -> str:
        """The value of the button that leaves out all fields without a column; "" if a few are asked about."""
        return leave_all_out(self.preview.column_questions, self.profile.header)

    @property
    def add_all(self) -> AnswerButton | None:
        """The button that adds a column for each field without one; None if a few are asked about."""
        return add_all(self.preview.column_questions, self.profile.header, self.preview.addable)

    @property
    def key_answer(self) -> str:
        """The value of the button that makes the proposed column the primary key; "" if there is a key, or none is."""
        table, names = self.preview.new_table, [each.column for each in self.preview.mapping]
        if not table or table.primary_key or table.proposed_key not in names:
            return ""
        return json.dumps({f"nulls_{names.index(table.proposed_key)}": "key"})

    @property
    def legend(self) -> list[tuple[str, str, str]]:
        """The standings of the fields in the window: each one's name, colour and meaning."""
        shown = {field.standing for field in self.fields}
        shown |= {STANDINGS[Standing.STATED][0]} if self.preview.choices.null_markers is not None else set()
        return [words for words in STANDINGS.values() if words[0] in shown]

    @property
    def create_answer(self) -> str:
        """The value of the button that creates a table for the file."""
        return json.dumps({"mode": "create", "table": self.preview.creatable})

    @property
    def left_out(self) -> list[str]:
        """The names of the fields that go into no column."""
        pairs = zip(self.profile.header, self.preview.mapping, strict=True)
        return [name for name, each in pairs if not each.column]


def make_grid(preview: Preview) -> Grid | None:
    """The grid of a preview; None before the file could be read."""
    profile = preview.profile
    if not profile:
        return None
    view = GridView.of(preview.choices.values)
    problems, examining = row_problems(preview, profile)
    found = tuple(_found(preview, profile, view))
    first = view.first if view.first < len(found) else 0
    view = replace(view, first=first, only_problems=view.only_problems and problems.count > 0)
    shown = file_rows(profile, problems, only_problems=view.only_problems)
    grid = Grid(preview, profile, view, problems, examining, found, shown, [{} for _ in shown])
    return replace(grid, converted=_converted(grid))


def _few_texts(profile: Profile, number: int, mapping: ColumnMapping) -> tuple[str, ...]:
    """The different texts of a field in the sample, as a value list compares them; () if they are many or long."""
    texts = dict.fromkeys(profile.values_of(number))
    # A form may name a transform that is none: the preview says so.
    if any(each.cleans for name, each in TRANSFORMS.items() if name in mapping.transforms):
        texts = {text.strip(BLANKS): None for text in texts}
    return tuple(texts) if len(texts) <= MOST_TEXTS and all(len(text) <= LONGEST_TEXT for text in texts) else ()


def _found(preview: Preview, profile: Profile, view: GridView) -> Iterator[int]:
    """The positions of the fields that the view chooses, in the file's order."""
    sure = preview.reading.columns if preview.reading else ()
    for number, name in enumerate(profile.header):
        if view.find and view.find not in name.lower():
            continue
        if view.kind == "left_out" and not (preview.mapping and not preview.mapping[number].column):
            continue
        if view.kind == "questions" and not (sure and sure[number].standing is Standing.GUESSED):
            continue
        yield number


def _converted(grid: Grid) -> list[dict[int, PreviewValue]]:
    """For each row that is shown, the values in the window that the import converts, as the server converts them."""
    preview, numbers = grid.preview, set(grid.numbers)
    if not preview.table or not preview.target or not preview.mapping:
        return [{} for _ in grid.shown]
    known = [each if not each.lookup or each.lookup.buckets else ColumnMapping("") for each in preview.mapping]
    mapping = [each if number in numbers else ColumnMapping("") for number, each in enumerate(known)]
    try:
        with connect(preview.target.address) as connection:
            return preview_values(connection, preview.table, mapping, [each.values for each in grid.shown])
    except Problem:  # The preview shows what is wrong with the mapping or the server.
        return [{} for _ in grid.shown]

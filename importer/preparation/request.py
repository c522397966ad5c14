"""What an import is asked for, and what it is with answers to the questions about its file."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeVar

from importer.connections.source_location import location_of
from importer.engine.errors import Problem, TargetProblem
from importer.engine.mapping.columns import (
    ColumnMapping,
    FieldOverride,
    GeneratedColumn,
    Lookup,
    field_name,
    overrides_by_position,
)
from importer.engine.plan.option_kinds import NONE
from importer.engine.plan.option_specs import named
from importer.engine.plan.options import Options
from importer.engine.reading.questions import NeedsAnswer
from importer.engine.reading.reading import Reading
from importer.engine.reading.stated import Stated
from importer.engine.schema.added_columns import as_requested
from importer.engine.schema.new_table import NewColumn
from importer.engine.source.decisions import Decision
from importer.engine.source.dialect import Dialect, unescape_mark
from importer.engine.source.formats.options import FORMAT, FORMAT_OPTIONS
from importer.engine.source.formats.own_line_ends import line_end_of
from importer.engine.source.profile.expected_columns import ExpectedColumn
from importer.engine.source.profile.profile import Profile, profile_file
from importer.engine.stored import from_json
from importer.models import ImportJob, SourceFile
from importer.models.recipe import ImportRecipe

# The body of a request for an import (docs/api.md), as JSON: what was not said is not in it.
Wish = Mapping[str, Any]
COLUMN_KEYS = {"null_markers": "null", "datetime_format": "date_format"}


@dataclass(frozen=True)
class NewTableRequest:
    """The requested properties of mode create's table: types by column, and the columns of its primary key.

    Its columns have the names that a given mapping has for their fields. `not_null`: the columns that take no NULL.
    `widen`: a type that is too narrow for the whole file is widened; otherwise the import fails.
    """

    types: dict[str, str] = field(default_factory=dict)
    primary_key: tuple[str, ...] = ()
    widen: bool = True
    not_null: tuple[str, ...] = ()


@dataclass(frozen=True)
class ImportRequest:
    """The requested settings of an import. If dialect, mapping or options are None, the file's suggestions are used.

    `known_format`: stated fields of the dialect, where no whole `dialect` is given. `match` (mapping.suggest.MATCHES)
    and `overrides` apply only without a `mapping`; `new_table` is for mode create. `stated`: the decisions that a user
    has made; None: those that dialect, mapping and overrides give. `accept_guesses`: take the likeliest reading.
    """

    options: Options | None = None
    dialect: Dialect | None = None
    known_format: Mapping[str, Any] = field(default_factory=dict)
    mapping: Sequence[ColumnMapping] | None = None
    match: str = ""
    fillings: Sequence[GeneratedColumn] = ()
    null_markers: Sequence[str] | None = None
    overrides: Sequence[FieldOverride] = ()
    new_table: NewTableRequest | None = None
    # Columns that are added to a table that exists, as far as it does not have them.
    added_columns: Sequence[NewColumn] = ()
    stated: Stated | None = None
    accept_guesses: bool = False
    # Its columns are taken as far as they fit (like.fitted); its format and options stand above.
    before: ImportJob | None = None

    @classmethod
    def of(cls, wish: Wish) -> "ImportRequest":
        """What a wish asks for, without its preset or `like`. Raises Problem for a value that cannot be read."""
        return cls(
            options=options_of(wish.get("options", {})),
            known_format=format_of(wish.get("format", {})),
            match=wish.get("match") or "",
            null_markers=wish.get("null"),
            overrides=[_override(each) for each in wish.get("columns", ())],
            fillings=[from_json(GeneratedColumn, each) for each in wish.get("generated", ())],
            added_columns=as_requested(wish.get("add_columns", {}).items()),
            new_table=from_json(NewTableRequest, wish.get("new_table", {})),
            stated=Stated(ignore_fields=wish.get("ignore_fields", False)),
            accept_guesses=wish.get("accept_guesses", False),
        )

    @classmethod
    def like(cls, recipe: ImportRecipe, **others: Any) -> "ImportRequest":
        """The request to import as an earlier import, a preset, a schedule or a lab says, but for the `others`."""
        stored = {"dialect": "file_dialect", "mapping": "mapping", "fillings": "fillings", "options": "options"}
        return cls(**{name: getattr(recipe, stored[name]) for name in stored if name not in others}, **others)

    @property
    def _stated(self) -> Stated:
        return self.stated or Stated(format=self.dialect is not None, mapping=self.mapping is not None)

    def statements(self, profile: Profile) -> Stated:
        """The decisions that the request states for a file with this profile."""
        stated = self._stated
        overrides = overrides_by_position(self.overrides, profile.header)
        formats = {
            number
            for number, each in overrides.items()
            if each.transforms is not None or each.datetime_format is not None
        }
        keys = {"match"} if self.match else set()
        marked = formats | {number for number, each in overrides.items() if each.null_markers is not None}
        marked = marked if self.null_markers is None else {*range(len(profile.header))}
        keys |= {f"null:{field_name(profile.header, number)}" for number in marked}
        return replace(
            stated, fields=stated.fields | overrides.keys(), formats=stated.formats | formats, keys=stated.keys | keys
        )

    def answered(self, reading: Reading, guess: Decision, label: str) -> "ImportRequest":
        """The request, with what the answer of this label states. Raises Problem if there is none, with the labels."""
        answer = next((each for each in guess.answers if each.label == label), None)
        if answer is None:
            known = "; ".join(each.label for each in guess.answers)
            what = f"“{label[:80]}” is no answer to {guess.key}."
            raise Problem(what, f"body.answers.{guess.key}", f"Answers: {known}.")
        states = dict(answer.states)
        request = replace(self, stated=replace(self._stated, keys=self._stated.keys | {guess.key}))
        if not guess.field:
            match = states.pop("match", self.match)
            return replace(request, match=match, known_format={**self.known_format, **states})
        earlier = next((each for each in self.overrides if each.field == guess.field), None)
        read = next((each.column for each in reading.columns if each.field == guess.field), "")
        if "type" in states:
            new = self.new_table or NewTableRequest()
            request = replace(request, new_table=replace(new, types={**new.types, read: states.pop("type")}))
        override = replace(earlier or FieldOverride(guess.field, read), **states)
        others = [each for each in self.overrides if each is not earlier]
        return replace(request, overrides=[*others, override])


def _override(given: Mapping[str, Any]) -> FieldOverride:
    """A column of a wish. Raises Problem for a lookup that is not TABLE.COLUMN."""
    lookup = Lookup.of(given["lookup"]) if given.get("lookup") else None
    return replace(from_json(FieldOverride, {**given, "lookup": None}, COLUMN_KEYS), lookup=lookup)


def options_of(given: Mapping[str, Any], otherwise: Options | None = None) -> Options:
    """The options of a wish; the others from `otherwise`, or else the defaults."""
    values = {name: value for name, value in given.items() if value is not None}
    base = otherwise or Options()
    if values.get("max_rejects") == NONE:
        del values["max_rejects"]
        base = base.without_limit()
    values = {name: named(name).kind.onto(getattr(base, name), value) for name, value in values.items()}
    return replace(base, **values)


def format_of(given: Mapping[str, Any]) -> dict[str, Any]:
    r"""The fields of a Dialect that the format of a wish states, in which `\t` and `\x01` stand for characters."""
    return {name: _READ.get(name, _as_it_is)(value) for name, value in given.items() if value is not None}


def _as_it_is(value: Any) -> Any:
    return value


_READ: Mapping[str, Callable[[Any], Any]] = {
    "delimiter": unescape_mark,
    "comment": unescape_mark,
    "line_end": line_end_of,
    **{each.name: each.read for each in (FORMAT, *FORMAT_OPTIONS)},
}


class _Read(Protocol):
    @property
    def reading(self) -> Reading: ...


Found = TypeVar("Found", bound=_Read)


def settle(
    read: Callable[[ImportRequest], Found], request: ImportRequest, answers: Mapping[str, str], where: str
) -> tuple[Found, ImportRequest]:
    """What `read` finds, with the answers to the questions that come up; and the request that has these.

    `answers`: labels, by the questions' keys. An answer may bring up other questions. Raises NeedsAnswer for those that
    have none, unless the request accepts guesses.
    """
    left = dict(answers)
    while True:
        found = read(request)
        given = [each for each in found.reading.guesses if each.key in left]
        if not given:
            break
        for guess in given:
            request = request.answered(found.reading, guess, left.pop(guess.key))
    if found.reading.guesses and not request.accept_guesses:
        raise NeedsAnswer(found.reading, where)
    return found, request


# Profiles the file of a request whose fields are probably for these columns.
Profiled = Callable[[ImportRequest, Sequence[ExpectedColumn]], Profile]


def profiling(source: SourceFile) -> Profiled:
    """How the file of a source is profiled as a request says."""
    return lambda request, expected: profile_file(
        location_of(source), request.dialect, expected, **request.known_format
    )


def add_fault_of_file(problem: TargetProblem, request: ImportRequest, profiled: Profiled) -> None:
    """Add to a target's problem that of the file, if it has one, so that nobody meets them one after the other."""
    try:
        profiled(request, ())
    except Problem as fault:
        problem.advice = f"{problem.advice} The file cannot be read either: {fault}".strip()

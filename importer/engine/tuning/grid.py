"""The grid of a lab: names of options, each with the values to try, and the meaningful combinations of them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from importer.engine.errors import Problem
from importer.engine.plan.methods import AUTO, METHODS
from importer.engine.plan.option_kinds import display
from importer.engine.plan.option_specs import OPTIONS, named
from importer.engine.plan.options import Options
from importer.engine.units import MIB, human_bytes

Value = int | str | bool | None
Settings = dict[str, Value]

# Settings that a lab can vary: they affect the load only, and never which rows arrive if all rows are good.
TUNABLE = tuple(option.name for option in OPTIONS if option.tunable)
# Key of a published experiment's variants (bench/experiments) in place of a setting; a lab cannot vary it.
WAY = "way"
# Each combination is loaded at least twice, so more of them would take too long.
MOST_COMBINATIONS = 200


@dataclass(frozen=True)
class Grid:
    """The values to try, by setting. `about` is a short description of the question."""

    name: str
    values: Mapping[str, tuple[Value, ...]]
    about: str = ""

    @property
    def needs_foreign_keys(self) -> bool:
        """Whether scratch tables need the foreign keys of the table, which CREATE TABLE LIKE leaves out."""
        return bool({"foreign_keys", "foreign_key_checks"} & set(self.values))

    def with_values(self, values: Mapping[str, tuple[Value, ...]]) -> "Grid":
        """A copy of the grid in which `values` replace or add settings."""
        return replace(self, values={**self.values, **values})


GRIDS: dict[str, Grid] = {
    each.name: each
    for each in (
        Grid(
            "chunks",
            {"chunk_bytes": (MIB // 4, MIB, 4 * MIB, 16 * MIB), "parallelism": (1, 2, 4, 8)},
            "chunk size x parallelism",
        ),
        Grid("indexes", {"indexes": ("keep", "defer")}, "keys before or after the rows"),
        Grid(
            "foreign-keys",
            {"indexes": ("keep", "defer"), "foreign_keys": ("keep", "defer")},
            "keys and foreign keys before or after the rows",
        ),
        Grid(
            "methods",
            {
                "method": tuple(method.name for method in METHODS.values() if method.tunable),
                "rows_per_statement": (1, 10, 40, 100, 1000, 10_000),
            },
            "method x rows per statement",
        ),
        Grid(
            "checks",
            {"unique_checks": (True, False), "foreign_key_checks": (True, False)},
            "unique and foreign key checks",
        ),
        Grid("partitions", {"partitions": (1, 2, 4, 8), "parallelism": (1, 4)}, "hash partitions x parallelism"),
        Grid("commits", {"commit_rows": (100, 1000, 10_000, 100_000)}, "rows per commit"),
    )
}


def grid_named(name: str) -> Grid:
    """The predefined grid of that name. Raises Problem, with the known names, if there is none."""
    if name in GRIDS:
        return GRIDS[name]
    known = ", ".join(f"{each.name} ({each.about})" for each in GRIDS.values())
    raise Problem(f"There is no grid {name}.", advice=f"Known: {known}.")


def combinations(grid: Grid) -> list[Settings]:
    """The distinct combinations of the grid, each without settings that have no effect in it.

    Raises Problem for a setting that a lab cannot vary, for an invalid value, and for none or more than
    MOST_COMBINATIONS combinations.
    """
    for name, values in grid.values.items():
        _check(name, values)
    names = list(grid.values)
    distinct: list[Settings] = []
    for values in product(*grid.values.values()):
        settings = _meaningful(dict(zip(names, values, strict=True)))
        if settings is not None and settings not in distinct:
            distinct.append(settings)
    if not 1 <= len(distinct) <= MOST_COMBINATIONS:
        raise Problem(
            f"The grid {grid.name} has {len(distinct):,} combinations.",
            advice=f"Give values for 1 to {MOST_COMBINATIONS} combinations that make sense.",
        )
    return distinct


def _check(name: str, values: Sequence[Value]) -> None:
    if name not in TUNABLE:
        raise Problem(f"A lab cannot vary {name}.", advice=f"It can vary {', '.join(TUNABLE)}.", option=name)
    kind = named(name).kind
    for value in values:
        if value == AUTO or (value is not None and not kind.allows(value)):
            raise Problem(f"{name} cannot be {value}.", advice=f"It may be {kind.values}.", option=name)


def _meaningful(settings: Settings) -> Settings | None:
    """The settings without those that have no effect next to the others; None if settings contradict each other."""
    if "rows_per_statement" in settings and not _groups_rows(settings):
        settings = {name: value for name, value in settings.items() if name != "rows_per_statement"}
    rows, commit = settings.get("rows_per_statement"), settings.get("commit_rows")
    if isinstance(rows, int) and isinstance(commit, int) and rows > commit:
        return None
    if settings.get("foreign_keys") == "defer" and settings.get("foreign_key_checks") is False:
        return None
    if settings.get("partitions") and settings.get("foreign_keys") == "defer":
        return None
    return settings


def _groups_rows(settings: Settings) -> bool:
    """Whether the method has a number of rows per statement: methods that send files do not."""
    method = METHODS.get(str(settings.get("method")))
    return not method or method.inserts


def with_settings(options: Options, settings: Settings) -> Options:
    """The options with these settings, without `partitions`, which is a property of the table and no option."""
    return replace(options, **{name: value for name, value in settings.items() if name != "partitions"})  # type: ignore[arg-type]


def changes(settings: Settings, planned: Settings) -> bool:
    """Whether at least one setting differs from its planned value."""
    return any(planned.get(name) != value for name, value in settings.items())


def words(settings: Settings) -> str:
    """A combination in words, answers as the form has them: `chunk size 1 MiB, unique keys: checked`."""
    return ", ".join(_words(settings)) or "as planned"


def _words(settings: Settings) -> Iterator[str]:
    for name, value in settings.items():
        if name == WAY:
            yield str(value)
        elif name == "chunk_bytes" and isinstance(value, int):
            yield f"chunk size {human_bytes(value)}"
        elif isinstance(value, bool) or (value and value in named(name).answers):
            yield f"{named(name).label.lower()}: {named(name).shown(value)}"
        else:
            shown = f"{value:,}" if isinstance(value, int) else display(str(value or "default"))
            yield f"{name.replace('_', ' ')} {shown}"

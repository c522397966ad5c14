"""Reads what a file wants, and makes it so: all of it in one transaction, or nothing."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from importer.engine.errors import Problem
from importer.management.apply.difference import ADD, CHANGE, DELETE, Change, FieldChange, differences
from importer.management.apply.kinds.kind import Kind, Wish
from importer.management.apply.kinds.kinds import KINDS
from importer.management.apply.yaml_file import Value, parse, require_known
from importer.management.base_command import recorded

COMMAND = "apply"


@dataclass(frozen=True)
class Wanted:
    """The things of a file, by kind: those kinds that the file has."""

    file: str
    wishes: tuple[tuple[Kind, tuple[Wish, ...]], ...]


@dataclass(frozen=True)
class Outcome:
    """What is changed, what is as the file says, and what is there of the file's kinds without being in the file."""

    changes: tuple[Change, ...]
    unchanged: tuple[tuple[str, str], ...]
    not_in_file: tuple[tuple[str, str], ...]


def read_file(text: str, file: str) -> Wanted:
    """What the file wants. Raises Problem, with its place, for what cannot be read."""
    sections = parse(text, file).entries()
    require_known(sections, [kind.section for kind in KINDS], "The file")
    found = [(kind, _wishes(kind, sections[kind.section])) for kind in KINDS if kind.section in sections]
    return Wanted(file, tuple(found))


def _wishes(kind: Kind, section: Value) -> tuple[Wish, ...]:
    if section.is_null:
        return ()
    return tuple(kind.read(name, value) for name, value in section.entries().items())


def tried(wanted: Wanted, *, prune: bool) -> Outcome:
    """What carry_out() would do, found by doing it and undoing that. Raises Problem as it does."""
    with transaction.atomic():
        outcome = _all(wanted, prune=prune)
        transaction.set_rollback(True)
    return outcome


def carry_out(wanted: Wanted, expected: Outcome, *, prune: bool) -> None:
    """Make everything as the file wants it; with `prune` delete what is not in the file, of the kinds that it has.

    `expected` is what tried() said. Raises Problem, and changes nothing, for what a command would refuse, and if
    something has changed since then.
    """
    with transaction.atomic():
        if _all(wanted, prune=prune) != expected:
            raise Problem(
                "Something has changed since the differences were found. Nothing is done.",
                wanted.file,
                "Run the command again, and look at the differences once more.",
            )


def _all(wanted: Wanted, *, prune: bool) -> Outcome:
    made = [(kind, wish, _make(kind, wish)) for kind, wishes in wanted.wishes for wish in wishes]
    changes = [change for *_, change in made if change]
    unchanged = [(kind.word, wish.name) for kind, wish, change in made if not change]
    others = [
        (kind, thing)
        for kind, wishes in reversed(wanted.wishes)
        for thing in kind.seen().exclude(name__in=[each.name for each in wishes])
    ]
    if prune:
        changes += [_remove(kind, thing) for kind, thing in others]
    left = () if prune else tuple((kind.word, thing.name) for kind, thing in others)
    return Outcome(tuple(changes), tuple(unchanged), left)


def _make(kind: Kind, wish: Wish) -> Change | None:
    """Save the thing as it is wanted. Returns the change; None if it is as wanted already."""
    with _placed(wish):
        thing = kind.found(wish.name)
        kind.check_rule(kind.changes if thing else kind.adds, wish.name, wish.given)
        state = kind.state(wish)
        before = kind.stored(thing) if thing else {}
        state |= {name: before[name] for name in kind.kept & before.keys() & state.keys() - wish.given.keys()}
        fields = tuple(differences(before, state)) if thing else _of_new(wish, state)
        fields += tuple(FieldChange(name, None, None, True) for name in kind.differing_secrets(thing, wish))
        if thing and not fields:
            return None
        changed = {each.field.partition(".")[0] for each in fields} if thing else set(state) | set(wish.secrets)
        with recorded(COMMAND, wish.name if kind.word == "target" else ""):
            kind.save(thing, wish, state, changed)
        return Change(kind.word, wish.name, CHANGE if thing else ADD, fields)


def _of_new(wish: Wish, state: dict[str, Any]) -> tuple[FieldChange, ...]:
    """The fields of a new thing: those that the file gives."""
    return tuple(FieldChange(name, None, state.get(name, wish.given[name])) for name in wish.given)


def _remove(kind: Kind, thing: Any) -> Change:
    name = thing.name
    kind.check_rule(kind.deletes, name, {})
    with recorded(COMMAND, name if kind.word == "target" else ""):
        kind.remove(thing)
    return Change(kind.word, name, DELETE)


@contextmanager
def _placed(wish: Wish) -> Iterator[None]:
    """Put the place in the file before that of a problem: the key that the problem is about, or the whole thing."""
    try:
        yield
    except Problem as problem:
        value = wish.value.at(problem.option)
        place = value.where(at_key=value is wish.value)
        if not problem.where.startswith(wish.value.file):
            problem.where = f"{place}: {problem.where}" if problem.where else place
        raise


def described(outcome: Outcome) -> Iterator[str]:
    """The outcome in words, a line for each change and each of its fields."""
    for change in outcome.changes:
        yield f"{change.action} {change.kind} {change.name}"
        yield from (f"  {each.line(is_new=change.action == ADD)}" for each in change.fields)
    for kind, name in outcome.not_in_file:
        yield f"leave {kind} {name}, which is not in the file (--prune deletes it)"

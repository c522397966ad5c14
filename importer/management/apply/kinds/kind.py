"""What each kind of thing declares for `millrace apply`: its keys, and how it is read, compared, saved and deleted."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from django.db.models import Model, QuerySet

from importer.access.policy import seen
from importer.engine.errors import Problem
from importer.management.apply.yaml_file import SECRET, Hint, Value, read, require_known
from importer.management.rules import rule_of


@dataclass(frozen=True)
class Wish:
    """A thing as the file wants it. `given`: the values of its keys; `secrets`: those that the file refers to."""

    name: str
    value: Value
    given: dict[str, Any]
    secrets: dict[str, str] = field(repr=False)


class Kind(ABC):
    """A kind of thing. A state has everything that a file can say of a thing but its secrets, as JSON, with defaults.

    `section`: its key in the file; `word`: its name in messages. `required` are the keys that a thing must have. `kept`
    are those that stay as they are stored if the file leaves them out, because people set them elsewhere. `adds`,
    `changes` and `deletes` name the commands whose rules hold.
    """

    section: str
    word: str
    required: tuple[str, ...] = ()
    kept: frozenset[str] = frozenset()
    adds: str
    changes: str
    deletes: str

    @abstractmethod
    def hints(self, entries: Mapping[str, Value]) -> Mapping[str, Hint]:
        """The keys of the thing that has these entries, each with its hint. Raises Problem for a kind that is none."""

    @abstractmethod
    def state(self, wish: Wish) -> dict[str, Any]:
        """The state that the file wants. Raises Problem for values that are wrong, and for names that are not there."""

    @abstractmethod
    def things(self) -> QuerySet[Any]:
        """All things of the kind."""

    @abstractmethod
    def stored(self, thing: Any) -> dict[str, Any]:
        """The state of a thing."""

    @abstractmethod
    def save(self, thing: Any | None, wish: Wish, state: dict[str, Any], changed: set[str]) -> Model:
        """Save the thing, a new one for None, with this state and the secrets of the wish. `changed`: keys."""

    @abstractmethod
    def remove(self, thing: Any) -> None:
        """Delete the thing. Raises Problem if something needs it."""

    @abstractmethod
    def written(self, thing: Any) -> dict[str, Any]:
        """The thing's keys and values for a file, without secrets and without what is the default."""

    def secrets(self, thing: Any) -> dict[str, str]:  # noqa: ARG002 - kinds without secrets
        """The stored secrets of a thing. Raises Problem if no key decrypts them."""
        return {}

    def secret_names(self, thing: Any) -> list[str]:
        """The names of the stored secrets of a thing."""
        return sorted(name for name, text in self.secrets(thing).items() if text)

    def found(self, name: str) -> Any | None:
        """The thing of this name that the acting person may see."""
        return self.seen().filter(name=name).first()

    def seen(self) -> QuerySet[Any]:
        """The things that the acting person may see, by name."""
        return seen(self.things()).order_by("name")

    def read(self, name: str, value: Value) -> Wish:
        """A thing as the file has it. Raises Problem for unknown and lacking keys, and for values of another type."""
        entries = value.entries()
        for lacking in (each for each in self.required if each not in entries):
            raise value.problem(f"The {self.word} {name} has no {lacking}.", f"Add {lacking}.", at_key=True)
        hints = self.hints(entries)
        require_known(entries, hints, f"A {self.word}")
        secrets = {each for each in entries if hints[each] is SECRET}
        values = {each: read(entry, hints[each]) for each, entry in entries.items()}
        given = {each: got for each, got in values.items() if each not in secrets}
        return Wish(name, value, given, {each: values[each] for each in secrets})

    def check_rule(self, command: str, name: str, given: Mapping[str, Any]) -> None:
        """Raise Forbidden unless the acting person may run this command about the thing."""
        if rule := rule_of(command):
            # How often is counted for the file as a whole.
            replace(rule, rate=None).check({**given, "name": name, "replace": True})

    def differing_secrets(self, thing: Any | None, wish: Wish) -> list[str]:
        """The names of the secrets to which the file refers, and whose stored values are others."""
        try:
            stored = self.secrets(thing) if thing else {}
        except Problem:  # What cannot be decrypted is entered again.
            stored = {}
        return sorted(name for name, text in wish.secrets.items() if stored.get(name, "") != text)


@contextmanager
def about(key: str) -> Iterator[None]:
    """Say of a problem in the block that it is about this key."""
    try:
        yield
    except Problem as problem:
        problem.option = key
        raise


def without_defaults(state: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """What of a state is not the default."""
    return {name: value for name, value in state.items() if name not in defaults or value != defaults[name]}

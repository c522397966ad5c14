"""Reads a YAML file with the place of each value, for messages: file, line, column, and the keys that lead to it.

The hint of a key decides how its value is read: `no`, `on` and `1:20` are texts where a text is expected. Values of
secrets are references, and nothing that may be a secret is in a message.
"""

import re
import types
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any, Union, get_args, get_origin, get_type_hints

from importer.engine.errors import Problem
from importer.management.argument_types import from_environment
from importer.management.terminal.near_words import near

# A type, a dataclass, SECRET, or for a mapping with fixed keys the hint of each.
Hint = Any
SECRET = object()
REFERENCES = "{env: VARIABLE} or {file: PATH}"
LONGEST_SHOWN = 60  # characters of a wrong value
DEEPEST = 8  # keys above the one that a problem is about
_TAG = "tag:yaml.org,2002:"
_NULL = f"{_TAG}null"
_KNOWN_TAGS = {f"{_TAG}{each}" for each in ("str", "int", "float", "bool", "null", "timestamp", "map", "seq", "value")}
_TRUTH = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
_NUMBERS = {int: (r"-?\d{1,18}", "a whole number"), float: (r"-?\d{1,18}(\.\d{1,18})?", "a number")}


@dataclass(frozen=True)
class Value:
    """A value in a file. `path`: the keys that lead to it; `key`: the node of the last one."""

    file: str
    node: Any  # yaml.Node
    path: tuple[str, ...] = ()
    key: Any = None

    def problem(self, what: str, advice: str, *, at_key: bool = False) -> Problem:
        """A problem with this value, at its place, or at that of its key."""
        return Problem(what, self.where(at_key=at_key), advice)

    def where(self, *, at_key: bool = False) -> str:
        """The place of the value, or of its key, in words."""
        mark = (self.key if at_key and self.key else self.node).start_mark
        keys = f", {'.'.join(self.path)}" if self.path else ""
        return f"{self.file}, line {mark.line + 1}, column {mark.column + 1}{keys}"

    @property
    def is_null(self) -> bool:
        """Whether nothing is given, or null."""
        return bool(self.node.tag == _NULL)

    def entries(self) -> dict[str, "Value"]:
        """The values of a mapping by their keys. Raises Problem for another node, and for a key that is there twice."""
        if self.node.id != "mapping":
            # The text is left out: it may be a URL with a password.
            found_kind = "nothing" if self.is_null else "a text" if self.node.id == "scalar" else self.shown()
            raise self.problem(f"Keys with values are expected, and there is {found_kind}.", "Write KEY: VALUE.")
        found: dict[str, Value] = {}
        for key, node in self.node.value:
            value = Value(self.file, node, (*self.path, str(key.value) if key.id == "scalar" else "?"), key)
            if key.id != "scalar":
                raise value.problem("A key is a list or a mapping.", "Write one word as the key.", at_key=True)
            if key.value in found:
                raise value.problem(f"The key {key.value} is there twice.", "Keep one of them.", at_key=True)
            found[key.value] = value
        return found

    def items(self) -> list["Value"]:
        """The values of a list. Raises Problem for another node."""
        if self.node.id != "sequence":
            raise self.problem(f"A list is expected, and there is {self.shown()}.", "Write [A, B].")
        return [Value(self.file, each, (*self.path, str(n)), None) for n, each in enumerate(self.node.value, 1)]

    def shown(self) -> str:
        """The value in words."""
        if self.node.id != "scalar":
            return "a list" if self.node.id == "sequence" else "a mapping"
        text = str(self.node.value)
        return "nothing" if self.is_null else repr(text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…")

    def at(self, name: str) -> "Value":
        """The nearest value below that has this key; this one without any. It is where a problem with `name` is."""
        return next(self._below(name), self) if name else self

    def _below(self, name: str) -> Iterator["Value"]:
        # An alias may lead into the mapping that it is in.
        inner: list[Value] = []
        if self.node.id != "scalar" and len(self.path) < DEEPEST:
            inner = self.items() if self.node.id == "sequence" else list(self.entries().values())
        yield from (each for each in inner if each.path[-1] == name)
        for each in inner:
            yield from each._below(name)


def parse(text: str, file: str) -> Value:
    """The whole file. Raises Problem, which never has text of the file, if it is no YAML."""
    import yaml  # Here: only `apply` needs it.

    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"{file}, line {mark.line + 1}, column {mark.column + 1}" if mark else file
        raise Problem(f"That is no YAML: {error.problem or error.context}.", place, "Correct it there.") from error
    except (yaml.YAMLError, RecursionError) as error:
        why = getattr(error, "reason", "") or "it is nested too deeply"
        raise Problem(f"That is no YAML: {why}.", file, "Write it as in docs/apply.md.") from error
    if root is None:
        raise Problem("The file is empty.", file, "Write what is to be there, as in docs/apply.md.")
    return Value(file, root)


def require_known(entries: Mapping[str, Value], known: Iterable[str], of: str) -> None:
    """Raise Problem for a key that is not known. `of`: what has the keys."""
    names = list(known)
    for name, value in entries.items():
        if name not in names:
            advice = near(name, names).strip() or f"Known are {', '.join(names)}."
            raise value.problem(f"{of} has no key {name!r}.", advice, at_key=True)


def read(value: Value, hint: Hint) -> Any:
    """The value as its hint says: texts, numbers, lists and dictionaries. Raises Problem for another one."""
    if value.node.tag not in _KNOWN_TAGS:
        raise value.problem("The value has a tag of its own.", "Write it without a tag.")
    origin: Any = get_origin(hint)
    if origin in (Union, types.UnionType):
        [other] = [each for each in get_args(hint) if each is not types.NoneType]
        return None if value.is_null else read(value, other)
    if hint is SECRET:
        return _secret(value)
    if isinstance(hint, Mapping) or is_dataclass(hint):
        return read_keys(value, hint if isinstance(hint, Mapping) else keys_of(hint), value.path[-1])
    if origin in (tuple, list):
        return _list(value, get_args(hint))
    if origin is dict:
        return {name: read(each, get_args(hint)[1]) for name, each in value.entries().items()}
    return _scalar(value, hint)


def read_keys(value: Value, hints: Mapping[str, Hint], of: str) -> dict[str, Any]:
    """The values of a mapping, each as its hint says. Raises Problem for a key without a hint."""
    entries = value.entries()
    require_known(entries, hints, of)
    return {name: read(each, hints[name]) for name, each in entries.items()}


def keys_of(kind: Any) -> dict[str, Hint]:
    """The hint of each field of a dataclass."""
    hints = get_type_hints(kind)
    return {each.name: hints[each.name] for each in fields(kind)}


def _list(value: Value, kinds: tuple[Hint, ...]) -> list[Any]:
    items = value.items()
    if len(kinds) == 1 or kinds[-1] is Ellipsis:
        return [read(each, kinds[0]) for each in items]
    if len(items) != len(kinds):
        raise value.problem(f"{len(kinds)} values are expected, and there are {len(items)}.", "Write as many.")
    return [read(each, kind) for each, kind in zip(items, kinds, strict=True)]


def _scalar(value: Value, hint: Hint) -> Any:
    text = value.node.value
    # In a list, NULL is a text: a marker.
    if value.node.id == "scalar" and not (value.is_null and (value.key or text in ("", "~"))):
        if issubclass(hint, bool):
            if value.node.tag == f"{_TAG}bool":
                return _TRUTH[text.lower()]
        elif hint in _NUMBERS:
            if re.fullmatch(_NUMBERS[hint][0], text, re.ASCII):
                return hint(text)
        else:
            return str(text)
    wanted = "true or false" if hint is bool else _NUMBERS[hint][1] if hint in _NUMBERS else "a text"
    advice = "Write one, or leave the key out." if value.is_null else "Write that instead."
    raise value.problem(f"{wanted[0].upper()}{wanted[1:]} is expected, and there is {value.shown()}.", advice)


def _secret(value: Value) -> str:
    """The secret that is referred to. Raises Problem, without the value, for one that the file itself has."""
    if value.node.id != "mapping":
        raise value.problem("A secret does not belong in the file.", f"Refer to it: {REFERENCES}.")
    given = read_keys(value, {"env": str, "file": str}, "A reference to a secret")
    if len(given) != 1:
        raise value.problem("That refers to no secret, or to two.", f"Write {REFERENCES}.")
    try:
        return from_environment(given["env"]) if "env" in given else _from_file(given["file"])
    except Problem as problem:
        raise value.problem(problem.what, problem.advice) from problem


def _from_file(path: str) -> str:
    try:
        # As editors and `echo` write it: with a line end that is not part of the secret.
        return Path(path).expanduser().read_text().removesuffix("\n").removesuffix("\r")
    except (OSError, UnicodeError) as error:
        why = getattr(error, "strerror", None) or "it is no text"
        raise Problem(f"The secret cannot be read from {path}: {why}.", advice="Name a text file.") from error

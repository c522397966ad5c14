"""Scripts that complete the words, verbs and options of `millrace` in a shell, made from the parsers."""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass

from importer.management.command_line.start import command_of
from importer.management.command_line.words import PROGRAM, WORDS

OWN = ("help", "completion", "--help", "--version")
SHELLS = ("bash", "zsh", "fish")


@dataclass(frozen=True)
class Place:
    """A place in a line, behind the given words, and what may stand there: text and help of verbs and options."""

    words: tuple[str, ...]
    known: tuple[tuple[str, str], ...]


def script(shell: str) -> str:
    """The script for bash, zsh or fish. Needs Django to be set up."""
    places = [Place((), (*((word.name, word.about) for word in WORDS.values()), *((name, "") for name in OWN)))]
    for word in WORDS.values():
        places += _places((word.name,), command_of(word).create_parser(PROGRAM, word.name))
    if shell == "fish":
        return "\n".join(_fish(places)) + "\n"
    # zsh runs completions of bash.
    head = ["autoload -U +X compinit && compinit", "autoload -U +X bashcompinit && bashcompinit"]
    return "\n".join([*(head if shell == "zsh" else []), *_bash(places)]) + "\n"


def _places(words: tuple[str, ...], parser: argparse.ArgumentParser) -> Iterator[Place]:
    known: list[tuple[str, str]] = []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            about = {each.dest: each.help or "" for each in action._choices_actions}
            for name, below in action.choices.items():
                known.append((name, about.get(name, "")))
                yield from _places((*words, name), below)
        elif action.help != argparse.SUPPRESS:
            shown = (action.help or "").replace("%%", "%")
            known += [(flag, shown) for flag in action.option_strings if flag.startswith("--")]
    yield Place(words, tuple(known))


def _bash(places: list[Place]) -> Iterator[str]:
    """Options and verbs by the first words of the line; where nothing fits, files."""
    yield from (
        f"_{PROGRAM}() {{",
        '  local word="${COMP_WORDS[COMP_CWORD]}" known=""',
        '  case "$COMP_CWORD ${COMP_WORDS[1]} ${COMP_WORDS[2]}" in',
    )
    # The first pattern that fits counts: the place of the word itself, then verbs, then words without one.
    for place in sorted(places, key=lambda each: -len(each.words) if each.words else -9):
        known, behind = " ".join(text for text, _ in place.known), " ".join(place.words)
        pattern = {0: '"1 "*', 1: f'*" {behind} "*'}.get(len(place.words), f'*" {behind}"')
        yield f'    {pattern}) known="{known}" ;;'
    yield from (
        "  esac",
        # Not mapfile: bash 3 of macOS has none. The words have no blanks.
        '  COMPREPLY=($(compgen -W "$known" -- "$word"))',
        "}",
        f"complete -o bashdefault -o default -F _{PROGRAM} {PROGRAM}",
    )


def _fish(places: list[Place]) -> Iterator[str]:
    for place in places:
        seen = "; and ".join(f"__fish_seen_subcommand_from {word}" for word in place.words)
        condition = seen or "__fish_use_subcommand"
        for text, about in place.known:
            what = f"-l {text[2:]}" if text.startswith("--") else f"-a {text}"
            yield f"complete -c {PROGRAM} -n {_quoted(condition)} {what} -d {_quoted(about)}"


def _quoted(text: str) -> str:
    escaped = " ".join(text.split()).replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"

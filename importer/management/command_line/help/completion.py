"""Scripts that complete the words, verbs, options and values of `millrace` in a shell."""

from collections.abc import Iterator, Mapping, Sequence

from importer.management.command_line.help.completion_places import Option, Place, places
from importer.management.terminal.words import PROGRAM

# The words are joined again that bash has cut at : and =. Those of --server and its options are left out.
# Not mapfile: bash 3 of macOS has none. Nothing that is offered has blanks.
_BASH = """\
_{program}() {{
  local -a given
  local last=-1 at=1 each="" glue="" number=0 remote="" name="" verb="" words="" options="" values=""
  for ((number = 0; number <= COMP_CWORD; number++)); do
    each="${{COMP_WORDS[number]}}"
    if [[ $last -ge 0 && ( -n $glue || $each == [:=]* ) ]]; then
      given[last]="${{given[last]}}$each"
    else
      last=$((last + 1))
      given[last]="$each"
    fi
    glue=""
    [[ $each == *[:=] ]] && glue=1
  done
  local word="${{given[last]}}" before="${{given[last - 1]}}"
  if [[ $word == --*=* ]]; then
    before="${{word%%=*}}"
    word="${{word#*=}}"
  fi
  case "${{given[1]}}" in
    --server) remote=remote at=3 ;;
    --server=*) remote=remote at=2 ;;
  esac
  while [[ -n $remote && $at -lt $last ]]; do
    case "${{given[at]}}" in
      {valued}) at=$((at + 2)) ;;
      --*) at=$((at + 1)) ;;
      *) break ;;
    esac
  done
  [[ $at -lt $last ]] && name="${{given[at]}}"
  [[ $((at + 1)) -lt $last ]] && verb="${{given[at + 1]}}"
  case "$remote/$name/$verb" in
{places}
  esac
  if [[ -z $values ]]; then
    values="$words"
    [[ $word == -* ]] && values="$options"
  fi
  COMPREPLY=($(compgen -W "$values" -- "$word"))
}}
complete -o bashdefault -o default -F _{program} {program}
"""


def script(shell: str) -> str:
    """The script for bash, zsh or fish. Needs Django to be set up."""
    every = list(places())
    if shell == "fish":
        return "\n".join(_fish(every)) + "\n"
    # zsh runs completions of bash.
    head = "autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n"
    return f"{head if shell == 'zsh' else ''}{_bash(every)}"


def _bash(every: Sequence[Place]) -> str:
    """Options and verbs by the words before; the values of an option behind it; where nothing fits, files."""
    [of_server] = (each for each in every if each.remote and not each.behind)
    valued = " | ".join(option.flag for option in of_server.options if option.values is not None)
    # The first pattern that fits counts: those of verbs come before those of words without one.
    lines = (line for place in sorted(every, key=lambda each: -len(each.behind)) for line in _bash_place(place))
    return _BASH.format(program=PROGRAM, valued=valued, places="\n".join(lines))


def _bash_place(place: Place) -> Iterator[str]:
    name, verb = (*place.behind, "", "")[:2]
    words, options = (name for name, _ in place.words), (option.flag for option in place.options)
    yield f"    {'remote' if place.remote else ''}/{name}/{verb if verb or not name else '*'})"
    yield f'      words="{" ".join(words)}" options="{" ".join(options)}"'
    by_values: dict[tuple[str, ...], list[str]] = {}
    for option in place.options:
        if option.values is not None:
            by_values.setdefault(option.values, []).append(option.flag)
    # A blank: neither a value nor an option is offered.
    yield from _bash_case('"$before"', "values", {" | ".join(flags): values for values, flags in by_values.items()})
    first = max(len(place.behind), 1) - 1
    choices = {str(first + position): values for position, values in place.arguments.items() if values}
    yield from _bash_case("$((last - at))", "words", choices)
    yield "      ;;"


def _bash_case(subject: str, variable: str, values: Mapping[str, Sequence[str]]) -> Iterator[str]:
    if values:
        yield f"      case {subject} in"
        yield from (f'        {pattern}) {variable}="{" ".join(known) or " "}" ;;' for pattern, known in values.items())
        yield "      esac"


def _fish(every: Sequence[Place]) -> Iterator[str]:
    for place in every:
        if place.remote and place.behind:
            continue  # As without --server.
        seen = "; and ".join(f"__fish_seen_subcommand_from {word}" for word in place.behind)
        condition = "__fish_contains_opt server" if place.remote else seen or "__fish_use_subcommand"
        begin = f"complete -c {PROGRAM} -n {_quoted(condition)}"
        yield from (f"{begin} -a {word} -d {_quoted(about)}" for word, about in place.words)
        for option in place.options:
            yield f"{begin} -l {option.flag[2:]}{_fish_values(option)} -d {_quoted(option.about)}"
        yield from (f"{begin} -a {_quoted(' '.join(values))}" for values in place.arguments.values() if values)


def _fish_values(option: Option) -> str:
    """What says in fish which values the option takes: none, these, or any text."""
    if option.values is None:
        return ""
    return f" -x -a {_quoted(' '.join(option.values))}" if option.values else " -r"


def _quoted(text: str) -> str:
    escaped = " ".join(text.split()).replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"

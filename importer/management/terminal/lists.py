"""What the verb `list` says where there is nothing to list."""

from collections.abc import Callable, Iterable, Mapping

# What `list` says instead of nothing.
NONE_TO_LIST: Mapping[str, str] = {
    "channel": "There are no channels to list. To add one: millrace channel add NAME --mail ADDRESS",
    "connection": "There are no connections to list. To add one: millrace connection add NAME PLACE",
    "group": "There are no groups to list. To add one: millrace group add NAME",
    "job": "There are no imports to list. To begin one: millrace load FILE --to TARGET --table TABLE",
    "lab": "There are no labs to list. To begin one: millrace lab --help",
    "preset": "There are no presets to list. The page of a new import saves its settings as one.",
    "schedule": "There are no schedules to list. To make one: millrace schedule create-from-job --help",
    "target": "There are no targets to list. To add one: millrace target add NAME mysql://USER@HOST/DATABASE",
    "user": "There are no people to list. To add one: millrace user add NAME --role ROLE",
}


def write_list(command: str, lines: Iterable[str], say: Callable[[str], object], warn: Callable[[str], object]) -> None:
    """Write the lines of `list` of this command by `say`; by `warn` that there are none, and how to add one."""
    empty = True
    for line in lines:
        empty = False
        say(line)
    if empty:
        warn(NONE_TO_LIST[command])

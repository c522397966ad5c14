"""The help of `millrace` without a word: everything that it can do, on one screen."""

from importer.management.terminal.words import GROUPS, PROGRAM

OWN = {
    "help WORD": "the help of a word; without one, this page",
    "help exit-codes": "what each exit code means",
    "completion": "bash, zsh or fish: a script that completes words and options",
    "--server URL": "WORD ...: the Millrace of another machine, by its API",
    "--version": "the version",
}
EXAMPLES = (
    "load orders.csv mysql://loader@db.example.org/sales.orders",
    "load orders.csv --to warehouse --table orders",
    "plan orders.csv --to warehouse --table orders",
)
WIDTH = 16  # characters of the first column


def help_page() -> str:
    """The page, in lines of at most 80 characters."""
    lines = [
        f"usage: {PROGRAM} WORD ...",
        "",
        "Loads files into MySQL and MariaDB, and proves that every row arrived.",
        "",
        *(f"  {PROGRAM} {each}" for each in EXAMPLES),
    ]
    for title, words in GROUPS.items():
        lines += ["", f"{title}:", *(_line(word.name, word.about) for word in words)]
    lines += ["", "Help:", *(_line(name, about) for name, about in OWN.items())]
    return "\n".join(lines)


def _line(name: str, about: str) -> str:
    return f"  {name:<{WIDTH}}{about}"

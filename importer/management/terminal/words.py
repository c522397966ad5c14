"""The words that may follow `millrace`, in the groups of its help, each with the management command behind it.

Nothing here imports Django: `millrace --help` prints these declarations and ends.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from config.contracts.documents import PROBLEM
from config.plain_text import undecoded
from importer.engine.errors import Problem, WrongUsage, problem_values

PROGRAM = "millrace"
FLAG = "--json"
AGENT = "mcp"  # works with --server alone, which needs no management command


@dataclass(frozen=True)
class Word:
    """One word: what it does in a line, examples without `millrace`, and the management command that does it.

    `given`: arguments that stand before those of the user. `light`: it needs no pages, so that Django starts with the
    few applications of config/light_settings.py.
    """

    name: str
    about: str
    command: str
    examples: tuple[str, ...] = ()
    given: tuple[str, ...] = ()
    light: bool = False


GROUPS: dict[str, tuple[Word, ...]] = {
    "Load files": (
        Word(
            "load",
            "load a file into a table, and prove that every row arrived",
            "import_csv",
            (
                "load orders.csv mysql://loader@db.example.org/sales.orders",
                "load orders.csv --to warehouse --table orders",
                "load orders.csv.gz --to warehouse --table orders --on-error reject",
                "load orders.csv --to warehouse --table orders --mode upsert --json",
            ),
            light=True,
        ),
        Word(
            "plan",
            "show how a file is read, the plan and its SQL; load nothing",
            "import_csv",
            ("plan orders.csv --to warehouse --table orders",),
            ("--plan-only",),
            light=True,
        ),
        Word(
            "check",
            "name the bad rows of a whole file, and load nothing",
            "import_csv",
            ("check orders.csv", "check orders.csv --to warehouse --table orders --json"),
            ("--check-only",),
            light=True,
        ),
        Word(
            "preview",
            "show what a file would change in its table, and change nothing",
            "import_csv",
            ("preview prices.csv --to shop --table articles --mode update",),
            ("--preview",),
            light=True,
        ),
        Word("lab", "find by trial which settings load a file fastest", "lab"),
        Word("experiment", "repeat published measurements on a server of yours", "experiment"),
    ),
    "Imports": (
        Word(
            "job",
            "list, show, follow, retry, cancel and approve imports",
            "job",
            ("job list", "job wait 17", "job retry 17", "job rejects 17 --out rejects.csv", "job why 17"),
        ),
        Word("history", "settings and timings of imports that have ended", "history"),
        Word("kept-table", "restore or drop what an import has kept of its table", "kept_table"),
        Word("schedule", "import new files by themselves, each once", "schedule"),
    ),
    "Places": (
        Word(
            "target",
            "add, check and remove the databases that files are loaded into",
            "target",
            (
                "target add warehouse mysql://loader@db.example.org/sales --password-env DB_PASSWORD",
                "target check warehouse",
            ),
        ),
        Word(
            "preset",
            "stored settings of imports: show, export and import them",
            "preset",
            ("preset list", "preset export monthly --out monthly.json", "preset import monthly.json --to warehouse"),
        ),
        Word("connection", "add and check the places that files are fetched from", "connection"),
        Word("channel", "add and test mail and webhooks that notify people", "channel"),
        Word(
            "apply",
            "make targets, schedules and so on what a file says",
            "apply",
            ("apply -f millrace.yaml --dry-run", "apply -f millrace.yaml --yes", "apply --export"),
        ),
    ),
    "People": (
        Word("user", "add people, and change their roles and grants", "user"),
        Word("group", "groups of people with the same grants", "group"),
    ),
    "This installation": (
        Word("serve", "the pages, the API and the workers, until Ctrl-C", "serve", ("serve", "serve --port 8100")),
        Word("prepare", "create or update the application's database; safe to repeat", "prepare"),
        Word("retention", "how long files and records are kept", "retention"),
        Word("backup", "make, check and restore backups", "backup"),
        Word("rotate-keys", "move stored passwords to a new key", "rotate_keys"),
    ),
}
WORDS: dict[str, Word] = {word.name: word for group in GROUPS.values() for word in group}


def sentence(about: str) -> str:
    """What a word does, as a sentence."""
    return f"{about[0].upper()}{about[1:]}."


def undecoded_word(arguments: Iterable[str]) -> WrongUsage | None:
    """The problem with the first argument that is not in UTF-8: no record could have it. None for none."""
    wrong = next(filter(None, map(undecoded, arguments)), "")
    advice = f"Rename the file, or send it to standard input: {PROGRAM} load - ... < FILE"
    return WrongUsage("This is not in UTF-8.", wrong, advice) if wrong else None


def asks_for_json(words: Sequence[str]) -> bool:
    """Whether a command line asks for JSON, also if it is wrong otherwise; what follows -- are values."""
    options = words[: words.index("--")] if "--" in words else words
    return any(each == FLAG or each.startswith(f"{FLAG}=") for each in options)


def problem_document(problem: Problem, exit_code: int, command: str) -> dict[str, Any]:
    """The document of a problem that ended the command, which is not about an import."""
    return PROBLEM.of({"command": command, "exit_code": exit_code, "problem": problem_values(problem.as_json())})

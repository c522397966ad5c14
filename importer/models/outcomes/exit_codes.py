"""The exit codes of commands, each declared once. docs/contracts.md has the same table."""

from collections.abc import Mapping

from importer.models.outcomes import FOUND_BAD_ROWS, OUTCOMES, READER_GONE, UNKNOWN, WRONG_USAGE

MEANINGS: Mapping[str, str] = {
    "succeeded": "all rows are in, or there were none",
    "completed with rejects": "within the limit, and at least one row is in",
    "needs an answer": "a guess; nothing was written",
    "refused": "by the plan, a policy or a person, or because something is not there or does not fit;"
    " nothing was written",
    "failed": "the report says what is in",
    "target unreachable": "no server answers there, or the connection was lost",
    "cancelled": "by Ctrl-C, SIGTERM or SIGHUP, or by a person",
    "restored": "it had succeeded, and the old table, or the old rows, are back",
    "previewed": "the file was compared with the table, and nothing was to be changed",
    "waits for approval": "of another person; nothing is written before",
    "waits for a decision": "it would change more than a limit allows (--stop-if); nothing is changed before",
}
# Of commands: what an import's outcome does not say.
COMMANDS: Mapping[int, str] = {
    UNKNOWN: "the command has failed in its work, or could not follow the import, which continues or has succeeded",
    WRONG_USAGE.exit_code: "wrong usage of the command",
    FOUND_BAD_ROWS.exit_code: "check has found rows that could not be loaded",
    READER_GONE: "the reader of the output, such as head, has gone; what the command did stays",
}


def exit_codes() -> list[tuple[int, str]]:
    """Each exit code with its meaning, by number. Code 0 has one for each outcome that it stands for."""
    of_imports = [(each.exit_code, f"{each.words}: {MEANINGS[each.words]}") for each in OUTCOMES]
    return sorted([*of_imports, *COMMANDS.items()], key=lambda each: each[0])


def exit_codes_text() -> str:
    """The table as a page of help."""
    return "\n".join(f"  {code:>2}  {meaning}" for code, meaning in exit_codes())

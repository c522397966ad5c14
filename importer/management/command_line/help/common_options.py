"""The options that most imports need, for the short help."""

from collections.abc import Mapping

# Each with a text that fits its line.
COMMON = {
    "--to": "a target, instead of mysql://...",
    "--table": "TABLE or SCHEMA.TABLE",
    "--socket": "the server's Unix socket on this machine",
    "--tls": "off, encrypt or verify; elsewhere than here: verify",
    "--defaults-file": "with user and password; else ~/.my.cnf",
    "--password-env": "the variable with the password",
    "--mode": "append, atomic, replace, upsert, update, sync, create",
    "--on-error": "at a bad row; reject: leave it out, into a file",
    "--on-duplicate": "at a key that exists: fail, skip or replace",
    "--null": "a text that means NULL; may be repeated",
    "--map": "the column of a field, and how it is read",
    "--delimiter": "where it is not detected",
    "--encoding": "where it is not detected",
    "--accept-guesses": "read the file in the likeliest way, unasked",
    "--preset": "target, table, format and columns as saved",
    "--like": "those of this import, by its number",
    "--verify": "full: compare every stored value with the file",
    "--parallel": "how many chunks load at the same time",
    "--plan-only": "show plan and SQL, and load nothing",
    "--check-only": "name the bad rows of the whole file, load nothing",
    "--workers": "hand the import to running workers",
    "--json": "print one report as JSON",
    "--as": "act on behalf of this person",
}
# Those that say what `load` does; the word says it of `plan` and `check`.
_OF_LOAD = ("--plan-only", "--check-only", "--workers")


def common_options(word: str) -> Mapping[str, str]:
    """The options that most imports need, of this word."""
    return {
        flag: text for flag, text in COMMON.items() if word not in ("plan", "check", "preview") or flag not in _OF_LOAD
    }

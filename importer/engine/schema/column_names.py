"""Makes names that both servers take from the names of files, and from those in their headers."""

import unicodedata
from collections.abc import Sequence

LONGEST_NAME = 64  # characters (manual, Identifier Length Limits)
LAST_CHARACTER = "\uffff"  # of those that names have
# Names that InnoDB keeps for itself, in any case (server-behaviour.md, Names).
_TAKEN_BY_INNODB = ("db_row_id", "db_trx_id", "db_roll_ptr", "fts_doc_id")


def name_columns(header: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """A valid column name for each name of the header, and a note for each name that had to be changed.

    Valid: not empty, at most LONGEST_NAME characters, none beyond U+FFFF, no control or invisible characters, no blank
    at an end, and unique without regard to case. Reserved words are valid, since every statement quotes names.
    """
    names: list[str] = []
    notes: list[str] = []
    taken = set(_TAKEN_BY_INNODB)
    for number, text in enumerate(header, start=1):
        cleaned = _cleaned(text)
        base = cleaned_name(text) or f"column_{number}"
        name, count = base, 1
        while folded(name) in taken:
            count += 1
            name = f"{base[: LONGEST_NAME - 5]}_{count}"
        taken.add(folded(name))
        names.append(name)
        if name != text.strip():
            notes.append(_note(number, text, cleaned, base, name))
    return tuple(names), tuple(notes)


def cleaned_name(text: str) -> str:
    """The text as a name that both servers take; "" if none of its characters can be in one."""
    return _cleaned(text)[:LONGEST_NAME].strip()


def may_exist(*names: str) -> bool:
    """Whether a server may have things of these names.

    Of a name with a character that no name has, it would say that the collations are mixed (MariaDB, error 1267), or
    that the text cannot be converted (MySQL, 3854).
    """
    return all(character <= LAST_CHARACTER for name in names for character in name)


def folded(name: str) -> str:
    """The name as the servers compare column names: without regard to case, but to accents (e and é are two names).

    Python's lower() joins a few more names than the servers do, which costs a suffix and nothing else.
    """
    return name.replace("İ", "i").lower()


def is_valid_character(character: str) -> bool:
    """Whether a name may have the character: MariaDB refuses those beyond U+FFFF, and MySQL stores a ? for them.

    Control and format characters are allowed by the servers, but nobody could see or type them.
    """
    return character <= LAST_CHARACTER and unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Cn")


def _cleaned(text: str) -> str:
    visible = "".join(each if is_valid_character(each) or each.isspace() else "" for each in text)
    return " ".join(visible.split())


def _note(number: int, text: str, cleaned: str, base: str, name: str) -> str:
    if not text.strip():
        return f"Field {number} has no name in the header: its column is {name}."
    if name != base:
        why = "InnoDB keeps this name for itself" if folded(base) in _TAKEN_BY_INNODB else "the name is taken"
    elif not cleaned:
        why = "none of its characters can be in a name"
    elif len(cleaned) > LONGEST_NAME:
        why = f"a name has at most {LONGEST_NAME} characters"
    else:
        why = "emoji, line ends, doubled blanks and invisible characters are left out"
    return f"The field {_shown(text)} goes into the column {name}: {why}."


def _shown(text: str) -> str:
    return repr(text if len(text) <= 80 else f"{text[:77]}...")

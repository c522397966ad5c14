"""Whether the first record of a text has the names of the fields."""

from collections.abc import Sequence

from importer.engine.source.decisions import Answer, Decision, Standing
from importer.engine.source.formats.format import Wanted
from importer.engine.source.formats.header_names import match_names


def header_decision(first: str, names: Sequence[str], wanted: Wanted) -> tuple[bool, Decision]:
    """Whether it is the header: as stated; yes if it has names of the table's columns only; otherwise a question.

    `first`: the record as a question shows it. `names`: its values.
    """
    if "header" in wanted.stated:
        header = bool(wanted.stated["header"])
        return header, Decision("header", "yes" if header else "no", Standing.STATED, "")
    if wanted.columns and all(match_names(names, wanted.columns)):
        evidence = "The first line has the names of the table's columns."
        return True, Decision("header", "yes", Standing.PROVED, evidence)
    answers = (
        Answer("it has the names of the columns", "--header", (("header", True),), (first,)),
        Answer("it is data", "--no-header", (("header", False),), (first,)),
    )
    return True, Decision("header", "yes", Standing.GUESSED, "The first line may be the header.", answers=answers)

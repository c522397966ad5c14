"""How sure a decision about a file is, in the words of pages."""

from importer.engine.source.decisions import Standing

# What pages call a standing, the colour of its badge, and what it means.
STANDINGS = {
    Standing.PROVED: ("certain", "green", "the first rows allow nothing else"),
    Standing.STATED: ("chosen", "azure", "by you, by a preset or by an earlier import"),
    Standing.RULE: ("by default", "secondary", "unless you choose another"),
    Standing.GUESSED: ("guessed", "yellow", "another reading is possible; asked above"),
}


def standing_words(standing: str) -> str:
    """The words for a standing as it is stored."""
    return STANDINGS[Standing(standing)][0]

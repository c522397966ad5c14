"""The policy for rows that cannot be loaded unchanged: the questions of the new import page, and their answers."""

# For each option its question, and for each answer its label and explanation. Only answers that the engine offers
# (importer.engine.plan.option_specs) are shown.
ACCOUNTING: dict[str, tuple[str, dict[str, tuple[str, str]]]] = {
    "on_error": (
        "When a row cannot go in",
        {
            "stop": ("stop the import", "The row is named by line, column and reason; nothing of its chunk is kept."),
            "reject": (
                "leave it out",
                "The others load. Rows left out are kept with their reasons, to mend and load again.",
            ),
        },
    ),
    "on_duplicate": (
        "When a key is there already",
        {
            "fail": ("it cannot go in", "In the table or earlier in the file: the row is a bad one."),
            "skip": ("skip the row", "What is there stays. One chunk after another, to keep the file's order."),
            "replace": ("replace what is there", "The last row in the file wins. One chunk after another."),
        },
    ),
    "rounding": (
        "When digits would be lost",
        {
            "notice": (
                "load it, and count it",
                "1.005 becomes 1.01 in a DECIMAL(8,2); the page tells how many values.",
            ),
            "reject": ("it cannot go in", "A value that the column cannot keep exactly makes the row a bad one."),
        },
    ),
    "verify": (
        "Check afterwards",
        {
            "counts": ("rows of every chunk", "Against the ledger on the server: no row lost, none twice."),
            "full": ("every value", "Read back and compared before a chunk is committed. Takes several times as long."),
        },
    ),
}

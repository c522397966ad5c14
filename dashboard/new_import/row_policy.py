"""The policy for rows that cannot be loaded unchanged: the questions of the new import page, and their answers."""

# For each option its question, and for each answer its label and explanation. Only answers that the engine offers
# (importer.engine.plan.option_specs) are shown.
ACCOUNTING: dict[str, tuple[str, dict[str, tuple[str, str]]]] = {
    "on_error": (
        "Invalid rows",
        {
            "stop": ("Stop the import", "The row is named by line, column and reason; nothing of its chunk is kept."),
            "reject": (
                "Reject and continue",
                "The other rows load. Rejected rows are kept with their reasons, to fix and load again.",
            ),
        },
    ),
    "on_duplicate": (
        "Duplicate keys",
        {
            "fail": ("Reject row", "The key is in the table or earlier in the file: the row is invalid."),
            "skip": ("Skip row", "The existing row stays. Chunks load one after another, in the file's order."),
            "replace": ("Replace existing row", "The last row in the file wins. Chunks load one after another."),
        },
    ),
    "rounding": (
        "Rounding",
        {
            "notice": (
                "Round and report",
                "1.005 becomes 1.01 in a DECIMAL(8,2); the page tells how many values.",
            ),
            "reject": ("Reject row", "A row with a value that the column cannot keep exactly is invalid."),
        },
    ),
    "verify": (
        "Verification",
        {
            "counts": ("Row counts of every chunk", "Compared with the ledger on the server: no row lost, none twice."),
            "full": ("Every value", "Read back and compared before a chunk is committed. Takes several times as long."),
        },
    ),
}

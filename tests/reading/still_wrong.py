"""The cases that are not right yet: kind and name, and the reason. One that is right by now fails until it leaves."""

ESCAPES = "backslashes that escape the quote only cannot be read; the import asks, and neither answer is right"

STILL_WRONG: dict[tuple[str, str], str] = {
    ("escapes", "only the quote is escaped, paths stay"): ESCAPES,
    ("escapes", "JSON with escaped quotes in doubled quotes, paths stay"): ESCAPES,
    ("nulls", "a blank first met late in a nullable column"): "the row is refused, since the sample has no blank",
    ("quotes", "no quotes in a tab-separated file"): "a quote that never closes is refused; --quote '' reads the file",
}

"""Chooses the quote and the escape for the best delimiter."""

import re
from dataclasses import replace

from importer.engine.source.decisions import Decision, Standing, answer
from importer.engine.source.dialect import MYSQL_TSV, Dialect
from importer.engine.source.profile.candidates import DialectCandidate, fitness, read_candidate, with_escape
from importer.engine.source.records.large_values import large_values

# Files with these follow RFC 4180 less often: a quote may be a plain character, as in 6" or "Heroes".
LOOSE_DELIMITERS = ("\t", "|")
# Evidence for each escape.
EVERY = r"A backslash escapes quotes, as MySQL and MariaDB write them; \N is NULL."
QUOTES = "A backslash escapes quotes, and elsewhere it is a plain character"
PHP = "Quotes are doubled, but not after a backslash, as PHP's fputcsv writes them: backslashes stay."

# The candidate with the chosen mark, and the decision; None where nothing is to be decided.
Chosen = tuple[DialectCandidate, Decision | None]


def choose_quote(sample: bytes, best: DialectCandidate, final: bool) -> Chosen:
    """The candidate with single quotes, or without quotes, where they fit better than double quotes."""
    if best.dialect.quote == "'":
        evidence = "Only with single quotes do the records have one number of fields."
        return best, Decision("quote", "'", Standing.PROVED, evidence)
    bare = _without_quotes(sample, best, final)
    if bare and _is_misread(sample, best, bare, final):
        evidence = "Quotes are part of the values here: read as quotes, they would not close where a field ends."
        return bare, Decision("quote", "none", Standing.PROVED, evidence)
    across = _across_lines(best, bare) if bare else None
    if across:
        return best, across
    single = _with_single_quotes(sample, best, final)
    if single:
        return single
    if best.dialect.quote and best.dialect.quote.encode() in sample:
        return best, _literal_quotes(best) or Decision("quote", best.dialect.quote, Standing.PROVED, "")
    return best, Decision("quote", best.dialect.quote or "none", Standing.RULE, "")


def _without_quotes(sample: bytes, best: DialectCandidate, final: bool) -> DialectCandidate | None:
    """The candidate without quotes, if the sample fits it perfectly and no value stands in quotes.

    Not with commas and semicolons: there a quote that never closes is an error that must be named.
    """
    # Where most of the sample cannot be read, the delimiter may be wrong as well.
    possible = (best.dialect.delimiter,) if best.reach > len(sample) / 2 else LOOSE_DELIMITERS
    if best.dialect.quote.encode() not in sample or not set(possible) <= set(LOOSE_DELIMITERS):
        return None
    bare = max(
        (read_candidate(sample, replace(best.dialect, delimiter=each, quote=""), final) for each in possible),
        key=fitness,
    )
    quoted = any(len(v) > 1 and v[:1] == v[-1:] == b'"' for row in bare.rows for v in row)
    return None if quoted or not bare.divides or bare.agreement < 1 else bare


def _is_misread(sample: bytes, best: DialectCandidate, bare: DialectCandidate, final: bool) -> bool:
    """Whether a quote never closes in `best`, or closes inside a field or in a record of another width."""
    if best.stray or best.agreement < 1 or best.reach <= len(sample) / 2:
        return True
    return best.width != bare.width or _never_closes(sample, best, bare, final)


def _never_closes(sample: bytes, best: DialectCandidate, bare: DialectCandidate, final: bool) -> bool:
    """Whether the lines that `best` cannot read, since a quote opens in the first, are records of `bare`'s width.

    At the end of the file one is enough. Elsewhere the sample may end inside a value with quotes; its lines have other
    widths than records.
    """
    rest = read_candidate(sample[best.reach :], bare.dialect, final)
    return len(rest.rows) > (0 if final else 1) and rest.width == bare.width and rest.agreement == 1


def _across_lines(best: DialectCandidate, bare: DialectCandidate) -> Decision | None:
    """The guess about a quote that closes on another line, where each line is a record of the same width as well."""
    quote = best.dialect.quote
    value = next((v for row in best.rows for v in row if b"\n" in v or b"\r" in v), b"")
    if not value or len(best.rows) >= len(bare.rows):
        return None
    first = next((v for row in bare.rows for v in row if v[:1] == quote.encode()), b"")
    shown = [each.decode(best.dialect.plain.encoding, "replace") for each in (value, first)]
    return Decision(
        "quote",
        quote,
        Standing.GUESSED,
        f"The quote before {shown[1][1:]} closes on another line, and each line would be a record without it.",
        answers=(
            answer("the value has several lines", shown[:1], quote=quote),
            answer("quotes are part of the values", shown[1:], quote=""),
        ),
    )


def _with_single_quotes(sample: bytes, best: DialectCandidate, final: bool) -> Chosen | None:
    """The candidate with single quotes where whole values stand in them; a guess if only some of a column do."""
    if b"'" not in sample or b'"' in sample:
        return None
    single = read_candidate(sample, replace(best.dialect, quote="'"), final)
    if not single.explains(best):
        return None
    if best.width == single.width and best.agreement == single.agreement:
        columns = [
            [row[number] for row in best.rows[1:] if number < len(row) and row[number]] for number in range(best.width)
        ]
        found = [(sum(map(_in_single_quotes, column)), len(column)) for column in columns]
        # Names in quotes above plain numbers, as some statistics programs write them.
        found.append((sum(map(_in_single_quotes, best.rows[0])), best.width) if best.rows else (0, 0))
    else:
        found = [(len(single.rows), len(single.rows))]  # Only with these quotes do the records agree.
    quoted, count = max(found, key=lambda each: (each[0] / max(1, each[1]), each[1]))
    if not quoted:
        return None
    first = next((v for row in best.rows for v in row if _in_single_quotes(v)), b"'")
    shown = first.decode(best.dialect.plain.encoding, "replace")
    evidence = f"Values such as {shown} stand in single quotes."
    if quoted < count:
        evidence += " Others of the column do not."
    answers = (
        answer("single quotes are quotes", [shown[1:-1]], quote="'"),
        answer("single quotes are part of the values", [shown], quote='"'),
    )
    return single, Decision("quote", "'", Standing.GUESSED, evidence, answers=answers).weighed(quoted, count)


def _in_single_quotes(value: bytes) -> bool:
    return len(value) > 1 and value[:1] == value[-1:] == b"'"


def _literal_quotes(best: DialectCandidate) -> Decision | None:
    """A guess where a blank stands before a quote: the quote is then a part of the value, which is seldom meant."""
    quote = best.dialect.quote.encode()
    spaced = next((v for row in best.rows for v in row if v[:1] == b" " and v.lstrip()[:1] == quote), None)
    if not spaced:
        return None
    shown = spaced.decode(best.dialect.plain.encoding, "replace")[:40]
    delimiter = best.dialect.delimiter
    return Decision(
        "quote",
        best.dialect.quote,
        Standing.GUESSED,
        f"{shown!r}: the space before the quote makes both part of the value.",
        answers=(
            answer("blank and quotes are part of the value", [shown], quote=best.dialect.quote),
            answer(
                "the blank belongs to the delimiter",
                [shown.strip().strip(best.dialect.quote)],
                delimiter=f"{delimiter} ",
            ),
        ),
    )


def choose_escape(sample: bytes, best: DialectCandidate, final: bool) -> Chosen:
    r"""The candidate with the escapes that the sample needs (Dialect.escape).

    A backslash escapes if the servers write so, or if quotes after backslashes stand where none belongs, and all is
    well when it does.
    """
    if server := as_the_server_writes(sample, best, final):
        return server
    plain = Decision("escape", "none", Standing.RULE, "")
    if not best.dialect.quote or b"\\" + best.dialect.quote.encode() not in sample:
        return best, plain
    every, quotes = (with_escape(best, sample, final, escape) for escape in ("\\", "quote"))
    if quotes.mends(best):
        return _what_is_escaped(sample, every if every.mends(best) else None, quotes, final)
    if every.mends(best):
        return every, Decision("escape", "backslash", Standing.PROVED, EVERY)
    return best, plain


def _what_is_escaped(
    sample: bytes, every: DialectCandidate | None, quotes: DialectCandidate, final: bool
) -> tuple[DialectCandidate, Decision]:
    r"""The candidate with escapes of quotes only, or of every character.

    It is a guess if both can be meant, and differ: MySQL would read \n in C:\new as a line feed. An exporter that
    escapes backslashes, too, writes `C:\\new`; so a path, and a backslash before a character that none escapes, show
    that backslashes stay.
    """
    if _doubles_quotes(sample, quotes):
        return with_escape(quotes, sample, final, "php"), Decision("escape", "php", Standing.PROVED, PHP)
    plain, other = _plain_backslash(quotes), _other_escape(sample, quotes.dialect)
    if plain or not every:
        shown = f"{QUOTES}, as in {plain}." if plain else f"{QUOTES}."
        return quotes, Decision("escape", "quote", Standing.PROVED, shown)
    if not other:
        return every, Decision("escape", "backslash", Standing.PROVED, EVERY)
    return quotes, Decision(
        "escape",
        "quote",
        Standing.GUESSED,
        f"A backslash stands before quotes, and elsewhere too: {other}. MySQL's escapes would change that.",
        answers=(
            answer("only quotes are escaped", [other], escape="quote"),
            answer("MySQL's escapes", [_unescaped(other)], escape="\\"),
        ),
    )


def _doubles_quotes(sample: bytes, candidate: DialectCandidate) -> bool:
    """Whether a quote is doubled in a field in quotes, as RFC 4180 and PHP write it."""
    ends = (*candidate.starts[1:], candidate.reach)
    records = (sample[low:high].rstrip(b"\r\n") for low, high in zip(candidate.starts, ends, strict=False))
    values = (value for record in records for value in large_values(record, candidate.dialect))
    return any(value and value.has_doubled_quote for value in values)


# What the servers write for a character.
_SERVER = re.compile(rb"\\[0abfnrtvZ\\\t\r\n]|(?<![^\t\r\n])\\N(?![^\t\r\n])")
# A path of Windows, and a backslash before what no exporter escapes.
_PATH = re.compile(rb'(?:[A-Za-z]:|\\\\[^\\/:*?"<>|\r\n]+)(?:\\[^\\/:*?"<>|\r\n]+)+\\?')
_NEVER_ESCAPED = re.compile(rb"[^\\\s]{0,20}\\[^\\/\r\n\t\"',;|0-9abefnrtuvxzNZ][^\s]{0,20}")


def _plain_backslash(candidate: DialectCandidate) -> str:
    """A text that shows that backslashes are plain characters; "" without one.

    It is a path in a column whose backslashes are all in paths, or has a backslash that no exporter writes as escape.
    """
    paths: dict[int, bytes] = {}
    others = set()
    for row in candidate.rows:
        for number, value in enumerate(row):
            if b"\\" not in value:
                continue
            if not _PATH.fullmatch(value):
                others.add(number)
            if match := _NEVER_ESCAPED.search(value.replace(rb"\\", b"")):
                return match[0].decode(candidate.dialect.plain.encoding, "replace")
            paths.setdefault(number, value)
    path = next((value for number, value in paths.items() if number not in others), b"")
    return path.decode(candidate.dialect.plain.encoding, "replace")[:40]


def _other_escape(sample: bytes, dialect: Dialect) -> str:
    r"""The first text with a backslash that escapes neither a quote nor a backslash and is not \N; "" without one."""
    quote = re.escape(dialect.quote.encode())
    match = re.search(rb"[^\\\s]{0,20}\\(?!N\b|\\|" + quote + rb")[^\s]{1,20}", re.sub(rb"\\\\", b"", sample))
    return match[0].decode(dialect.plain.encoding, "replace") if match else ""


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", lambda match: {"n": "⏎", "t": "⇥", "r": "⏎", "0": "␀"}.get(match[1], match[1]), text)


def as_the_server_writes(
    sample: bytes, best: DialectCandidate, final: bool
) -> tuple[DialectCandidate, Decision] | None:
    r"""The candidate with the servers' escapes, if a file with tabs has no quotes, and no other backslashes.

    So write `mysql --batch`, mysqldump --tab and PostgreSQL's COPY; \N alone is one of their escapes.
    """
    if best.dialect.delimiter != "\t" or b"\\" not in sample or re.search(rb'(?:^|\t)"', sample, re.MULTILINE):
        return None
    escaped = [value for row in best.rows for value in row if b"\\" in value]
    if not escaped or b"\\" in _SERVER.sub(b"", sample[: best.reach]):
        return None
    dialect = replace(MYSQL_TSV, line_end=best.dialect.line_end, encoding=best.dialect.encoding)
    shown = escaped[0].decode(dialect.plain.encoding, "replace")[:40]
    evidence = rf"As MySQL and PostgreSQL write it: tabs, and a backslash escapes, as in {shown}; \N is NULL."
    decision = Decision("escape", "backslash", Standing.RULE, evidence).weighed(len(escaped), len(escaped))
    reading = read_candidate(sample, dialect, final)
    return (reading, decision) if reading.explains(best) else None

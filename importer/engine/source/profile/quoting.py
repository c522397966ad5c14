"""Chooses the quote and the escape for the best delimiter."""

import re
from dataclasses import replace

from importer.engine.source.dialect import MYSQL_TSV, Dialect
from importer.engine.source.profile.candidates import DialectCandidate, fitness, read_candidate, with_escape
from importer.engine.source.profile.decisions import Answer, Decision, Standing

# Files with these follow RFC 4180 less often: a quote may be a plain character, as in 6" or "Heroes".
LOOSE_DELIMITERS = ("\t", "|")
VALUES_SHOWN = 2

# The candidate with the chosen mark, and the decision; None where nothing is to be decided.
Chosen = tuple[DialectCandidate, Decision | None]


def choose_quote(sample: bytes, best: DialectCandidate, final: bool) -> Chosen:
    """The candidate with single quotes, or without quotes, where they fit better than double quotes."""
    if best.dialect.quote == "'":
        evidence = "Only with single quotes do the records have one number of fields."
        return best, Decision("quote", "'", Standing.PROVED, evidence)
    bare = _without_quotes(sample, best, final)
    if bare:
        evidence = "Quotes are part of the values here: read as quotes, they would never close."
        return bare, Decision("quote", "none", Standing.PROVED, evidence)
    single = _with_single_quotes(sample, best, final)
    if single:
        return single
    if best.dialect.quote and best.dialect.quote.encode() in sample:
        return best, _literal_quotes(best) or Decision("quote", best.dialect.quote, Standing.PROVED, "")
    return best, Decision("quote", best.dialect.quote or "none", Standing.RULE, "")


def _without_quotes(sample: bytes, best: DialectCandidate, final: bool) -> DialectCandidate | None:
    """The candidate without quotes if the sample cannot be read with them, but fits perfectly without.

    Not with commas and semicolons: there a quote that never closes is an error that must be named.
    """
    # A cut record at the end is no sign; half of the sample unread is.
    if best.reach > len(sample) / 2:
        return None
    bare = max(
        (read_candidate(sample, replace(best.dialect, delimiter=each, quote=""), final) for each in LOOSE_DELIMITERS),
        key=fitness,
    )
    quoted = any(len(v) > 1 and v[:1] == v[-1:] == b'"' for row in bare.rows for v in row)
    return bare if bare.divides and bare.agreement == 1 and not quoted else None


def _with_single_quotes(sample: bytes, best: DialectCandidate, final: bool) -> Chosen | None:
    """The candidate with single quotes where whole values stand in them; a guess if only some of a column do."""
    if b"'" not in sample or b'"' in sample:
        return None
    single = read_candidate(sample, replace(best.dialect, quote="'"), final)
    if single.stray or single.agreement < best.agreement or single.reach < best.reach:
        return None
    columns = [
        [row[number] for row in best.rows[1:] if number < len(row) and row[number]] for number in range(best.width)
    ]
    if best.width == single.width and best.agreement == single.agreement:
        shares = [sum(map(_in_single_quotes, column)) / len(column) for column in columns if column]
        # Names in quotes above plain numbers, as some statistics programs write them.
        shares.append(1.0 if best.rows and all(map(_in_single_quotes, best.rows[0])) else 0.0)
    else:
        shares = [1.0]  # Only with these quotes do the records agree.
    if not any(shares):
        return None
    first = next((v for row in best.rows for v in row if _in_single_quotes(v)), b"'")
    shown = first.decode(best.dialect.plain.encoding, "replace")
    evidence = f"Values such as {shown} stand in single quotes."
    if max(shares) == 1:
        return single, Decision("quote", "'", Standing.PROVED, evidence)
    answers = (
        Answer("single quotes are quotes", '--quote "\'"', (("quote", "'"),), (shown[1:-1],)),
        Answer("single quotes are part of the values", "--quote '\"'", (("quote", '"'),), (shown,)),
    )
    return single, Decision("quote", "'", Standing.GUESSED, f"{evidence} Others of the column do not.", answers=answers)


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
            Answer("blank and quotes are part of the value", f"--quote '{best.dialect.quote}'", (), (shown,)),
            Answer(
                "the blank belongs to the delimiter",
                f"--delimiter '{delimiter} '",
                (("delimiter", f"{delimiter} "),),
                (shown.strip().strip(best.dialect.quote),),
            ),
        ),
    )


def choose_escape(sample: bytes, best: DialectCandidate, final: bool) -> Chosen:
    r"""The candidate with backslash escapes where the sample needs them.

    Tab-separated text with \N and nothing quoted is what the servers write. Otherwise a backslash escapes if quotes
    after backslashes stand where none belongs, and all is well when it does. That is a guess if a backslash also stands
    before another character: MySQL would read \n in C:\new as a line feed.
    """
    server = _as_the_server_writes(sample, best, final)
    if server:
        evidence = r"Written by MySQL or MariaDB: \N is NULL, and a backslash escapes."
        return server, Decision("escape", "backslash", Standing.PROVED, evidence)
    plain = Decision("escape", "none", Standing.RULE, "")
    if not best.dialect.quote or b"\\" + best.dialect.quote.encode() not in sample:
        return best, plain
    escaped = with_escape(best, sample, final, "\\")
    worse = escaped.stray or escaped.agreement < best.agreement or escaped.reach < best.reach
    if worse or (not best.stray and escaped.reach == best.reach):
        return best, plain
    evidence = r"A backslash escapes quotes, as MySQL and MariaDB write them; \N is NULL."
    other = _other_escape(sample, best.dialect)
    if not other:
        return escaped, Decision("escape", "backslash", Standing.PROVED, evidence)
    # Without escapes these rows cannot be read, which is named; with MySQL's, other values would change in silence.
    return best, Decision(
        "escape",
        "none",
        Standing.GUESSED,
        f"A backslash stands before quotes, and elsewhere too: {other}. MySQL's escapes would change that.",
        answers=(
            Answer("no escapes", "--escape ''", (("escape", ""),), (other,)),
            Answer("MySQL's escapes", "--escape '\\'", (("escape", "\\"),), (_unescaped(other),)),
        ),
    )


def _other_escape(sample: bytes, dialect: Dialect) -> str:
    r"""The first text with a backslash that escapes neither a quote nor a backslash and is not \N; "" without one."""
    quote = re.escape(dialect.quote.encode())
    match = re.search(rb"[^\\\s]{0,20}\\(?!N\b|\\|" + quote + rb")[^\s]{1,20}", re.sub(rb"\\\\", b"", sample))
    return match[0].decode(dialect.plain.encoding, "replace") if match else ""


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", lambda match: {"n": "⏎", "t": "⇥", "r": "⏎", "0": "␀"}.get(match[1], match[1]), text)


def _as_the_server_writes(sample: bytes, best: DialectCandidate, final: bool) -> DialectCandidate | None:
    nothing_quoted = not re.search(rb'(?:^|\t)"', sample, re.MULTILINE)
    if best.dialect.delimiter != "\t" or not nothing_quoted or not any(rb"\N" in row for row in best.rows):
        return None
    dialect = replace(MYSQL_TSV, line_end=best.dialect.line_end, encoding=best.dialect.encoding)
    return read_candidate(sample, dialect, final)

"""Chooses the quote and the escape for the best delimiter."""

import re
from collections.abc import Sequence
from dataclasses import replace

from importer.engine.source.decisions import Decision, Standing, answer, asked
from importer.engine.source.dialect import MYSQL_TSV
from importer.engine.source.profile.readings import Readings, SampleReading, weight
from importer.engine.source.records.large_values import large_values

# Files with these follow RFC 4180 less often: a quote may be a plain character, as in 6" or "Heroes".
LOOSE_DELIMITERS = ("\t", "|")
# Evidence for each escape.
EVERY = r"A backslash escapes quotes, as MySQL and MariaDB write them; \N is NULL."
QUOTES = "A backslash escapes quotes, and elsewhere it is a plain character"
PHP = "Quotes are doubled, but not after a backslash, as PHP's fputcsv writes them: backslashes stay."

# The reading with the chosen mark, and the decision.
Chosen = tuple[SampleReading, Decision]


def choose_quote(best: SampleReading) -> Chosen:
    """The reading with single quotes, or without quotes, where they fit better than double quotes."""
    quote = best.dialect.quote
    if quote == "'":
        evidence = "Only with single quotes do the records have one number of fields."
        return best, Decision("quote", "'", Standing.PROVED, evidence)
    bare = _without_quotes(best)
    if bare and _is_misread(best, bare):
        evidence = "Quotes are part of the values here: read as quotes, they would not close where a field ends."
        return bare, Decision("quote", "none", Standing.PROVED, evidence)
    if bare and (across := _across_lines(best, bare)):
        return best, across
    if single := _with_single_quotes(best):
        return single
    if quote and quote.encode() in best.sample:
        return best, literal_quotes(best) or Decision("quote", quote, Standing.PROVED, "")
    return best, Decision("quote", quote or "none", Standing.RULE, "")


def _without_quotes(best: SampleReading) -> SampleReading | None:
    """The reading without quotes, if the sample fits it perfectly and no value stands in quotes.

    Not with commas and semicolons: there a quote that never closes is an error that must be named.
    """
    # Where most of the sample cannot be read, the delimiter may be wrong as well.
    possible = (best.dialect.delimiter,) if best.reach > len(best.sample) / 2 else LOOSE_DELIMITERS
    if best.dialect.quote.encode() not in best.sample or not set(possible) <= set(LOOSE_DELIMITERS):
        return None
    made = (best.again(delimiter=each, quote="") for each in possible)
    bare = max(made, key=lambda each: weight(each, "delimiter"))
    quoted = any(stands_in(b'"', value) for row in bare.rows for value in row)
    return None if quoted or not bare.divides or bare.agreement < 1 else bare


def _is_misread(best: SampleReading, bare: SampleReading) -> bool:
    """Whether a quote never closes in `best`, or closes inside a field or in a record of another width."""
    odd = best.stray or best.agreement < 1 or best.reach <= len(best.sample) / 2
    return bool(odd) or best.width != bare.width or _never_closes(best, bare)


def _never_closes(best: SampleReading, bare: SampleReading) -> bool:
    """Whether the lines that `best` cannot read, since a quote opens in the first, are records of `bare`'s width.

    At the end of the file one is enough. Elsewhere the sample may end inside a value with quotes; its lines have other
    widths than records.
    """
    final = best.readings.final
    rest = Readings(best.sample[best.reach :], final=final).read(bare.dialect)
    return len(rest.rows) > (0 if final else 1) and rest.width == bare.width and rest.agreement == 1


def _across_lines(best: SampleReading, bare: SampleReading) -> Decision | None:
    """The guess about a quote that closes on another line, where each line is a record of the same width as well."""
    quote = best.dialect.quote
    value = next((v for row in best.rows for v in row if b"\n" in v or b"\r" in v), b"")
    if not value or len(best.rows) >= len(bare.rows):
        return None
    first = best.text(next((v for row in bare.rows for v in row if v[:1] == quote.encode()), b""))
    return asked(
        "quote",
        f"The quote before {first[1:]} closes on another line, and each line would be a record without it.",
        answer("the value has several lines", [best.text(value)], quote=quote),
        answer("quotes are part of the values", [first], quote=""),
    )


def _with_single_quotes(best: SampleReading) -> Chosen | None:
    """The reading with single quotes where whole values stand in them; a guess if only some of a column do."""
    if b"'" not in best.sample or b'"' in best.sample or not (single := best.again(quote="'")).explains(best):
        return None
    if (best.width, best.agreement) == (single.width, single.agreement):
        columns = [[row[at] for row in best.rows[1:] if at < len(row) and row[at]] for at in range(best.width)]
        # Names in quotes above plain numbers, as some statistics programs write them.
        columns += [list(row) for row in best.rows[:1]]
        found = [(sum(stands_in(b"'", value) for value in column), len(column)) for column in columns]
    else:
        found = [(len(single.rows), len(single.rows))]  # Only with these quotes do the records agree.
    quoted, count = max(found, key=lambda each: (each[0] / max(1, each[1]), each[1]), default=(0, 0))
    if not quoted:
        return None
    shown = best.text(next((v for row in best.rows for v in row if stands_in(b"'", v)), b"'"))
    others = " Others of the column do not." if quoted < count else ""
    guess = asked(
        "quote",
        f"Values such as {shown} stand in single quotes.{others}",
        answer("single quotes are quotes", [shown[1:-1]], quote="'"),
        answer("single quotes are part of the values", [shown], quote='"'),
    )
    return single, guess.weighed(quoted, count)


def stands_in(quote: bytes, value: bytes) -> bool:
    """Whether the value begins and ends with the quote."""
    return len(value) > 1 and value[:1] == value[-1:] == quote


def literal_quotes(best: SampleReading) -> Decision | None:
    """A guess where a blank stands before a quote: the quote is then a part of the value, which is seldom meant."""
    quote = best.dialect.quote
    spaced = next((v for row in best.rows for v in row if v[:1] == b" " and v.lstrip()[:1] == quote.encode()), b"")
    if not spaced:
        return None
    shown, with_blank = best.text(spaced, 40), f"{best.dialect.delimiter} "
    return asked(
        "quote",
        f"{shown!r}: the space before the quote makes both part of the value.",
        answer("blank and quotes are part of the value", [shown], quote=quote),
        answer("the blank belongs to the delimiter", [shown.strip().strip(quote)], delimiter=with_blank),
    )


def choose_escape(best: SampleReading) -> Chosen:
    r"""The reading with the escapes that the sample needs (Dialect.escape).

    A backslash escapes if the servers write so, or if quotes after backslashes stand where none belongs, and all is
    well when it does.
    """
    if server := as_the_server_writes(best):
        return server
    if best.dialect.quote and b"\\" + best.dialect.quote.encode() in best.sample:
        every, quotes = (best.again(escape=escape) for escape in ("\\", "quote"))
        if quotes.mends(best):
            return _what_is_escaped(every if every.mends(best) else None, quotes)
        if every.mends(best):
            return every, Decision("escape", "backslash", Standing.PROVED, EVERY)
    return best, Decision("escape", "none", Standing.RULE, "")


def _what_is_escaped(every: SampleReading | None, quotes: SampleReading) -> Chosen:
    r"""The reading with escapes of quotes only, or of every character.

    It is a guess if both can be meant, and differ: MySQL would read \n in C:\new as a line feed. An exporter that
    escapes backslashes, too, writes `C:\\new`; so a path, and a backslash before a character that none escapes, show
    that backslashes stay.
    """
    if _doubles_quotes(quotes):
        return quotes.again(escape="php"), Decision("escape", "php", Standing.PROVED, PHP)
    plain, other = _plain_backslash(quotes), _other_escape(quotes)
    if plain or not every:
        shown = f"{QUOTES}, as in {plain}." if plain else f"{QUOTES}."
        return quotes, Decision("escape", "quote", Standing.PROVED, shown)
    if not other:
        return every, Decision("escape", "backslash", Standing.PROVED, EVERY)
    return quotes, asked(
        "escape",
        f"A backslash stands before quotes, and elsewhere too: {other}. MySQL's escapes would change that.",
        answer("only quotes are escaped", [other], escape="quote"),
        answer("MySQL's escapes", [_unescaped(other)], escape="\\"),
    )


def _doubles_quotes(reading: SampleReading) -> bool:
    """Whether a quote is doubled in a field in quotes, as RFC 4180 and PHP write it."""
    ends = (*reading.starts[1:], reading.reach)
    records = (reading.sample[low:high].rstrip(b"\r\n") for low, high in zip(reading.starts, ends, strict=False))
    values = (value for record in records for value in large_values(record, reading.dialect))
    return any(value and value.has_doubled_quote for value in values)


# What the servers write for a character.
_SERVER = re.compile(rb"\\[0abfnrtvZ\\\t\r\n]|(?<![^\t\r\n])\\N(?![^\t\r\n])")
# A path of Windows, and a backslash before what no exporter escapes.
_PATH = re.compile(rb'(?:[A-Za-z]:|\\\\[^\\/:*?"<>|\r\n]+)(?:\\[^\\/:*?"<>|\r\n]+)+\\?')
_NEVER_ESCAPED = re.compile(rb"[^\\\s]{0,20}\\[^\\/\r\n\t\"',;|0-9abefnrtuvxzNZ][^\s]{0,20}")


def _plain_backslash(reading: SampleReading) -> str:
    """A text that shows that backslashes are plain characters; "" without one.

    It is a path in a column whose backslashes are all in paths, or has a backslash that no exporter writes as escape.
    """
    paths: dict[int, bytes] = {}
    others = set()
    for row in reading.rows:
        for number, value in enumerate(row):
            if b"\\" not in value:
                continue
            if not _PATH.fullmatch(value):
                others.add(number)
            if match := _NEVER_ESCAPED.search(value.replace(rb"\\", b"")):
                return reading.text(match[0])
            paths.setdefault(number, value)
    path = next((value for number, value in paths.items() if number not in others), b"")
    return reading.text(path, 40)


def _other_escape(reading: SampleReading) -> str:
    r"""The first text with a backslash that escapes neither a quote nor a backslash and is not \N; "" without one."""
    quote = re.escape(reading.dialect.quote.encode())
    pattern = rb"[^\\\s]{0,20}\\(?!N\b|\\|" + quote + rb")[^\s]{1,20}"
    match = re.search(pattern, re.sub(rb"\\\\", b"", reading.sample))
    return reading.text(match[0]) if match else ""


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", lambda match: {"n": "⏎", "t": "⇥", "r": "⏎", "0": "␀"}.get(match[1], match[1]), text)


def as_the_server_writes(best: SampleReading) -> Chosen | None:
    r"""The reading with the servers' escapes, if a file with tabs has no other backslashes, and no value in quotes.

    So write `mysql --batch`, mysqldump --tab and PostgreSQL's COPY; \N alone is one of their escapes. A guess if values
    stand in quotes that none of them needs, below a header that does not: then these may be characters.
    """
    sample = best.sample
    if best.dialect.delimiter != "\t" or b"\\" not in sample:
        return None
    escaped = [value for row in best.rows for value in row if b"\\" in value]
    if not escaped or b"\\" in _SERVER.sub(b"", sample[: best.reach]):
        return None
    dialect = replace(MYSQL_TSV, line_end=best.dialect.line_end, encoding=best.dialect.encoding)
    shown = best.text(escaped[0], 40)
    evidence = rf"As MySQL and PostgreSQL write it: tabs, and a backslash escapes, as in {shown}; \N is NULL."
    decision = Decision("escape", "backslash", Standing.RULE, evidence).weighed(len(escaped), len(escaped))
    reading = best.readings.read(dialect)
    if not reading.explains(best):
        return None
    quoted = [value for row in reading.rows for value in row if value[:1] == b'"']
    if not quoted or best.stray or best.agreement < reading.agreement or best.reach < reading.reach:
        return reading, decision
    if len(reading.rows) != len(best.rows) or _need_quotes(best, quoted):
        return None
    characters = [shown, best.text(quoted[0], 40)]
    guess = asked(
        "escape",
        evidence,
        answer("backslashes escape, and quotes are characters", characters, escape="\\", quote=""),
        answer("backslashes are characters, and values stand in quotes", characters, escape="", quote='"'),
        value=decision.value,
    )
    return reading, guess.weighed(len(escaped), len(escaped))


def _need_quotes(best: SampleReading, quoted: Sequence[bytes]) -> bool:
    """Whether programs that write quotes would have written these.

    They stand around the header too, or around an empty value that is alone in its record, are doubled in a value, or
    have a tab or a line end between them.
    """
    marks = (b"\t", b"\n", b"\r")
    apart = any(mark in value for row in best.rows for value in row for mark in marks)
    in_header = b'"' in best.sample.split(b"\n", 1)[0]
    alone = best.width < 2 and b'""' in quoted
    return apart or in_header or alone or any(b'""' in value[1:-1] for value in quoted)

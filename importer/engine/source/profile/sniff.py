"""Detects a file's dialect and header from a sample, with the table in hand; each decision has its standing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any

from importer.engine.source.decisions import Decision, SkippedLine, Standing, in_words
from importer.engine.source.dialect import RFC4180, Dialect, line_end_name
from importer.engine.source.formats.footer import is_sum
from importer.engine.source.profile.delimiters import (
    LINE_END_WORDS,
    choose_delimiter,
    choose_line_end,
    delimiter_decision,
)
from importer.engine.source.profile.expected_columns import (
    ExpectedColumn,
    columns_by_name,
    columns_by_position,
    may_be_row,
)
from importer.engine.source.profile.header import header_decision
from importer.engine.source.profile.layout import lines_above, lines_among, odd_headers, other_layouts
from importer.engine.source.profile.plain import kept, plain_decisions, plain_reading
from importer.engine.source.profile.quoting import as_the_server_writes, choose_escape, choose_quote, literal_quotes
from importer.engine.source.profile.readings import Readings, SampleReading
from importer.engine.source.profile.sample import skipped_bytes
from importer.engine.units import count_of

MARKS = ("quote", "escape", "delimiter", "comment", "line_end")
# The other fields of Dialect that have a decision each.
DECIDED = (
    *("quote", "escape", "trailing_delimiter", "header", "blank_lines", "unquoted_empty_is_null"),
    *("comment", "skip_after_header", "skip_footer", "skip_repeated_header"),
)


@dataclass(frozen=True)
class Sniffed:
    """The dialect that fits a sample best, the decisions about it, and the lines that are no records."""

    dialect: Dialect
    decisions: tuple[Decision, ...]
    skipped: tuple[SkippedLine, ...] = ()


def sniff(
    sample: bytes,
    *,
    final: bool,
    known: Mapping[str, Any] | None = None,
    encoding: str = RFC4180.encoding,
    expected: Sequence[ExpectedColumn] = (),
    tail: bytes = b"",
) -> Sniffed:
    """Detect the dialect of the sample, in bytes of the plain file.

    `final`: the sample is the whole file. `known`: stated fields of Dialect, which are not detected. `encoding`: that
    of the plain file. `expected`: the columns of the table that the file is for. `tail`: the end of a larger file, if
    it is known. Raises SourceProblem if the sample has fewer lines than are stated to be left out.
    """
    return _Sniffer(Readings(sample, final=final), dict(known or {}), expected).sniffed(encoding, tail)


def stated_decisions(dialect: Dialect) -> tuple[Decision, ...]:
    """The decisions of a dialect that was given as a whole."""
    known = {each.name: getattr(dialect, each.name) for each in fields(dialect) if each.compare}
    return tuple(Decision(name, in_words(value), Standing.STATED, "") for name, value in known.items())


class _Sniffer:
    """One sample on its way through the decisions."""

    def __init__(self, readings: Readings, known: dict[str, Any], expected: Sequence[ExpectedColumn]) -> None:
        self.readings, self.known, self.expected = readings, known, expected
        self.names = [column.name for column in expected]
        self.decided: dict[str, Decision] = {}
        self.skipped = lines_above.Skipped()
        self.skipped_texts: tuple[SkippedLine, ...] = ()
        self.sampled: list[str] = []
        self.is_plain = False

    def sniffed(self, encoding: str, tail: bytes) -> Sniffed:
        base = self._base(encoding)
        best = self._plain(base) or self._compared(base)
        best, header = self._odd_header(best) or self._header(best)
        has_header = self.known.get("header", header.value == "yes")
        best = self._units(best) if has_header else self._leaving_out(best, "skip_after_header", 0, None)
        best = self._footer(best, self.readings.sample if self.readings.final else tail)
        line_end = best.dialect.line_end
        standing = Standing.STATED if "line_end" in self.known else Standing.PROVED
        self._decide(
            self.skipped.decision or Decision("skipped_lines", "0", Standing.RULE, ""),
            Decision("line_end", line_end_name(line_end), standing, LINE_END_WORDS[line_end]),
            header,
        )
        dialect = replace(best.dialect, header=has_header, skip_rows=self.skipped.lines, sampled=tuple(self.sampled))
        self._decide_the_rest(dialect)
        return Sniffed(dialect, tuple(self.decided.values()), self.skipped_texts)

    def _decide(self, *decisions: Decision) -> None:
        self.decided |= {each.name: each for each in decisions}

    def _decide_the_rest(self, dialect: Dialect) -> None:
        """Add what was stated, and the rules for what was not decided."""
        for name in DECIDED:
            if name in self.known:
                self._decide(Decision(name, in_words(self.known[name]), Standing.STATED, ""))
            elif name not in self.decided:
                self._decide(Decision(name, in_words(getattr(dialect, name)), Standing.RULE, ""))

    def _base(self, encoding: str) -> Dialect:
        """The dialect with the stated marks; takes stated lines and a `sep=` line off the sample."""
        base = replace(RFC4180, encoding=encoding, **{name: self.known[name] for name in MARKS if name in self.known})
        count = self.known.get("skip_rows")
        if count is None:
            mark, skipped = lines_above.separator_line(self.readings.sample)
            if mark:
                self._take_off(skipped, base)
                self.known.setdefault("delimiter", mark)
                base = replace(base, delimiter=self.known["delimiter"])
        elif count:
            base = self._with_line_end(base)
            size = skipped_bytes(self.readings.sample, replace(base, skip_rows=count))
            evidence = f"{count_of(count, 'line')} {'is' if count == 1 else 'are'} left out, as stated."
            decision = Decision("skipped_lines", str(count), Standing.STATED, evidence)
            self._take_off(lines_above.Skipped(count, size, decision), base)
        return base

    def _take_off(self, skipped: lines_above.Skipped, base: Dialect) -> None:
        """Take lines that are no records off the sample."""
        first, sample = self.skipped.lines + 1, self.readings.sample
        self.skipped_texts += lines_above.skipped_lines(sample, base, skipped.lines, first)
        self.readings = Readings(sample[skipped.bytes :], final=self.readings.final)
        self.skipped = replace(skipped, lines=self.skipped.lines + skipped.lines)

    def _with_line_end(self, base: Dialect) -> Dialect:
        if "line_end" in self.known:
            return base
        line_end = choose_line_end(self.readings, base, delimiter_stated="delimiter" in self.known)
        return replace(base, line_end=line_end)

    def _plain(self, base: Dialect) -> SampleReading | None:
        """The first reading, if it reads the sample whole; then all marks and the lines above are decided."""
        if self.known.get("header") is False or self.known.get("trailing_delimiter"):
            return None
        plain = plain_reading(self.readings, base, self.expected, self.known)
        if not plain:
            return None
        self.is_plain = True
        self._decide(delimiter_decision(plain, [], self.names, stated="delimiter" in self.known))
        server = None if {"quote", "escape"} & set(self.known) else as_the_server_writes(plain)
        if server and server[0].rows != plain.rows:
            plain, escape = server
            self._decide(escape)
        else:
            self._decide(*plain_decisions(plain, self.known))
        self.sampled += [name for name in ("quote", "skip_rows") if name not in self.known]
        return plain

    def _compared(self, base: Dialect) -> SampleReading:
        """The best of all readings."""
        base = self._with_line_end(base)
        drawn = other_layouts.drawn_table(self.readings.sample, base.encoding)
        best = self._marks(self._with_comments(base) or self._delimiter(base))
        if "skip_rows" not in self.known:
            self.sampled.append("skip_rows")
            best = self._below(best, lines_above.lines_before_table(best, self.names))
        if "delimiter" not in self.known:
            self._decide(other_layouts.layout_question(best, self.decided["delimiter"], drawn, self.skipped.lines + 1))
        if "trailing_delimiter" in self.known or self.known.get("header") is False:
            return best.again(trailing_delimiter=self.known.get("trailing_delimiter", False))
        best, trailing = odd_headers.trailing_delimiter(best, self.expected)
        self._decide(trailing)
        return best

    def _with_comments(self, base: Dialect) -> SampleReading | None:
        """The best reading with comments, where there are some."""
        begin = "" if "comment" in self.known else lines_among.comment_begin(self.readings.sample)
        if not begin:
            return None
        best = self._delimiter(replace(base, comment=begin))
        decision = lines_among.comment_decision(best, self.names)
        if not decision:
            return None
        self._decide(decision)
        if decision.standing is Standing.PROVED:
            self.sampled.append("comment")
        return best

    def _delimiter(self, base: Dialect) -> SampleReading:
        stated = "delimiter" in self.known
        best, tried = self.readings.read(base), list[SampleReading]()
        if not stated:
            best, tried = choose_delimiter(self.readings, base, self.names, quote_stated="quote" in self.known)
        self._decide(delimiter_decision(best, tried, self.names, stated))
        return best

    def _marks(self, best: SampleReading) -> SampleReading:
        """Choose quote and escape, unless they are stated."""
        if "escape" not in self.known:
            best, decision = choose_escape(best)
            self._decide(decision)
        if "quote" not in self.known and not best.dialect.escape:
            best, decision = choose_quote(best)
            self.sampled.append("quote")
            self._decide(decision)
        elif "quote" not in self.known and (literal := literal_quotes(best)):
            self._decide(literal)
        return best

    def _below(self, best: SampleReading, skipped: lines_above.Skipped) -> SampleReading:
        """The reading of the sample without these first lines."""
        if not skipped.lines:
            return best
        self._take_off(skipped, best.dialect)
        return self.readings.read(best.dialect)

    def _header(self, best: SampleReading) -> tuple[SampleReading, Decision]:
        once = None if "skip_repeated_header" in self.known else lines_among.without_repeated_header(best)
        header = header_decision((once or best).text_rows(), self.expected)
        if once and self.known.get("header", header.value == "yes"):
            self._decide(lines_among.repeated_header_decision(once, self.names))
            return once, header
        return best, header_decision(best.text_rows(), self.expected) if once else header

    def _odd_header(self, best: SampleReading) -> tuple[SampleReading, Decision] | None:
        """The header that has another number of names than the records have fields; None for others."""
        if not odd_headers.is_odd(best) or "header" in self.known:
            return None
        names, *rows = best.text_rows()
        named = [names, *(row[1:] for row in rows)]
        fits = odd_headers.are_names(names, self.expected) and may_be_row(
            named[1], columns_by_name(self.expected, names)
        )
        if len(names) == best.width - 1 and fits and not columns_by_position(self.expected, best.width):
            self._decide(odd_headers.row_names(best))
            return best, header_decision(named, self.expected)
        decision = odd_headers.odd_header(best, self.expected, self.skipped.lines + 1)
        states = dict(decision.answers[0].states)
        if not states["header"]:
            lines = states["skip_rows"] - self.skipped.lines
            best = self._below(best, lines_above.Skipped(lines, best.starts[1], self.skipped.decision))
        return best, decision

    def _units(self, best: SampleReading) -> SampleReading:
        decision = lines_among.units_decision(best)
        is_row = decision and self._may_be_row(best.text_rows(2))
        looks = "The record below the header looks like units" if is_row else ""
        return self._leaving_out(best, "skip_after_header", int(decision is not None), decision, looks)

    def _footer(self, best: SampleReading, tail: bytes) -> SampleReading:
        if not tail:
            return best
        lines, decision = lines_among.footer_decision(tail, best.dialect, best.width)
        looks = ""
        if lines and self.is_plain:
            lines, decision = lines_among.footer_decision(
                tail, best.dialect, best.width, partial(self._may_be_last, best)
            )
            looks = "" if lines else "The file ends as with a footer"
        return self._leaving_out(best, "skip_footer", lines, decision, looks)

    def _leaving_out(
        self, best: SampleReading, name: str, lines: int, decision: Decision | None, looks: str = ""
    ) -> SampleReading:
        """The reading without these lines, unless their number was stated; notes that the sample shows them.

        `looks`: what lines look like that are rows, since the first reading is right and the table takes them.
        """
        stated = self.known.get(name)
        if looks:
            if stated is None:
                self._decide(kept(name, "0", looks, f"--{name.replace('_', '-')} 1"))
            return best
        if stated is None or 0 < stated == lines:
            self.sampled.append(name)
        if stated is not None or not decision:
            return best
        self._decide(decision)
        left_out: dict[str, Any] = {name: lines}
        return replace(best, dialect=replace(best.dialect, **left_out))

    def _may_be_row(self, rows: Sequence[Sequence[str]]) -> bool:
        """Whether the first reading is right, and the table takes the last row; the first one has its names."""
        return self.is_plain and may_be_row(rows[-1], columns_by_name(self.expected, rows[0]))

    def _may_be_last(self, best: SampleReading, row: Sequence[str]) -> bool:
        """Whether the table takes the last row, and it is not the sum of the others."""
        rows = best.text_rows()
        return self._may_be_row([rows[0], row]) and not (self.readings.final and is_sum(row, rows[1:-1]))

"""Detects a file's dialect and header from a sample, with the table in hand; each decision has its standing."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any

from importer.engine.errors import SourceProblem
from importer.engine.source.decisions import Decision, SkippedLine, Standing
from importer.engine.source.dialect import RFC4180, Dialect, line_end_name
from importer.engine.source.formats.footer import is_sum
from importer.engine.source.formats.header_names import match_names
from importer.engine.source.profile.candidates import DialectCandidate, read_candidate
from importer.engine.source.profile.delimiters import choose_delimiter, delimiter_decision, usual_dialects
from importer.engine.source.profile.drawn_tables import (
    DRAWN_BYTES,
    is_fixed_width,
    refuse_drawn_tables,
    refuse_other_layouts,
)
from importer.engine.source.profile.expected_columns import (
    ExpectedColumn,
    columns_by_name,
    columns_by_position,
    may_be_row,
)
from importer.engine.source.profile.header import header_decision, stated_header
from importer.engine.source.profile.layout.lines_above import (
    Skipped,
    lines_before_table,
    separator_line,
    skipped_lines,
)
from importer.engine.source.profile.layout.lines_among import (
    comment_begin,
    comment_decision,
    footer_decision,
    repeated_header_decision,
    units_decision,
    without_repeated_header,
)
from importer.engine.source.profile.layout.odd_headers import is_odd, odd_header, row_names, trailing_delimiter
from importer.engine.source.profile.line_ends import LINE_END_WORDS, detect_line_end
from importer.engine.source.profile.plain import kept, plain_decisions, plain_reading
from importer.engine.source.profile.quoting import as_the_server_writes, choose_escape, choose_quote
from importer.engine.source.profile.sample import skipped_bytes
from importer.engine.units import count_of

# The fields of Dialect for lines that are no records.
LEFT_OUT = ("comment", "skip_after_header", "skip_footer", "skip_repeated_header")


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
    it is known. Raises SourceProblem if the sample is
    a table drawn for people, or if the header has another number of names than the records have fields.
    """
    return _Sniffer(sample, final, dict(known or {}), encoding, expected, tail).sniffed()


def stated_decisions(dialect: Dialect) -> tuple[Decision, ...]:
    """The decisions of a dialect that was given as a whole."""
    return tuple(
        Decision(each.name, str(getattr(dialect, each.name)), Standing.STATED, "")
        for each in fields(dialect)
        if each.compare
    )


@dataclass
class _Sniffer:
    """One sample on its way through the decisions; `best` is the reading so far."""

    sample: bytes
    final: bool
    known: dict[str, Any]
    encoding: str
    expected: Sequence[ExpectedColumn]
    tail: bytes = b""
    decisions: list[Decision] = field(default_factory=list)
    skipped: Skipped = field(default_factory=Skipped)
    skipped_texts: tuple[SkippedLine, ...] = ()
    sampled: list[str] = field(default_factory=list)
    plain: bool = False

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.expected]

    def sniffed(self) -> Sniffed:
        base = self._base()
        best = self._plain(base)
        if best:
            trailing = Decision("trailing_delimiter", "no", self._standing("trailing_delimiter", Standing.RULE), "")
        else:
            self._refuse_drawn()
            base = self._with_line_end(base)
            best = self._with_comments(base) or self._delimiter(base)
            best = self._marks(best)
            best = self._lines(best)
            if "delimiter" not in self.known:
                refuse_other_layouts(self.sample, best)
            best, trailing = self._trailing(best)
        best, header, decision = self._odd_header(best) or self._header(best)
        best = self._footer(self._units(best, header))
        first = self.skipped.decision or Decision("skipped_lines", "0", Standing.RULE, "")
        line_end = Decision(
            "line_end",
            line_end_name(best.dialect.line_end),
            self._standing("line_end"),
            LINE_END_WORDS[best.dialect.line_end],
        )
        rest = (trailing, first, line_end, decision, *self._rules())
        dialect = replace(best.dialect, header=header, skip_rows=self.skipped.lines, sampled=tuple(self.sampled))
        return Sniffed(dialect, (*self.decisions, *rest), self.skipped_texts)

    def _standing(self, name: str, otherwise: Standing = Standing.PROVED) -> Standing:
        return Standing.STATED if name in self.known else otherwise

    def _plain(self, base: Dialect) -> DialectCandidate | None:
        """The first reading, if it reads the sample whole; then quote and lines above are decided."""
        if self.known.get("header") is False or self.known.get("trailing_delimiter"):
            return None
        plain = plain_reading(self.sample, base, self.expected, self.final, frozenset(self.known))
        if plain:
            self.decisions.append(delimiter_decision(plain, [], self.names, stated="delimiter" in self.known))
            server = (
                None if {"quote", "escape"} & set(self.known) else as_the_server_writes(self.sample, plain, self.final)
            )
            plain, escape = server if server and server[0].rows != plain.rows else (plain, None)
            self.decisions += [escape] if escape else plain_decisions(plain, self.known)
            self.sampled += [name for name in ("quote", "skip_rows") if name not in self.known]
            self.plain = True
        return plain

    def _refuse_drawn(self) -> None:
        if "delimiter" not in self.known:
            refuse_drawn_tables(self.sample[:DRAWN_BYTES].decode(self.encoding, "replace"))

    def _base(self) -> Dialect:
        """The dialect with the stated marks; takes stated lines and a `sep=` line off the sample."""
        stated = ("quote", "escape", "delimiter", "comment", "line_end")
        base = replace(
            RFC4180, encoding=self.encoding, **{name: self.known[name] for name in stated if name in self.known}
        )
        if "skip_rows" not in self.known:
            mark, skipped = separator_line(self.sample)
            if mark:
                self._take_off(skipped, base)
                self.known.setdefault("delimiter", mark)
                base = replace(base, delimiter=self.known["delimiter"])
        return self._without_stated_lines(self._with_line_end(base)) if self.known.get("skip_rows") else base

    def _with_line_end(self, base: Dialect) -> Dialect:
        if "line_end" in self.known:
            return base
        tried = (base,) if "delimiter" in self.known else usual_dialects(self.sample, base)
        return replace(base, line_end=detect_line_end(self.sample, tried, self.final))

    def _without_stated_lines(self, base: Dialect) -> Dialect:
        count = self.known["skip_rows"]
        size = skipped_bytes(self.sample, replace(base, skip_rows=count))
        evidence = f"{count_of(count, 'line')} {'is' if count == 1 else 'are'} left out, as stated."
        decision = Decision("skipped_lines", str(count), Standing.STATED, evidence)
        self._take_off(Skipped(count, size, decision), base)
        return base

    def _take_off(self, skipped: Skipped, base: Dialect) -> None:
        """Take lines that are no records off the sample."""
        first = self.skipped.lines + 1
        self.skipped_texts += skipped_lines(self.sample, base, skipped.lines, first)
        self.sample = self.sample[skipped.bytes :]
        self.skipped = Skipped(first - 1 + skipped.lines, self.skipped.bytes + skipped.bytes, skipped.decision)

    def _delimiter(self, base: Dialect) -> DialectCandidate:
        if "delimiter" in self.known:
            best = read_candidate(self.sample, base, self.final)
            self.decisions.append(delimiter_decision(best, [], self.names, stated=True))
            return best
        best, candidates = choose_delimiter(
            self.sample, base, self.names, self.final, quote_stated="quote" in self.known
        )
        if best.width < 2:
            self._refuse_fixed_width()
        self.decisions.append(delimiter_decision(best, candidates, self.names, stated=False))
        return best

    def _refuse_fixed_width(self) -> None:
        if is_fixed_width(self.sample[:DRAWN_BYTES].decode(self.encoding, "replace")):
            raise SourceProblem(
                "The file has no delimiter: its values stand at fixed places, with blanks between them.",
                advice="Look at the proposed widths with --format fixed, or state them with --widths; or name a"
                " delimiter with --delimiter, if it has one.",
            )

    def _marks(self, best: DialectCandidate) -> DialectCandidate:
        """Choose quote and escape, unless they are stated."""
        if "escape" not in self.known:
            best, escape = choose_escape(self.sample, best, self.final)
            if escape:
                self.decisions.append(escape)
        if "quote" not in self.known and not best.dialect.escape:
            best, quote = choose_quote(self.sample, best, self.final)
            self.sampled.append("quote")
            if quote:
                self.decisions.append(quote)
        self.decisions += [
            Decision(name, self.known[name] or "none", Standing.STATED, "")
            for name in ("quote", "escape")
            if name in self.known
        ]
        return best

    def _lines(self, best: DialectCandidate) -> DialectCandidate:
        """Find lines before the table, unless their number is stated."""
        if "skip_rows" in self.known:
            return best
        self.sampled.append("skip_rows")
        skipped = lines_before_table(self.sample, best, self.names)
        if not skipped.lines:
            return best
        self._take_off(skipped, best.dialect)
        return read_candidate(self.sample, best.dialect, self.final)

    def _trailing(self, best: DialectCandidate) -> tuple[DialectCandidate, Decision]:
        if "trailing_delimiter" in self.known:
            stated = self.known["trailing_delimiter"]
            best = read_candidate(self.sample, replace(best.dialect, trailing_delimiter=stated), self.final)
            return best, Decision("trailing_delimiter", "yes" if stated else "no", Standing.STATED, "")
        if self.known.get("header") is False:
            return best, Decision("trailing_delimiter", "no", Standing.RULE, "")
        return trailing_delimiter(self.sample, best, self.expected, self.final)

    def _header(self, best: DialectCandidate) -> tuple[DialectCandidate, bool, Decision]:
        once = None if "skip_repeated_header" in self.known else without_repeated_header(best)
        header, decision = self._header_of(once or best)
        if once and header:
            self.decisions.append(repeated_header_decision(once, self.names))
            return replace(once, dialect=replace(once.dialect, skip_repeated_header=True)), header, decision
        return best, *(self._header_of(best) if once else (header, decision))

    def _header_of(self, best: DialectCandidate) -> tuple[bool, Decision]:
        if "header" in self.known:
            return self.known["header"], stated_header(self.known["header"])
        return header_decision(best.text_rows(), self.expected)

    def _odd_header(self, best: DialectCandidate) -> tuple[DialectCandidate, bool, Decision] | None:
        """The header that has another number of names than the records have fields; None for others."""
        if not is_odd(best) or "header" in self.known:
            return None
        names, lacking = best.text_rows(1)[0], best.width - len(best.rows[0])
        known = not self.expected or all(match_names(names, self.names))
        named = [names, *(row[1:] for row in best.text_rows()[1:])]
        fits = known and may_be_row(named[1], columns_by_name(self.expected, names))
        if lacking == 1 and fits and not columns_by_position(self.expected, best.width):
            self.decisions.append(row_names(best))
            return best, *header_decision(named, self.expected)
        decision = odd_header(self.sample, best, self.expected, self.skipped.lines + 1)
        states = dict(decision.answers[0].states)
        if not states["header"]:
            lines = states["skip_rows"] - self.skipped.lines
            self._take_off(Skipped(lines, best.starts[1], self.skipped.decision), best.dialect)
            best = read_candidate(self.sample, best.dialect, self.final)
        return best, states["header"], decision

    def _with_comments(self, base: Dialect) -> DialectCandidate | None:
        """The best reading with comments, where there are some."""
        begin = "" if "comment" in self.known else comment_begin(self.sample)
        if not begin:
            return None
        before = list(self.decisions)
        best = self._delimiter(replace(base, comment=begin))
        decision = comment_decision(self.sample, best, self.names, self.final)
        self.decisions = [*self.decisions, decision] if decision else before
        if decision and decision.standing is Standing.PROVED:
            self.sampled.append("comment")
        return best if decision else None

    def _units(self, best: DialectCandidate, header: bool) -> DialectCandidate:
        decision = units_decision(best) if header else None
        if decision and self._may_be_row(best.text_rows(2)):
            if "skip_after_header" not in self.known:
                what = "The record below the header looks like units"
                self.decisions.append(kept("skip_after_header", "0", what, "--skip-after-header 1"))
            return best
        if not self._shows("skip_after_header", 1 if decision else 0) or not decision:
            return best
        self.decisions.append(decision)
        return replace(best, dialect=replace(best.dialect, skip_after_header=1))

    def _may_be_row(self, rows: Sequence[Sequence[str]]) -> bool:
        """Whether the first reading is right, and the table takes the last row; the first one has its names."""
        return self.plain and may_be_row(rows[-1], columns_by_name(self.expected, rows[0]))

    def _shows(self, name: str, lines: int) -> bool:
        """Whether the sample decides how many lines are left out; notes that it shows them, also if that was stated."""
        stated = self.known.get(name)
        if stated is None or 0 < stated == lines:
            self.sampled.append(name)
        return stated is None

    def _footer(self, best: DialectCandidate) -> DialectCandidate:
        tail = self.sample if self.final else self.tail
        if not tail:
            return best
        lines, decision = footer_decision(tail, best.dialect, best.width)
        if lines and self.plain:
            lines, decision = footer_decision(tail, best.dialect, best.width, partial(self._may_be_last, best))
            if not lines and "skip_footer" not in self.known:
                what = "The file ends as with a footer"
                self.decisions.append(kept("skip_footer", "0", what, "--skip-footer 1"))
            if not lines:
                return best
        if not self._shows("skip_footer", lines):
            return best
        if decision:
            self.decisions.append(decision)
        return replace(best, dialect=replace(best.dialect, skip_footer=lines))

    def _may_be_last(self, best: DialectCandidate, row: Sequence[str]) -> bool:
        """Whether the table takes the last row, and it is not the sum of the others."""
        rows = best.text_rows()
        return self._may_be_row([rows[0], row]) and not (self.final and is_sum(row, rows[1:-1]))

    def _rules(self) -> Iterator[Decision]:
        for name in ("blank_lines", "unquoted_empty_is_null", *LEFT_OUT):
            if name in self.known:
                yield Decision(name, str(self.known[name]), Standing.STATED, "")
            elif name not in {each.name for each in self.decisions}:
                yield Decision(name, str(getattr(RFC4180, name)), Standing.RULE, "")

"""Detects the line end of a sample."""

from collections.abc import Sequence
from dataclasses import replace

from importer.engine.source.dialect import ANY_LINE_END, Dialect
from importer.engine.source.profile.candidates import fitness, read_candidate

LINE_END_WORDS = {
    "\n": "Lines end in LF.",
    "\r\n": "Lines end in CR LF.",
    "\r": "Lines end in CR, as on old Macs.",
    ANY_LINE_END: "Lines end in more than one way (LF, CR LF or CR): each of them ends a record.",
}


def detect_line_end(sample: bytes, candidates: Sequence[Dialect], final: bool) -> str:
    """The line end with which the sample can be read furthest: others may occur inside quotes."""
    if b"\r" not in sample:
        return "\n"
    # A CR at the end may be the first half of a CR LF that is cut.
    sample = sample.removesuffix(b"\r") if b"\n" in sample or not final else sample
    cr_lf, lf, cr = sample.count(b"\r\n"), sample.count(b"\n"), sample.count(b"\r")
    if cr_lf == lf == cr:
        return "\r\n"
    if not lf:
        by_cr = (read_candidate(sample, replace(each, line_end="\r"), final) for each in candidates)
        return "\r" if any(len(reading.rows) > 1 for reading in by_cr) else "\n"
    by_line_end = {line_end: _most_read(sample, candidates, line_end, final) for line_end in ("\n", "\r\n", "\r")}
    best = max(by_line_end, key=lambda line_end: by_line_end[line_end])
    # "Any line end" only if it reads further than a single kind, or gives better records.
    if by_line_end[best][0] < _most_read(sample, candidates, ANY_LINE_END, final)[0] or _better_with_any(
        sample, candidates, best, final
    ):
        return ANY_LINE_END
    return best


def _most_read(
    sample: bytes, candidates: Sequence[Dialect], line_end: str, final: bool
) -> tuple[int, int, tuple[bool, bool, float, int]]:
    """The best candidate's measures for a line end, the most important one first.

    The bytes that can be read, up to a line end of another kind or a quote that never closes; minus the number of stray
    quotes; the fitness of the delimiter.
    """
    readings = [read_candidate(sample, replace(each, line_end=line_end), final) for each in candidates]
    return max((each.reach, -each.stray, fitness(each)) for each in readings)


def _better_with_any(sample: bytes, candidates: Sequence[Dialect], line_end: str, final: bool) -> bool:
    """Whether a CR ends a record, too: "any line end" gives more records that agree at least as well.

    Or records end in CR CR LF, as a text mode writes that was applied twice.
    """
    if line_end == "\r" or sample.count(b"\r\n") == sample.count(b"\r"):
        return False
    one, each = (
        max((read_candidate(sample, replace(mark, line_end=end), final) for mark in candidates), key=fitness)
        for end in (line_end, ANY_LINE_END)
    )
    if any(sample.endswith(b"\r\r\n", 0, start) for start in each.starts):
        return True
    return each.divides and len(each.rows) > len(one.rows) and each.agreement >= one.agreement

"""Draws a chart of rates as SVG: a bar for each way with its spread, and an article's rate as a mark on the same line.

The axis is logarithmic, because rates differ by factors of thousands.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, floor, log10

from bench.spread import Spread

LABELS, BARS, VALUES = 330, 480, 90  # widths in pixels: names (at least), bars, numbers
CHARACTER = 7  # pixels, at most, of a character of a name on average
LINE, HEAD, FOOT = 22, 44, 30  # heights in pixels
# Most powers of ten whose numbers fit below the axis; of more, only some are labelled.
MOST_NUMBERS = 6
OURS, ARTICLE, INK, FAINT = "#1d4ed8", "#b45309", "#1f2937", "#d1d5db"


@dataclass(frozen=True)
class RateBar:
    """One way: its rates measured here and the article's rate, if it has one, per second."""

    name: str
    rate: Spread
    published: float | None = None


def draw(title: str, bars: Sequence[RateBar]) -> str:
    """The chart as SVG text. There is at least one bar."""
    values = [value for bar in bars for value in (bar.rate.least, bar.rate.most, bar.published) if value]
    low, high = floor(log10(min(values))), ceil(log10(max(values)))
    high = max(high, low + 1)
    bottom = HEAD + LINE * len(bars)
    left = max(LABELS, CHARACTER * max(len(bar.name) for bar in bars))
    width, height = left + BARS + VALUES, bottom + FOOT

    def x_of(value: float) -> float:
        return left + BARS * (log10(value) - low) / (high - low)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
        f' font-family="sans-serif" font-size="12" fill="{INK}" role="img" aria-label="{escape(title)}">',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        f'<text x="10" y="18" font-size="14" font-weight="bold">{escape(title)}</text>',
        f'<rect x="{left}" y="27" width="14" height="9" fill="{OURS}"/><text x="{left + 20}" y="36">here: median,'
        " least to most</text>",
        f'<text x="{left + BARS + 12}" y="36">a second</text>',
    ]
    if any(bar.published for bar in bars):
        parts.append(f'{_diamond(left + 217, 32)}<text x="{left + 228}" y="36">in the article</text>')
    every = ceil((high - low) / MOST_NUMBERS)
    for power in range(low, high + 1):
        x = x_of(10**power)
        parts.append(f'<line x1="{x:.1f}" y1="{HEAD}" x2="{x:.1f}" y2="{bottom}" stroke="{FAINT}"/>')
        if (high - power) % every == 0:
            parts.append(f'<text x="{x:.1f}" y="{bottom + 16}" text-anchor="middle">{_tick(power)}</text>')
    for number, bar in enumerate(bars):
        parts += _bar(bar, left, HEAD + LINE * number + LINE / 2, x_of)
    parts.append("</svg>")
    return "\n".join(parts) + "\n"


def _bar(bar: RateBar, left: int, y: float, x_of: Callable[[float], float]) -> Iterator[str]:
    end, least, most = x_of(bar.rate.median), x_of(bar.rate.least), x_of(bar.rate.most)
    yield f'<text x="{left - 8}" y="{y + 4}" text-anchor="end">{escape(bar.name)}</text>'
    yield f'<rect x="{left}" y="{y - 7}" width="{max(1.0, end - left):.1f}" height="14" fill="{OURS}"/>'
    yield f'<line x1="{least:.1f}" y1="{y}" x2="{most:.1f}" y2="{y}" stroke="{INK}" stroke-width="2"/>'
    if bar.published:
        yield _diamond(x_of(bar.published), y)
    yield f'<text x="{left + BARS + 12}" y="{y + 4}">{bar.rate.median:,.{0 if bar.rate.median >= 10 else 1}f}</text>'


def _tick(power: int) -> str:
    return f"{10**power:,}" if power >= 0 else f"{10**power:g}"


def _diamond(x: float, y: float) -> str:
    points = f"{x - 6:.1f},{y} {x:.1f},{y - 6} {x + 6:.1f},{y} {x:.1f},{y + 6}"
    return f'<polygon points="{points}" fill="{ARTICLE}" stroke="#ffffff"/>'

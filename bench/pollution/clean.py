"""The clean file: a header and 83 rows of sales, made from a seed. Two columns are always quoted."""

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, timedelta

SEED, ROWS = 2026, 83
HEADER = ("DATE", "TIME", "Qty", "PRODUCTID", "Price", "ProductType", "ProductDescription", "URL", "Comments")
QUOTED = frozenset({"ProductDescription", "URL"})
PRODUCTS = {
    "Hiking Boots": "Waterproof boots for men, light and quick enough to keep feet dry",
    "Trail Shoes": 'Ventilated shoes with a 5" sole, good grip, and extra breathability',
    "Fly Rods": 'A lightweight rod, traditional or two-handed; "the best one" for a guide',
    "Climbing Rope": "Dynamic rope of 9.8 mm; durable, and safe with any device",
    "Cycling Jersey": "A rider's jersey, quick to dry, with three pockets",
    "Sleeping Bag": "Down bag for winter, packs small, weighs 980 g",
}
COMMENTS = ("call before delivery", "gift wrap", "second parcel, fragile")


@dataclass(frozen=True)
class Cell:
    """A value, and whether it is written between quotes."""

    text: str
    quoted: bool = False

    def starting_with(self, mark: str) -> "Cell":
        return replace(self, text=mark + self.text)


Row = tuple[Cell, ...]


def clean_rows() -> tuple[Row, ...]:
    """The header and the rows."""
    header = tuple(Cell(name, name in QUOTED) for name in HEADER)
    return (header, *_sales(random.Random(SEED)))


def _sales(draw: random.Random) -> Iterator[Row]:
    day = date(2018, 1, 28)
    for number in range(ROWS):
        day += timedelta(days=draw.randrange(3))
        kind = draw.choice(list(PRODUCTS))
        code = f"{draw.choice(['MG', 'RI', 'ON', 'PE'])}-{draw.randrange(1000, 9999)}"
        values = (
            day.strftime("%d/%m/%Y"),
            f"{number // 4 % 24:02}:{number % 4 * 15:02}",
            str(draw.randrange(1, 9)),
            code,
            f"${draw.randrange(900, 30000) / 100:.2f}",
            f"{draw.choice(['Men', 'Women'])}'s {kind}",
            f"{PRODUCTS[kind]}.",
            f"https://www.example.com/product/{code.replace('-', '_')}.html",
            draw.choice(COMMENTS) if number % 6 == 0 else "",
        )
        # A comment with a comma needs quotes; others have none.
        yield tuple(Cell(text, name in QUOTED or "," in text) for name, text in zip(HEADER, values, strict=True))

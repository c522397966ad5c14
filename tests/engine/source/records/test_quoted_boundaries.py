"""native/src/quoted_boundaries.c finds the ends that the server finds, or reports that it is not certain."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from importer.engine.native import loader
from importer.engine.source.dialect import MYSQL_TSV, Dialect
from importer.engine.source.records.boundary.boundaries import find_ends
from importer.engine.source.records.boundary.quoted_boundaries import find_regular_ends, is_supported
from tests.engine.reference import read
from tests.examples import examples

pytestmark = [
    pytest.mark.skipif(not loader.library(), reason="the library is not compiled here"),
    pytest.mark.usefixtures("each_build"),
]

KNOWN = (
    Dialect(),
    Dialect(line_end="\r\n"),
    Dialect(delimiter=";", quote="'"),
    Dialect(escape="\\"),
    Dialect(escape="\\", line_end="\r\n"),
    Dialect(trailing_delimiter=True),
    Dialect(delimiter="||"),
    Dialect(delimiter="|~|", escape="\\", line_end="\r\n"),
    Dialect(delimiter="é", quote="'"),
    Dialect(delimiter="||", quote=""),
    Dialect(delimiter="ababa"),
    MYSQL_TSV,
)
TEXTS = st.text("ab,;|~\t\n\"'\\Né", max_size=30)
NOISE = st.sampled_from(
    [
        "|",
        "||",
        "~",
        '|"',
        '"|',
        "ab",
        '"',
        "'",
        "\\",
        "\n",
        "\r",
        "\r\n",
        '"\r',
        '\r"',
        ',"',
        '",',
        '"a',
        'a"',
        "\\\r\n",
        "\0",
    ]
)


def written(rows: list[list[str]], dialect: Dialect, *, quoted: bool) -> str:
    """The rows as a program writes them that knows the dialect; without a quote or an escape, what that is for is left
    out.
    """
    marks = f"[\\\\\r\n{re.escape(dialect.delimiter)}]"

    def cell(text: str) -> str:
        if dialect.escape:
            text = re.sub(marks, r"\\\g<0>", text)
        if not dialect.quote:
            return text
        return f"{dialect.quote}{text.replace(dialect.quote, dialect.quote * 2)}{dialect.quote}"

    def bare(text: str) -> str:
        return re.sub(f"{marks}|{dialect.quote or dialect.delimiter}", "", text)

    last = dialect.delimiter if dialect.trailing_delimiter else ""
    cells = ([(cell if quoted or dialect.escape else bare)(text) for text in row] for row in rows)
    return "".join(f"{dialect.delimiter.join(row)}{last}{dialect.line_end}" for row in cells)


@examples(600)
@given(
    dialect=st.sampled_from(KNOWN),
    rows=st.lists(st.lists(TEXTS, min_size=1, max_size=4), min_size=1, max_size=9),
    quoted=st.booleans(),
    before=st.integers(0, 70),
)
def test_ends_in_what_programs_write_are_found_at_every_position(dialect, rows, quoted, before):
    data = ("x" * before + dialect.line_end + written(rows, dialect, quoted=quoted)).encode()
    ends, whole, regular = find_regular_ends(data, dialect)
    assert whole
    assert regular or not dialect.quote
    assert ends.tolist() == read(data, dialect).ends
    assert find_ends(data, dialect, final=True).as_array().tolist() == ends.tolist()


@st.composite
def loosely_written(draw: st.DrawFn) -> tuple[Dialect, bytes]:
    """Fields with and without quotes, in the latter quotes and parts of delimiters, now and then a line end."""
    dialect = draw(st.sampled_from(KNOWN))
    delimiter, quote = dialect.delimiter, dialect.quote
    own = ["a", delimiter[0], delimiter[-1], dialect.escape, quote * 2]
    inside = st.lists(st.sampled_from([*own, delimiter, "\n", dialect.line_end]), max_size=12)
    within = st.lists(st.sampled_from([*own, *own, quote, "\r"]), max_size=12)
    enclosed = inside.map(lambda parts: f"{quote}{''.join(parts)}{quote}" if quote else "a")
    plain = within.map(lambda parts: "x" + "".join(parts))
    rows = draw(st.lists(st.lists(enclosed | plain, min_size=1, max_size=4), min_size=1, max_size=12))
    # So that anything may lie across the border of what is read at once.
    before = "x" * draw(st.integers(0, 70))
    return dialect, (before + "".join(delimiter.join(row) + dialect.line_end for row in rows)).encode()


@examples(1000)
@given(loosely_written())
def test_quotes_within_fields_without_any_are_data(document):
    dialect, data = document
    found, reading = find_regular_ends(data, dialect), read(data, dialect)
    if found and not found.whole:
        assert found.ends.tolist() == reading.ends[: len(found.ends)]
        carriage = b"\r" in data or dialect.line_end == "\r\n"
        assert carriage or reading.unclosed or data.endswith(b"\\\n")
    elif found:
        # A last line end that an escape stands before ends nothing, but the data does.
        assert sorted({*found.ends.tolist(), len(data)}) == reading.ends
        assert not reading.bad
    else:
        assert reading.bad or reading.unclosed


@examples(1000)
@given(
    dialect=st.sampled_from(KNOWN),
    rows=st.lists(st.lists(TEXTS, min_size=1, max_size=4), min_size=1, max_size=6),
    noise=NOISE,
    place=st.integers(0, 300),
    before=st.integers(0, 70),
)
def test_odd_bytes_give_no_ends_or_the_right_ones(dialect, rows, noise, place, before):
    text = "x" * before + dialect.line_end + written(rows, dialect, quoted=True)
    data = (text[:place] + noise + text[place:]).encode()
    found = find_regular_ends(data, dialect)
    if found:
        ends, whole, _ = found
        reading = read(data, dialect)
        assert ends.tolist() == reading.ends[: len(ends)]
        assert not whole or len(reading.ends) - len(ends) <= (not data.endswith(b"\n"))
        assert not any(number < len(ends) for number in reading.bad)


@pytest.mark.parametrize(
    "dialect", [Dialect(line_end="any"), Dialect(line_end="\r"), Dialect(delimiter="東" * 6), Dialect(escape="quote")]
)
def test_other_dialects_are_not_supported(dialect: Dialect):
    assert not is_supported(dialect)

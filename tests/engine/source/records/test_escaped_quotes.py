"""Records in which quotes are escaped have the same values when their quotes are doubled."""

from hypothesis import given
from hypothesis import strategies as st

from importer.engine.feed.rewriter import rewritten
from importer.engine.source.dialect import Dialect
from importer.engine.source.records.blocks import blocks
from importer.engine.source.records.escaped_quotes import unescaped_block, with_doubled_quotes
from tests.engine.reference import in_file, read
from tests.examples import examples

DIALECTS = [
    Dialect(escape=escape, line_end=line_end, quote=quote, header=False)
    for escape in ("quote", "php")
    for line_end in ("\n", "\r\n", "\r", "any")
    for quote in ('"', "'")
]


@st.composite
def sound(draw: st.DrawFn) -> tuple[Dialect, bytes]:
    """A dialect, and records in it without a flaw: quotes are doubled or escaped, or literal in an unenclosed field."""
    dialect = draw(st.sampled_from(DIALECTS))
    quote, end = dialect.quote, "\n" if dialect.line_end == "any" else dialect.line_end
    inside = st.lists(st.sampled_from(["a", quote * 2, "\\" + quote, "\\" * 2, ",", "\r\n", "\\n", "NULL"]), max_size=6)
    outside = st.lists(st.sampled_from(["a", quote, "\\" + quote, "\\"]), max_size=4).map("".join)
    enclosed = inside.map(lambda pieces: quote + "".join(pieces) + quote)
    plain = outside.map(lambda text: "x" + text if text.startswith(quote) else text)
    # A blank line would be no record.
    rows = draw(st.lists(st.lists(enclosed | plain, min_size=2, max_size=4), min_size=1, max_size=6))
    return dialect, "".join(",".join(row) + end for row in rows).encode()


@examples(2000)
@given(sound())
def test_doubled_quotes_have_the_same_values(document):
    dialect, data = document
    reading = read(data, dialect)
    assert not any((reading.bad, reading.foreign, reading.unclosed))
    assert read(with_doubled_quotes(data, dialect), dialect.unescaped).rows == reading.rows
    (sent,) = rewritten(dialect)([data])
    assert read(sent, dialect.sent).rows == reading.rows
    with in_file(data) as fd:
        (block,) = blocks(fd, dialect, 0, 1, len(data))
    plain = unescaped_block(block, dialect)
    assert plain
    assert read(plain.data, dialect.unescaped).rows == reading.rows
    assert plain.ends.count(0, plain.size) == len(reading.rows)


@examples(300)
@given(sound(), st.booleans())
def test_a_block_with_a_flaw_stays_as_it_is(document, first):
    dialect, data = document
    q, end = dialect.quote, b"\n" if dialect.line_end == "any" else dialect.line_end.encode()
    flaw = f"{q}a{q}\\{q}b,c".encode() + end
    data = flaw + data if first else data + flaw
    with in_file(data) as fd:
        found = [block for block in blocks(fd, dialect, 0, 1, len(data)) if block.flaws]
    assert found
    assert all(unescaped_block(block, dialect) is None for block in found)

"""The scan marks chunks in which a field may be the word NULL, which a server reads as SQL's NULL."""

from hypothesis import given
from hypothesis import strategies as st

from importer.engine.errors import SourceProblem
from importer.engine.source.dialect import Dialect
from importer.engine.source.records.fields import records, sent_values
from tests.engine.reference import DIALECTS, documents
from tests.engine.source.chunks.test_scanner import EXAMPLES, scanned

# With these, a server takes the bare word NULL for SQL's.
TOLD_THE_WORD = tuple(each for each in DIALECTS if each.quote and not each.escape)


def test_a_field_that_is_the_word_null_is_found_wherever_it_is():
    for size in (0, 1000, 200_000):
        for word in (b"NULL", b"NUL", b"NNULL", b"NULNULL", b"NULLS", b"null"):
            found = scanned(b"x" * size + b"," + word + b"\n" + b"N" * size + b"\n")[0]
            assert found.null_word == (word == b"NULL")
            assert scanned(b"a\n" + b"x" * size + b"\n" + word)[0].null_word == (word == b"NULL")
            assert scanned(word + b"," + b"x" * size)[0].null_word == (word == b"NULL")


def test_letters_of_a_longer_text_are_no_such_field():
    for text in (b"ANNULLED", b"xNULL", b"NULLx", b" NULL", b"NULL ", b'"NULL"'):
        assert not scanned(b"1," + text + b",x\n" + text + b",1\n2," + text)[0].null_word
    apart = Dialect(delimiter="||")
    assert not scanned(b"1||xNULL||NULLx\n", apart)[0].null_word
    assert scanned(b"1||NULL||x\n", apart)[0].null_word


@EXAMPLES
@given(document=documents(dialects=TOLD_THE_WORD, more=("NULL", "NULL", "NUL")), block_bytes=st.integers(4, 40))
def test_what_a_server_takes_for_null_is_found(document, block_bytes):
    dialect, data = document
    try:
        chunks = scanned(data, dialect, block_bytes=block_bytes, tolerate=True)
    except SourceProblem:
        return
    within = [data[each.start : each.end] for each in records(data, dialect)]
    words = any(None in sent_values(record, dialect) for record in within)
    found = any(chunk.null_word for chunk in chunks)
    assert found or not words
    # Within quotes, and next to a part of a line end or a delimiter, the word may not be a field.
    certain = len(dialect.delimiter) == 1 and not {*b"\r" + dialect.quote.encode()} & {*data}
    assert words or not found or not certain

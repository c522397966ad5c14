"""Records and fields one by one."""

import pytest
from hypothesis import assume, given

from importer.engine.source.dialect import MYSQL_TSV, RFC4180, Dialect
from importer.engine.source.records.fields import Record, fields, records
from importer.engine.source.records.fields import values as values_or_null
from tests.engine.reference import documents, read
from tests.examples import examples

EXAMPLES = examples(1000)


class TestRecords:
    @EXAMPLES
    @given(document=documents())
    def test_records_and_fields_are_those_of_the_reference(self, document):
        dialect, data = document
        reading = read(data, dialect)
        assume(not reading.foreign)
        found = list(records(data, dialect))
        assert [record.end for record in found] == reading.ends
        values = [fields(data[record.start : record.end], dialect) for record in found]
        if dialect.unquoted_empty_is_null:
            assert [values_or_null(data[each.start : each.end], dialect) for each in found] == reading.rows
        else:
            assert values == [[rb"\N" if value is None else value for value in row] for row in reading.rows]

    @EXAMPLES
    @given(document=documents())
    def test_a_cut_sample_has_only_records_that_are_surely_whole(self, document):
        dialect, data = document
        whole = list(records(data, dialect))
        for cut in range(len(data)):
            found = list(records(data[:cut], dialect, final=False))
            assert found == whole[: len(found)]

    def test_lines_count_newlines_inside_quotes(self):
        assert list(records(b'a,"1\n2"\nb,3\n', RFC4180, line=5)) == [Record(0, 8, 5), Record(8, 12, 7)]

    def test_a_newline_after_an_escape_does_not_end_the_record(self):
        assert [record.end for record in records(b"a\\\nb\tc\nd\te\n", MYSQL_TSV)] == [7, 11]


class TestFields:
    @pytest.mark.parametrize(
        ("record", "values"),
        [
            (b'"C:\\new\\",b\n', [b"C:\\new\\", b"b"]),
            (b'5" disk,"say ""hi""",""\n', [b'5" disk', b'say "hi"', b""]),
            (b'"a"b","c"', [b'ab"', b"c"]),
            (b'"a""b"c"d,"e"\n', [b'a"bc"d', b"e"]),
            (b"a,", [b"a", b""]),
            (b"\n", [b""]),
            (b'a,"b', [b"a", b'"b']),
        ],
    )
    def test_csv_values_are_decoded_as_the_server_does(self, record, values):
        assert fields(record, RFC4180) == values

    def test_escapes_are_undone_and_null_stays_visible(self):
        assert fields(b"\\N\ta\\tb\t\\\\N\\n\t\\0\n", MYSQL_TSV) == [rb"\N", b"a\tb", b"\\N\n", b"\0"]

    def test_crlf_is_no_part_of_the_last_value(self):
        assert fields(b'"a",b\r\n', Dialect(line_end="\r\n")) == [b"a", b"b"]

"""What stands in the file is what arrives, or the row is rejected: bytes, quotes, line ends, NULL, counts of fields."""

from dataclasses import replace

import pytest

from importer.engine.errors import SourceProblem
from importer.engine.mapping.columns import ColumnMapping
from importer.engine.mysql.connection import Address
from importer.engine.plan.options import Options
from importer.engine.source.dialect import Dialect
from tests.engine.load.values import REJECT, came_of

pytestmark = pytest.mark.both_servers

TEXTS = "a VARCHAR(200), b VARCHAR(200)"
NUMBERED = "n INT, t VARCHAR(200)"


class TestBytes:
    def test_a_byte_order_mark_is_left_out(self, database: Address, tmp_path):
        came = came_of(database, tmp_path, NUMBERED, b"\xef\xbb\xbfn,t\n1,a\n")
        assert (came.rows, came.rejects) == ([(1, "a")], [])

    def test_a_mark_in_front_of_data_without_header_too(self, database: Address, tmp_path):
        came = came_of(database, tmp_path, NUMBERED, b"\xef\xbb\xbf7,a\n8,b\n", header=False)
        assert (came.rows, came.rejects) == ([(7, "a"), (8, "b")], [])

    def test_a_byte_that_is_not_utf8_is_rejected(self, database: Address, tmp_path):
        came = came_of(database, tmp_path, NUMBERED, b"n,t\n1,a\n2,\xff\n3,c\n", encoding="utf-8")
        assert came.rows == [(1, "a"), (3, "c")]
        assert [line for line, *_ in came.rejects] == [3]

    def test_or_stops_the_import_with_its_line(self, database: Address, tmp_path):
        with pytest.raises(SourceProblem, match="0xFF") as caught:
            came_of(database, tmp_path, NUMBERED, b"n,t\n1,a\n2,\xff\n", encoding="utf-8", options=Options())
        assert "line 3" in caught.value.where

    def test_what_a_column_cannot_hold_is_rejected(self, database: Address, tmp_path):
        columns = "n INT, t VARCHAR(9) CHARACTER SET utf8mb3"
        came = came_of(database, tmp_path, columns, "n,t\n1,é\n2,😀\n3,東\n")
        assert came.rows == [(1, "é"), (3, "東")]
        assert came.rejects == [(3, "t", "😀", "1366")]

    def test_latin1_before_a_line_end_keeps_it(self, database: Address, tmp_path):
        came = came_of(database, tmp_path, NUMBERED, b"n,t\n1,caf\xe9\n2,x\n", encoding="latin1")
        assert came.rows == [(1, "café"), (2, "x")]

    def test_zero_bytes_and_control_characters_arrive(self, database: Address, tmp_path):
        came = came_of(database, tmp_path, "n INT, t BLOB", b'n,t\n1,"\x00\x1a\x08"\n')
        assert came.rows == [(1, b"\x00\x1a\x08")]


class TestLineEnds:
    @pytest.mark.parametrize("end", ["\n", "\r\n"])
    def test_either_kind_is_recognised(self, database: Address, tmp_path, end: str):
        came = came_of(database, tmp_path, NUMBERED, end.join(["n,t", "1,a", "2,b", ""]))
        assert came.rows == [(1, "a"), (2, "b")]

    def test_cr_lf_declared_as_lf_is_refused_with_its_line(self, database: Address, tmp_path):
        with pytest.raises(SourceProblem, match="CR LF"):
            came_of(database, tmp_path, NUMBERED, "n,t\r\n1,a\r\n", dialect=Dialect())

    @pytest.mark.parametrize("inside", ["\n", "\r\n", "\r", "\n\n"])
    @pytest.mark.parametrize("chunk_bytes", [1, 2**20])
    def test_inside_quotes_they_are_data(self, database: Address, tmp_path, inside: str, chunk_bytes: int):
        data = f'a,b\n"x{inside}y",1\nz,"{inside}"\n'
        came = came_of(database, tmp_path, TEXTS, data, chunk_bytes=chunk_bytes)
        assert came.rows == [(f"x{inside}y", "1"), ("z", inside)]

    def test_blank_lines_and_a_last_line_without_an_end(self, database: Address, tmp_path):
        assert came_of(database, tmp_path, NUMBERED, "n,t\n1,a\n2,b\n\n\n").rows == [(1, "a"), (2, "b")]
        assert came_of(database, tmp_path, NUMBERED, "n,t\n1,a\n2,b").rows == [(1, "a"), (2, "b")]

    @pytest.mark.parametrize("line_end", ["\n", "\r\n", "any"])
    @pytest.mark.parametrize(("delimiter", "encoding"), [(",", "utf-8"), ("||", "utf-8"), ("¦", "cp1252")])
    def test_a_last_line_without_an_end_may_end_in_an_empty_field(
        self, database: Address, tmp_path, line_end: str, delimiter: str, encoding: str
    ):
        """The servers take such a field for a missing one."""
        dialect = Dialect(delimiter, line_end=line_end, encoding=encoding)
        end = "\n" if line_end == "any" else line_end
        data = f"n,t{end}1,a{end}2,".replace(",", delimiter).encode(encoding)
        assert came_of(database, tmp_path, NUMBERED, data, dialect=dialect).rows == [(1, "a"), (2, "")]
        worse = f"n,t{end}1,a{end}x,".replace(",", delimiter).encode(encoding)
        came = came_of(database, tmp_path, NUMBERED, worse, dialect=dialect)
        assert (came.rows, came.tally.rejected) == ([(1, "a")], 1)

    @pytest.mark.parametrize("data", [b"", b"\n\n", b"\xef\xbb\xbf"])
    def test_an_empty_file_is_refused(self, database: Address, tmp_path, data: bytes):
        with pytest.raises(SourceProblem):
            came_of(database, tmp_path, NUMBERED, data)

    @pytest.mark.parametrize("data", [b"n,t\n", b"\xef\xbb\xbfn,t\r\n"])
    def test_a_file_with_a_header_only_has_no_rows(self, database: Address, tmp_path, data: bytes):
        assert came_of(database, tmp_path, NUMBERED, data).rows == []


class TestQuotes:
    def test_doubled_ones_are_one(self, database: Address, tmp_path):
        came = came_of(database, tmp_path, TEXTS, 'a,b\n"he said ""so""",""""\n')
        assert came.rows == [('he said "so"', '"')]

    def test_escaped_ones_where_the_dialect_says_so(self, database: Address, tmp_path):
        came = came_of(database, tmp_path, TEXTS, 'a,b\n"he said \\"so\\"",x\\,y\n', dialect=Dialect(escape="\\"))
        assert came.rows == [('he said "so"', "x,y")]

    def test_a_windows_path_arrives_verbatim(self, database: Address, tmp_path):
        came = came_of(database, tmp_path, TEXTS, 'a,b\n"C:\\new\\test\\",1\n"C:\\0",2\n')
        assert came.rows == [("C:\\new\\test\\", "1"), ("C:\\0", "2")]

    def test_one_that_is_never_closed_is_named_by_its_line(self, database: Address, tmp_path):
        data = "n,t\n1,a\n" + '2,"never closed\n' + "3,c\n" * 50
        with pytest.raises(SourceProblem) as caught:
            came_of(database, tmp_path, NUMBERED, data, dialect=Dialect())
        assert "line 3" in caught.value.where

    def test_one_inside_an_unquoted_field_is_kept(self, database: Address, tmp_path):
        came = came_of(database, tmp_path, TEXTS, 'a,b\nab"c,5" disk\n"x","y"\n', dialect=Dialect())
        assert came.rows == [('ab"c', '5" disk'), ("x", "y")]

    def test_one_inside_a_quoted_field_is_rejected(self, database: Address, tmp_path):
        came = came_of(database, tmp_path, TEXTS, 'a,b\n1,x\n"d"e,y\n2,z\n', dialect=Dialect())
        assert came.rows == [("1", "x"), ("2", "z")]
        assert [line for line, *_ in came.rejects] == [3]

    def test_one_after_a_space_is_kept(self, database: Address, tmp_path):
        came = came_of(database, tmp_path, NUMBERED, 'n,t\n1,  "a"\n', dialect=Dialect())
        assert came.rows == [(1, '  "a"')]


class TestNull:
    DATA = 'n,t\n1,NULL\n2,Null\n3,\\N\n4,\n5,""\n6,"NULL"\n'

    def test_without_a_mark_every_text_stays_itself(self, database: Address, tmp_path):
        came = came_of(database, tmp_path, NUMBERED, self.DATA)
        assert [row[1] for row in came.rows] == ["NULL", "Null", "\\N", "", "", "NULL"]

    @pytest.mark.parametrize("mark", ["NULL", "Null", "\\N", ""])
    def test_a_mark_is_only_itself(self, database: Address, tmp_path, mark: str):
        came = came_of(database, tmp_path, NUMBERED, self.DATA, mapping=("n", ColumnMapping("t", (mark,))))
        written = ["NULL", "Null", "\\N", "", "", "NULL"]
        assert [row[1] for row in came.rows] == [None if text == mark else text for text in written]

    def test_where_the_dialect_escapes(self, database: Address, tmp_path):
        dialect = Dialect(delimiter="\t", quote="", escape="\\", header=False)
        came = came_of(database, tmp_path, NUMBERED, "1\t\\N\n2\tNULL\n", dialect=dialect)
        assert came.rows == [(1, None), (2, "NULL")]

    def test_beside_quotes_and_an_escape_the_bare_word_is_rejected(self, database: Address, tmp_path):
        came = came_of(
            database, tmp_path, NUMBERED, '1,NULL\n2,"NULL"\n3,\\N\n', dialect=Dialect(escape="\\", header=False)
        )
        assert (came.rows, came.rejects) == ([(2, "NULL"), (3, None)], [(1, "t", "NULL", "NULL")])

    def test_into_a_column_that_takes_none(self, database: Address, tmp_path):
        columns = "n INT, t VARCHAR(9) NOT NULL, at TIMESTAMP NOT NULL"
        mapping = ("n", ColumnMapping("t", ("NA",)), ColumnMapping("at", ("NA",)))
        data = "n,t,at\n1,NA,2024-01-01\n2,x,NA\n3,x,2024-01-01\n"
        came = came_of(database, tmp_path, columns, data, mapping=mapping)
        assert [row[0] for row in came.rows] == [3]
        assert [reject[:3] for reject in came.rejects] == [(2, "t", "NA"), (3, "at", "NA")]


class TestCountsOfFields:
    def test_too_few_and_too_many_are_rejected(self, database: Address, tmp_path):
        came = came_of(database, tmp_path, NUMBERED, "n,t\n1,a\n2\n3,c,d\n4,d\n\n5,e\n", dialect=Dialect())
        assert came.rows == [(1, "a"), (4, "d"), (5, "e")]
        assert [(line, code) for line, _, _, code in came.rejects] == [(3, "1261"), (4, "1262")]

    @pytest.mark.parametrize("name", ["a`b", "select", "naïve 東", 'it\'s "so"', "x" * 64])
    def test_any_name_of_a_column(self, database: Address, tmp_path, name: str):
        quoted = "`" + name.replace("`", "``") + "`"
        came = came_of(database, tmp_path, f"n INT, {quoted} INT", "1,2\n", header=False)
        assert came.rows == [(1, 2)]

    def test_another_order_a_left_out_field_and_generated_columns(self, database: Address, tmp_path):
        columns = "id INT AUTO_INCREMENT PRIMARY KEY, n INT, twice INT AS (n * 2) STORED"
        came = came_of(database, tmp_path, columns, "x,n,id\ny,5,0\ny,6,9\n", mapping=("", "n", "id"))
        # 0 stays 0: it would otherwise be a new number.
        assert came.rows == [(0, 5, 10), (9, 6, 12)]

    @pytest.mark.parametrize(
        "options", [REJECT, replace(REJECT, on_error="stop"), replace(REJECT, on_duplicate="skip")]
    )
    @pytest.mark.parametrize("columns", [("id", "n"), ("n", "id")])
    def test_0_stays_0_beside_a_value_that_is_computed(self, database: Address, tmp_path, columns, options):
        """A SET clause makes the server forget that the file gave a number."""
        mapping = [ColumnMapping(name, null_markers=("",) if name == "n" else ()) for name in columns]
        data = "0,5\n9,6\n" if columns[0] == "id" else "5,0\n6,9\n"
        table = "id INT AUTO_INCREMENT PRIMARY KEY, n INT"
        came = came_of(database, tmp_path, table, data, mapping=mapping, header=False, options=options)
        assert came.rows == [(0, 5), (9, 6)]


class TestDelimiters:
    @pytest.mark.parametrize("delimiter", [",", ";", "\t", "|", "\x01", "^", "$", ".", "*", "%"])
    def test_any_ascii_character(self, database: Address, tmp_path, delimiter: str):
        data = f'1{delimiter}"a{delimiter}b"\n2{delimiter}c\n'
        came = came_of(database, tmp_path, NUMBERED, data, dialect=Dialect(delimiter=delimiter, header=False))
        assert came.rows == [(1, f"a{delimiter}b"), (2, "c")]

    def test_a_quote_is_none(self):
        with pytest.raises(SourceProblem, match="must differ"):
            Dialect(delimiter='"')

    def test_decimal_commas_between_semicolons(self, database: Address, tmp_path):
        mapping = ("n", ColumnMapping("d", transforms=("decimal-comma",)))
        came = came_of(database, tmp_path, "n INT, d DECIMAL(5,2)", "n;d\n1;1,25\n2;1.25\n", mapping=mapping)
        assert [(n, str(d)) for n, d in came.rows] == [(1, "1.25")]
        assert [reject[:3] for reject in came.rejects] == [(3, "d", "1.25")]


class TestSizes:
    def test_a_cell_of_twenty_megabytes(self, database: Address, tmp_path):
        text = "x" * 20_000_000
        came = came_of(database, tmp_path, "n INT, t LONGTEXT", f"1,{text}\n2,y\n", dialect=Dialect(header=False))
        assert came.rows == [(1, text), (2, "y")]

    def test_three_hundred_columns(self, database: Address, tmp_path):
        columns = ", ".join(f"c{n} INT" for n in range(300))
        data = ",".join(str(n) for n in range(300)) + "\n"
        came = came_of(database, tmp_path, columns, data * 3, header=False)
        assert came.rows == [tuple(range(300))] * 3

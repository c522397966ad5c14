"""What stands in the file is what arrives, or the row is rejected: bytes, quotes, line ends, NULL, counts of fields."""

from dataclasses import replace

import pytest

from importer.engine.mapping.columns import ColumnMapping
from importer.engine.mysql.connection import Address
from importer.engine.source.dialect import Dialect
from tests.engine.load.values import REJECT, came_of

pytestmark = pytest.mark.both_servers

TEXTS = "a VARCHAR(200), b VARCHAR(200)"
NUMBERED = "n INT, t VARCHAR(200)"


class TestBytes:
    def test_a_mark_in_front_of_data_without_header_too(self, database: Address, tmp_path):
        came = came_of(database, tmp_path, NUMBERED, b"\xef\xbb\xbf7,a\n8,b\n", header=False)
        assert (came.rows, came.rejects) == ([(7, "a"), (8, "b")], [])

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


class TestQuotes:
    def test_a_windows_path_arrives_verbatim(self, database: Address, tmp_path):
        came = came_of(database, tmp_path, TEXTS, 'a,b\n"C:\\new\\test\\",1\n"C:\\0",2\n')
        assert came.rows == [("C:\\new\\test\\", "1"), ("C:\\0", "2")]

    def test_one_after_a_space_is_kept(self, database: Address, tmp_path):
        came = came_of(database, tmp_path, NUMBERED, 'n,t\n1,  "a"\n', dialect=Dialect())
        assert came.rows == [(1, '  "a"')]


class TestNull:
    DATA = 'n,t\n1,NULL\n2,Null\n3,\\N\n4,\n5,""\n6,"NULL"\n'

    @pytest.mark.parametrize("mark", ["NULL", "Null", "\\N", ""])
    def test_a_mark_is_only_itself(self, database: Address, tmp_path, mark: str):
        came = came_of(database, tmp_path, NUMBERED, self.DATA, mapping=("n", ColumnMapping("t", (mark,))))
        written = ["NULL", "Null", "\\N", "", "", "NULL"]
        assert [row[1] for row in came.rows] == [None if text == mark else text for text in written]

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

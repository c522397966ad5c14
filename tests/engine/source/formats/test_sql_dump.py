"""Which dumps are read, which are refused, and what is asked."""

from dataclasses import replace
from pathlib import Path

import pytest

from importer.engine.errors import SourceProblem
from importer.engine.mapping.new_table.suggestion import suggest_table
from importer.engine.source import compression
from importer.engine.source.formats.registry import detect_format
from importer.engine.source.formats.sql import layout
from importer.engine.source.profile.expected_columns import ExpectedColumn
from importer.engine.source.profile.profile import profile_file
from tests.engine.source.formats.copies import copied


def written(folder: Path, text: str | bytes) -> Path:
    path = folder / "dump.sql"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


@pytest.mark.parametrize(
    ("text", "where", "what"),
    [
        ("INSERT INTO t VALUES\n(1,NOW());", "line 2", r"no plain value: NOW\(\)"),
        ("INSERT INTO t VALUES (1,'a'),\n(2,'b','c');", "line 2", "3 values, and 2"),
        ("INSERT INTO t VALUES (1,'a'),\n(2,'b", "line ", "ends in the middle"),
        ("INSERT INTO t VALUES (1,'a')\n(2,'b');", "line 2", "no comma between two rows"),
        ("INSERT INTO t VALUES (1,'a'),\n(2,'b')", "line 2", "without the semicolon of its last INSERT"),
        ("INSERT INTO t SELECT * FROM x;", "line 1", "no INSERT of rows"),
        ("INSERT INTO t SET a = 1;", "line 1", "no INSERT of rows"),
        ("DROP TABLE x;\nCREATE TABLE t (a int);", "", "no INSERT or REPLACE with rows"),
        ("INSERT INTO t (a) VALUES (1);\nINSERT INTO t (a, b) VALUES (1, 2);", "line 2", "fills b"),
    ],
)
def test_a_dump_that_cannot_be_read_without_executing_it_is_refused(tmp_path: Path, text: str, where: str, what: str):
    with pytest.raises(SourceProblem, match=what) as refused:
        copied(written(tmp_path, text))
    assert where in refused.value.where


POSTGRESQL = "--\n-- PostgreSQL database dump\n--\n\n"
STATEMENTS = "SET lock_timeout = 0;\nSET standard_conforming_strings = on;\n"
PATHS = "INSERT INTO public.t VALUES (1,'C:\\new\\table');\n"


@pytest.mark.parametrize(
    ("text", "system"),
    [
        (POSTGRESQL + STATEMENTS + PATHS, "PostgreSQL"),
        (POSTGRESQL.replace("database", "database cluster") + STATEMENTS + PATHS, "PostgreSQL"),
        (POSTGRESQL + PATHS, "PostgreSQL"),
        (STATEMENTS + PATHS, "PostgreSQL"),
        ("\\restrict a1B2\n" + STATEMENTS + PATHS, "PostgreSQL"),
        (POSTGRESQL + STATEMENTS + "COPY public.t (id, name) FROM stdin;\n1\tit's\n\\.\n", "PostgreSQL"),
        ("PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\n" + PATHS.replace("public.", ""), "SQLite"),
    ],
)
def test_a_dump_of_another_system_is_refused_by_name(tmp_path: Path, text: str, system: str):
    with pytest.raises(SourceProblem, match=f"a dump of {system}") as refused:
        copied(written(tmp_path, text))
    assert "CSV" in refused.value.advice


def test_columns_in_another_order_and_missing_ones_go_to_their_fields(tmp_path: Path):
    text = (
        "CREATE TABLE t (a int, b int, c text);\nINSERT INTO t VALUES (1,2,'x');INSERT INTO `t` (c,a) VALUES ('y',3);"
    )
    assert copied(written(tmp_path, text)) == [("a", "b", "c"), ("1", "2", "x"), ("3", r"\N", "y")]


def test_rows_without_names_of_columns_have_no_header(tmp_path: Path):
    path = written(tmp_path, "INSERT INTO t VALUES (1,'a'),(2,'b');")
    assert copied(path) == [("1", "a"), ("2", "b")]
    assert not profile_file(path).dialect.header


def test_the_encoding_is_that_of_set_names(tmp_path: Path):
    path = written(tmp_path, b"/*!40101 SET NAMES latin1 */;\nINSERT INTO t (a) VALUES ('\xe9');")
    assert copied(path) == [("a",), ("é",)]


TWO = "INSERT INTO orders (id, total) VALUES (1, 2);\nINSERT INTO people (id, name) VALUES (3, 'a;b');"


def test_of_several_tables_the_one_that_fits_is_read_and_otherwise_it_is_asked(tmp_path: Path):
    path = written(tmp_path, TWO)
    guessed = [each for each in profile_file(path).decisions if each.guessed]
    assert [answer.flag for answer in guessed[0].answers] == ["--sql-table 'orders'", "--sql-table 'people'"]
    fitting = profile_file(path, None, [ExpectedColumn("ID"), ExpectedColumn("name"), ExpectedColumn("other")])
    assert (fitting.dialect.sql_table, [each for each in fitting.decisions if each.guessed]) == ("people", [])
    assert copied(path, sql_table="people") == [("id", "name"), ("3", "a;b")]
    with pytest.raises(SourceProblem, match="no rows for a table nobody"):
        profile_file(path, sql_table="nobody")


@pytest.mark.parametrize(
    "text",
    [
        "USE `shop`;\nINSERT INTO t (a) VALUES (1);\nUSE archive;\nINSERT INTO t (a) VALUES (2);",
        "INSERT INTO shop.t (a) VALUES (1);\n\n\nINSERT INTO `archive`.t (a) VALUES (2);",
    ],
)
def test_rows_of_two_tables_of_one_name_are_not_mixed(tmp_path: Path, text: str):
    path = written(tmp_path, text + "\nINSERT INTO other (b) VALUES (3);")
    with pytest.raises(SourceProblem, match="t in two databases: shop and archive") as refused:
        copied(path, sql_table="t")
    assert "line 4" in refused.value.where
    assert copied(path, sql_table="other") == [("b",), ("3",)]


def test_a_database_that_is_named_later_may_be_another_one(tmp_path: Path):
    path = written(tmp_path, "INSERT INTO t (a) VALUES (1);\nREPLACE INTO other.t (a) VALUES (2);")
    with pytest.raises(SourceProblem, match="t in two databases: one without a name and other"):
        copied(path, sql_table="t")


def test_a_database_that_is_named_twice_is_one(tmp_path: Path):
    path = written(tmp_path, "USE d;INSERT INTO t (a) VALUES (1);INSERT INTO d.t (a) VALUES (2);")
    assert copied(path) == [("a",), ("1",), ("2",)]


def test_what_is_not_executed_is_named(tmp_path: Path):
    text = "DROP TABLE t;\nINSERT INTO t (a) VALUES (1);\nDELETE FROM t WHERE a = ';';\nDELETE FROM t;"
    path = written(tmp_path, text)
    (note,) = [each.evidence for each in profile_file(path).decisions if each.name == "statements"]
    assert note.startswith("Other statements are not executed: 2 DELETE, 1 DROP. Rows that DELETE would")


ROW = "INSERT INTO t (a) VALUES ('-- Dump completed');\n"
COMMENTS = ["/*!999999\\- enable the sandbox mode */", "/*!40000 a ; b */", "/* a ; b */", "-- it's ; a", "# it's ; a"]


@pytest.mark.parametrize("comment", COMMENTS)
def test_no_comment_hides_the_rows_behind_it(tmp_path: Path, comment: str, monkeypatch):
    """Wherever the part of the file ends that is read at once."""
    monkeypatch.setattr(compression, "PIECE_BYTES", 2048)
    within = "" if comment.startswith("/*!") else comment
    text = f"{comment}\nINSERT INTO t (a) VALUES (1)\n{within}\n,(2);\nDROP TABLE o {within}\n;\n{comment}\n{ROW}"
    for cut in range(len(text)):
        path = written(tmp_path, f"-- {'x' * (2048 - cut - 4)}\n{text}")
        assert copied(path) == [("a",), ("1",), ("2",), ("-- Dump completed",)], text[:cut]


FIRST, LAST = "-- MariaDB dump 10.19, for Linux\n--\n", "-- Dump completed on 2026-11-26  9:00:00\n"


@pytest.mark.parametrize(
    ("text", "warns"),
    [
        (FIRST + ROW, True),
        ("/*M!999999\\- enable the sandbox mode */\n" + FIRST.replace("MariaDB", "MySQL") + ROW, True),
        ("/*!999999\\- enable the sandbox mode */ \n" + FIRST + ROW, True),
        (FIRST + ROW + LAST, False),
        (FIRST + ROW + LAST + "COMMIT;\n", False),
        (FIRST + ROW + LAST + FIRST + ROW, True),
        (FIRST + ROW + "-- Dump completed\n", False),
        (ROW, False),
    ],
)
def test_a_dump_without_its_last_line_is_read_with_a_warning(tmp_path: Path, text: str, warns: bool):
    path = written(tmp_path, text)
    assert copied(path)[1:] == [("-- Dump completed",)] * text.count("INSERT")
    warnings = [each for each in profile_file(path).decisions if each.name == "dump_end"]
    assert [each.guessed for each in warnings] == [False] * warns


def test_of_a_large_dump_the_end_is_looked_at(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(layout, "TABLES_BYTES", 10)
    for end, warns in (("", True), (LAST, False)):
        rest = "INSERT INTO t (a) VALUES (2);\n" * 200
        decisions = profile_file(written(tmp_path, FIRST + ROW + rest + end)).decisions
        assert ("dump_end" in [each.name for each in decisions]) is warns


def test_a_statement_larger_than_a_block_is_read_whole(tmp_path: Path):
    rows = [(str(n), "x'y\\;" * 20) for n in range(8_000)]
    literals = ",\n".join("({},'{}')".format(n, text.replace("\\", "\\\\").replace("'", "''")) for n, text in rows)
    path = written(tmp_path, f"INSERT INTO o VALUES ({'1,' * 30_000}1);INSERT INTO t (a, b) VALUES {literals};")
    assert copied(path, sql_table="t") == [("a", "b"), *rows]


def test_backslashes_are_plain_where_the_dump_sets_that_mode(tmp_path: Path):
    mode = "/*!40101 SET SQL_MODE='ANSI,NO_BACKSLASH_ESCAPES' */;\n"
    text = r"INSERT INTO t (a, b) VALUES ('C:\new\', 'it''s'), (1, 'x\');" + "\n"
    usual = "SET sql_mode = '';\n" + r"INSERT INTO t (a, b) VALUES ('\n', 2);"
    path = written(tmp_path, mode + text + usual)
    assert copied(path) == [("a", "b"), ("C:\\new\\", "it's"), ("1", "x\\"), ("\n", "2")]


def test_the_mode_of_a_trigger_ends_with_it(tmp_path: Path):
    own = "/*!40101 SET @OLD_SQL_MODE=@@SQL_MODE, SQL_MODE='NO_AUTO_VALUE_ON_ZERO' */;\n"
    trigger = (
        "/*!50003 SET @saved_sql_mode = @@sql_mode */ ;\n/*!50003 SET sql_mode = 'NO_BACKSLASH_ESCAPES' */ ;\n"
        "DELIMITER ;;\n/*!50003 CREATE TRIGGER g BEFORE INSERT ON s FOR EACH ROW SET NEW.a = 'x\\' */;;\nDELIMITER ;\n"
        "/*!50003 SET sql_mode = @saved_sql_mode */ ;\n"
    )
    path = written(tmp_path, own + trigger * 2 + r"INSERT INTO t (a, b) VALUES ('it\'s', '\n');")
    assert copied(path) == [("a", "b"), ("it's", "\n")]


EVENT = (
    "/*!50106 SET @save_time_zone= @@TIME_ZONE */ ;\nDELIMITER ;;\n/*!50003 SET time_zone = 'SYSTEM' */ ;;\n"
    "/*!50106 CREATE EVENT e ON SCHEDULE EVERY 1 DAY DO SELECT 1 */ ;;\nDELIMITER ;\n"
    "/*!50106 SET TIME_ZONE= 'SYSTEM' */ ;\n/*!50106 SET TIME_ZONE= @save_time_zone */ ;\n"
)
OF_MYSQLDUMP = "/*!40103 SET @OLD_TIME_ZONE=@@TIME_ZONE */;\n/*!40103 SET TIME_ZONE='+00:00' */;\n"


@pytest.mark.parametrize(
    ("above", "zone"),
    [
        (OF_MYSQLDUMP, "+00:00"),
        (OF_MYSQLDUMP + EVENT, "+00:00"),
        (OF_MYSQLDUMP + "/*!40103 SET TIME_ZONE=@OLD_TIME_ZONE */;\n", ""),
        ('SET SQL_MODE = "NO_AUTO_VALUE_ON_ZERO";\nSET time_zone = "+00:00";\n', "+00:00"),
        ("SET NAMES utf8, @@SESSION.time_zone := 'Europe/Berlin';\n", "Europe/Berlin"),
        ("SET time_zone = SYSTEM;\n", ""),
        ("SET time_zone = 'SYSTEM';\n", ""),
        ("SET GLOBAL time_zone = '+05:00';\n", ""),
        ("SET @time_zone = '+05:00';\n", ""),
        ("", ""),
    ],
)
def test_the_time_zone_is_the_one_that_the_dump_sets(tmp_path: Path, above: str, zone: str):
    profile = profile_file(written(tmp_path, above + "INSERT INTO t (a) VALUES (1);"))
    assert profile.dialect.time_zone == zone
    assert [each.value for each in profile.decisions if each.name == "time_zone"] == [zone] * bool(zone)


ZONES = (
    "SET time_zone = '+00:00';\nINSERT INTO t (a) VALUES (1);\n"
    "SET time_zone = '+02:00';\nREPLACE INTO t (a) VALUES (2);"
)


@pytest.mark.parametrize("created", ["", "CREATE TABLE t (a timestamp(3) NULL);"])
def test_times_of_two_zones_are_not_mixed(tmp_path: Path, created: str):
    with pytest.raises(SourceProblem, match=r"t in two time zones: \+00:00 and \+02:00") as refused:
        copied(written(tmp_path, created + ZONES))
    assert "line 4" in refused.value.where


def test_without_a_timestamp_the_time_zone_does_not_matter(tmp_path: Path):
    path = written(tmp_path, "CREATE TABLE t (a int);" + ZONES)
    assert copied(path) == [("a",), ("1",), ("2",)]
    assert "time_zone" not in [each.name for each in profile_file(path).decisions]


def test_the_types_of_its_table_are_those_of_a_new_one(tmp_path: Path):
    columns = "a int(11) unsigned, b varchar(40), c decimal(12,2), d text, e year(4), f enum('x'), g datetime(3)"
    path = written(tmp_path, f"CREATE TABLE t ({columns});\nINSERT INTO t VALUES (1,'2024-01-01',1,'x',2024,'x',NULL);")
    table = suggest_table("shop", "t", profile_file(path))
    stated = ["int unsigned", "varchar(40)", "decimal(12,2)", "text", "year"]
    assert [each.type for each in table.columns][:5] == stated
    assert [each.type for each in table.columns][6] == "datetime(3)"


@pytest.mark.parametrize(
    ("columns", "below", "key"),
    [
        ("`b` int NOT NULL, a int, PRIMARY KEY (`b`), KEY k (a)", "", ("b",)),
        ("a int, b int, CONSTRAINT `p` PRIMARY KEY USING BTREE (`b`, a) COMMENT 'x'", "", ("b", "a")),
        ("a int COMMENT 'no PRIMARY KEY', b int not null primary key", "", ("b",)),
        ("a int, b int", "ALTER TABLE `t`\n  ADD PRIMARY KEY (`b`),\n  ADD KEY `k` (`a`);", ("b",)),
        ("a varchar(90), b int, PRIMARY KEY (a(10))", "", ()),  # No flag can say that.
        ("a int, b int, UNIQUE KEY (a)", "ALTER TABLE other ADD PRIMARY KEY (b);", ()),
    ],
)
def test_the_primary_key_of_its_table_is_named_and_not_imposed(tmp_path: Path, columns: str, below: str, key: tuple):
    path = written(tmp_path, f"CREATE TABLE t ({columns});\nINSERT INTO t (a, b) VALUES (1,1),(2,2);\n{below}")
    table = suggest_table("shop", "t", profile_file(path))
    assert (table.stated_key, table.primary_key) == (key, ())
    flags = " ".join(f"--primary-key '{name}'" for name in key)
    assert (f"NOT NULL and defaults. {flags} makes it the key." in table.key_note) == bool(key)
    assert not replace(table, primary_key=("a",)).key_note


@pytest.mark.parametrize("type_", ["multipolygon", "geometrycollection", "blob", "varbinary(9)"])
def test_a_column_of_bytes_is_written_as_digits_after_0x(tmp_path: Path, type_: str):
    path = written(tmp_path, f"CREATE TABLE t (a {type_});INSERT INTO t VALUES ('ab');")
    assert copied(path) == [("a",), ("0x6162",)]


@pytest.mark.parametrize(
    ("type_", "literal", "value"),
    [
        ("bit(8)", "_binary '1'", "49"),
        ("bit(8)", "_binary 'A'", "65"),
        ("bit(8)", "'1'", "49"),
        ("bit(8)", "b'110010'", "50"),
        ("bit(16)", "0x3132", "12594"),
        ("bit(16)", "x'3132'", "12594"),
        ("bit(8)", "50", "50"),
        ("bit(1)", "TRUE", "1"),
        ("bit(8)", "-1", "-1"),
        ("int", "0x3132", "12594"),
        ("int", "x'3132'", "x'3132'"),
        ("decimal(9,2)", "b'110010'", "50"),
        ("int", "_binary '12'", "12"),
        ("int", "'12'", "12"),
        ("varchar(9)", "0x3132", "12"),
    ],
)
def test_a_literal_is_read_by_its_form_and_the_type_of_its_column(tmp_path: Path, type_: str, literal: str, value: str):
    path = written(tmp_path, f"CREATE TABLE t (a int, b {type_});INSERT INTO t VALUES (1,{literal});")
    assert copied(path) == [("a", "b"), ("1", value)]


BYTES = bytes(each for each in range(0x100) if each not in b"\0\n\r\\'\"\x1a")


@pytest.mark.parametrize("names", ["latin1", "cp1251", "koi8r", "utf8mb4"])
@pytest.mark.parametrize("introducer", [b"", b"_binary "])
def test_bytes_in_quotes_are_those_of_the_dump(tmp_path: Path, names: str, introducer: bytes):
    known = bytes(each for each in BYTES if names != "cp1251" or each != 0x98)
    head = f"/*!40101 SET NAMES {names} */;\nCREATE TABLE t (a varchar(9), b blob, c bit(16));\n".encode()
    texts = introducer + b"'" + known + b"'," + introducer + b"'\xe9\xff'"
    path = written(tmp_path, head + b"INSERT INTO t VALUES ('n'," + texts + b"),(NULL," + texts + b");")
    row = (f"0x{known.hex()}", str(0xE9FF))
    assert copied(path) == [("a", "b", "c"), ("n", *row), (r"\N", *row)]


def test_the_latin1_of_mysql_has_all_bytes(tmp_path: Path):
    path = written(tmp_path, b"SET NAMES latin1;\nINSERT INTO t (a) VALUES ('\x80\x81\xe9');")
    assert copied(path) == [("a",), ("€\x81é",)]


@pytest.mark.parametrize("names", ["gbk", "sjis", "ujis"])
def test_bytes_that_cannot_be_told_are_refused(tmp_path: Path, names: str):
    text = "SET NAMES %s;\nCREATE TABLE t (a blob);\nINSERT INTO t VALUES (_binary 'a'),\n(_binary '本');"
    path = written(tmp_path, (text % names).encode({"sjis": "shift_jis", "ujis": "euc_jp"}.get(names, names)))
    with pytest.raises(SourceProblem, match="not every byte can be told") as refused:
        copied(path)
    assert ("line 4" in refused.value.where, "--hex-blob" in refused.value.advice) == (True, True)


@pytest.mark.parametrize(
    ("head", "name"),
    [
        ("-- MySQL dump 10.13\n/*!40101 SET NAMES utf8 */;\n", "sql"),
        ("REPLACE INTO `t` VALUES (1)", "sql"),
        ("SET,USE\n1,2\n", "csv"),
        ("--\n-- PostgreSQL database dump\n--\n\n\\restrict a1B2\n\n-- Dumped from\nSET lock_timeout = 0;", "sql"),
        ("PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\n", "sql"),
        ("-- a comment\nid,name\n", "csv"),
        ("/* a */ /*M!999999\\- enable the sandbox mode */ \nCREATE TABLE `t`", "sql"),
        ("/*!999999\\- enable the sandbox mode */ \nINSERT INTO `t` VALUES (1);", "sql"),
        # Backtracking would try 2 ** 5000 ways to divide these into comments.
        ("/**/" * 5000 + "id,name\n", "csv"),
    ],
)
def test_a_dump_is_recognised_by_its_first_bytes(head: str, name: str):
    assert detect_format(head.encode()) == name

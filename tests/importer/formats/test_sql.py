"""SQL dumps, from the file to the table."""

from decimal import Decimal
from pathlib import Path
from uuid import uuid4

import pytest

from importer.engine.mysql.connection import connect, execute, fetch_all
from importer.engine.plan.options import Options
from importer.jobs.rejects import downloads
from importer.models import ImportJob, Target
from importer.preparation.prepare import replan
from tests.importer.steps import import_of, run

Status = ImportJob.Status
DUMP = rb"""-- MySQL dump 10.13
/*!40101 SET NAMES utf8mb4 */;
DROP TABLE IF EXISTS `items`;
CREATE TABLE `items` (
  `id` int NOT NULL COMMENT 'a, b (c',
  `name` varchar(60) DEFAULT 'x)',
  `price` decimal(24,6) DEFAULT NULL,
  `data` varbinary(20),
  PRIMARY KEY (`id`)
) ENGINE=InnoDB;
LOCK TABLES `items` WRITE;
INSERT INTO `items` VALUES (1,'a\'b''c\n\0\\\t',1.50,NULL),(2,'x;y)',-3,0x4142FF00),
(3,NULL,.5,_binary '\0\n"""
DUMP += (
    b"\xff"
    + rb"""'),
 -- a comment; with a semicolon
(4, "as ""mydumper"" 'writes'", +1e3, X'0a'), (5,'',TRUE,b'101');
UNLOCK TABLES;
DELETE FROM items WHERE name = 'x;';
DELIMITER ;;
CREATE TRIGGER t BEFORE INSERT ON items FOR EACH ROW BEGIN INSERT INTO items VALUES (9); END ;;
DELIMITER ;
REPLACE INTO items (data, id) VALUES (NULL, 7) ON DUPLICATE KEY UPDATE id = 3;
"""
)
WANTED = [
    (1, "a'b'c\n\0\\\t", Decimal("1.5"), None),
    (2, "x;y)", Decimal(-3), b"AB\xff\0"),
    (3, None, Decimal("0.5"), b"\0\n\xff"),
    (4, "as \"mydumper\" 'writes'", Decimal(1000), b"\n"),
    (5, "", Decimal(1), b"\x05"),
    (7, None, None, None),
]


def test_every_value_arrives_as_the_server_would_store_it(load, rows, tmp_path: Path):
    path = tmp_path / "dump.sql"
    path.write_bytes(DUMP)
    job = load(path)
    assert (job.status, job.problem) == (Status.SUCCEEDED, {})
    assert rows("id, name, price, data") == WANTED
    (note,) = [each for each in job.reading_json["decisions"] if each["name"] == "statements"]
    assert ("1 DELETE" in note["evidence"], "1 DROP" in note["evidence"]) == (True, True)


def test_the_server_itself_reads_the_dump_like_that(target: Target, rows):
    """The expectation above is what the server does with the same statements."""
    with connect(target.address) as connection:
        connection.query("SET NAMES utf8mb4")
        for statement in (DUMP[DUMP.index(b"INSERT INTO `items`") : DUMP.index(b"UNLOCK")].rstrip().rstrip(b";"),):
            table = statement.replace(b"INSERT INTO `items`", b"INSERT INTO items (id, name, price, data)")
            connection.query(table)
        execute(connection, "INSERT INTO items (id) VALUES (7)")
    assert rows("id, name, price, data") == WANTED


MOMENTS = rb"""/*!40103 SET @OLD_TIME_ZONE=@@TIME_ZONE */;
/*!40103 SET TIME_ZONE='+00:00' */;
CREATE TABLE moments (id int PRIMARY KEY, seen timestamp NULL, day datetime);
INSERT INTO moments VALUES (1,'2024-01-31 10:00:00','2024-01-31 10:00:00');
/*!40103 SET TIME_ZONE=@OLD_TIME_ZONE */;
"""
TEN, HOUR = 1706695200, 3600  # 2024-01-31 10:00 UTC, and seconds


@pytest.mark.parametrize(
    ("dump", "stated", "seen"),
    [
        (MOMENTS, "", TEN),
        (MOMENTS, "+02:00", TEN - 2 * HOUR),
        (MOMENTS.replace(b"+00:00", b"-03:00"), "", TEN + 3 * HOUR),
        (MOMENTS.replace(b"SET", b""), "", TEN - 5 * HOUR),
    ],
)
def test_times_are_in_the_zone_that_the_dump_sets(
    elsewhere, target: Target, tmp_path: Path, dump, stated: str, seen: int
):
    with connect(target.address) as connection:
        execute(connection, "CREATE TABLE moments (id INT PRIMARY KEY, seen TIMESTAMP NULL, day DATETIME NULL)")
    path = tmp_path / "dump.sql"
    path.write_bytes(dump)
    job = run(import_of(path, target, "moments", options=Options(parallelism=1, verify="full", time_zone=stated)))
    assert (job.status, job.problem) == (Status.SUCCEEDED, {})
    with connect(target.address) as connection:
        stored = "SELECT UNIX_TIMESTAMP(seen), CAST(day AS CHAR) FROM moments"
        assert fetch_all(connection, stored) == [(seen, "2024-01-31 10:00:00")]
    (reason,) = [each for each in job.plan.reasons if each.choice.startswith("Times of seen")]
    assert ("(SET TIME_ZONE)" in reason.why) is (not stated and b"SET" in dump)
    # A new plan for the rest of the job, and its corrected rows, have the same zone.
    assert replan(job, uuid4()).session.get("time_zone") == job.plan.session.get("time_zone")
    assert job.file_dialect.of_rejects.time_zone == job.file_dialect.time_zone


def test_a_bad_row_is_named_by_its_line(load, rows, tmp_path: Path):
    path = tmp_path / "dump.sql"
    path.write_text("INSERT INTO items (id, name) VALUES\n(1,'a'),\n(2,'%s'),\n(3,'c');\n" % ("b" * 61))
    job = load(path, on_error="reject", max_rejects=5)
    assert (job.status, job.loaded_rows) == (Status.SUCCEEDED, 2), job.problem
    assert [(each.line, each.column) for each in downloads.first_rows(job, 9)] == [(3, "name")]

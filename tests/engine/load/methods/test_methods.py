"""Every method loads the same rows and rejects the same rows of a file, with any values, rules and dialect."""

import tempfile
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path

import pytest

from importer.engine.load.methods import row_batches
from importer.engine.load.outcome import Tally
from importer.engine.mapping.columns import ColumnMapping, GeneratedColumn
from importer.engine.mysql.connection import Address
from importer.engine.plan.methods import METHODS
from importer.engine.plan.options import Options
from importer.engine.source.dialect import MYSQL_TSV, RFC4180, Dialect
from importer.engine.source.records import large_values
from tests.engine.loads import HEADERLESS, Unchecked, load_bytes, rows_of, run_sql
from tests.engine.preflight.test_preflight import setting
from tests.generated import Bench, make_case
from tests.targets import TestServer

pytestmark = pytest.mark.both_servers

# One that reads a file on the server has tests of its own (tests/importer/connections/by_hand/test_read_by_server.py).
MANY = [each.name for each in METHODS.values() if each.name != "load_data_local" and not each.from_file]
CASES = 40
REJECT = Unchecked(on_error="reject")

TYPES = (
    "n INT, name VARCHAR(12), small CHAR(5) CHARACTER SET latin1, price DECIMAL(6,2), f DOUBLE, day DATE,"
    " at DATETIME(3), y YEAR, e ENUM('a','b'), s SET('x','y'), b BIT(8), j JSON, raw VARBINARY(300)"
)
FIELDS = [
    *("n", "name", "small"),
    ColumnMapping("price", transforms=("decimal-comma",)),
    ColumnMapping("f", null_markers=("NA", "a'b\\c@field1")),
    ColumnMapping("day", datetime_format="%d.%m.%Y"),
    *("at", "y", "e", "s", "b", "j"),
    ColumnMapping("raw", transforms=("hex",)),
]
GOOD = [
    "1;a;é;1,50;0.1;31.01.2024;2024-02-29 12:00:00.125;2024;b;x,y;A;[1];00ff27",
    '2;"it\'s ""q""";"\\";2,25;NA;01.02.2024;2024-01-01;1999;a;x;B;"{""k"": ""\'""}";' + bytes(range(256)).hex(),
    "3;NULL;\\N;0,00;a'b\\c@field1;01.03.2024;2024-01-01;1999;a;;C;null;",
    '4;"two\nlines; 🦆";"NULL";1,00;1e10;01.03.2024;2024-01-01;1999;a;y;%;"""%s ?""";',
]
BAD = [
    "x;a;b;1,00;1;01.02.2024;2024-01-01;2000;a;x;A;1;00",
    "5;thirteen long;b;1,00;1;01.02.2024;2024-01-01;2000;a;x;A;1;00",
    "6;a;中;1,00;1;01.02.2024;2024-01-01;2000;a;x;A;1;00",
    "7;a;b;1.00;1;01.02.2024;2024-01-01;2000;a;x;A;1;00",
    "8;a;b;1,00;1;30.02.2024;2024-01-01;2000;a;x;A;1;00",
    "9;a;b;1,00;1;01.02.2024;soon;2000;a;x;A;1;00",
    "10;a;b;1,00;1;01.02.2024;2024-01-01;2000;c;x;A;1;00",
    "11;a;b;1,00;1;01.02.2024;2024-01-01;2000;a;x;A;1;0",
    "11;a;b;1,00;1;01.02.2024;2024-01-01;2000;a;x;A;1;0g",
    "12;a;b",
    "13;a;b;1,00;1;01.02.2024;2024-01-01;2000;a;x;A;1;00;more",
]


@contextmanager
def every_record_large():
    """What the methods do with a record of some MB, they do with each."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_batches, "MOST_BYTES", 1)
        patch.setattr(large_values, "PIECE", 3)
        yield


def came_of(
    database: Address, folder: Path, method: str, create: str, data: str, fields, options, *, rows: int = 3, **kwargs
):
    """What came of the data: the table, the tally, and the rejected lines, as bytes and with the columns at fault."""
    run_sql(database, "DROP TABLE IF EXISTS t, millrace_ledger", f"CREATE TABLE t ({create}) CHARACTER SET utf8mb4")
    own = Path(tempfile.mkdtemp(dir=folder))
    asked = replace(options, method=method, rows_per_statement=rows)
    loaded = load_bytes(database, own, data.encode(), fields, asked, **kwargs)
    reasons = [(row[0], row[2]) for row in loaded.explained]
    return rows_of(database, "SELECT * FROM t ORDER BY 1"), loaded.tally, loaded.raw, reasons


def without_columns(came):
    """The same without columns: of a row with two faults, a statement of its own may tell the other one."""
    return *came[:3], [line for line, _ in came[3]]


def the_same(database: Address, folder: Path, create: str, data: str, fields, options=REJECT, **kwargs):
    """What came of it by LOAD DATA LOCAL; asserts that the others make the same of it."""

    def came(method: str, rows: int = 3):
        return came_of(database, folder, method, create, data, fields, options, rows=rows, **kwargs)

    wanted = came("load_data_local")
    for method in MANY:
        assert came(method) == wanted, method
    assert without_columns(came("insert", rows=1)) == without_columns(wanted)
    with every_record_large():
        assert without_columns(came("insert")) == without_columns(wanted)
    return wanted


def test_values_of_all_types_and_bad_ones_of_each(database: Address, tmp_path: Path):
    dialect = Dialect(delimiter=";", header=False, width=len(FIELDS))
    data = "\n".join([*GOOD[:2], *BAD, *GOOD[2:]]) + "\n"
    rows, tally, _, reasons = the_same(database, tmp_path, TYPES, data, FIELDS, dialect=dialect)
    assert tally == Tally(loaded=len(GOOD), rejected=len(BAD))
    assert [line for line, _ in reasons] == [str(line) for line in range(3, 3 + len(BAD))]
    assert rows[1][-1] == bytes(range(256))
    assert rows[2][1:5] == ("NULL", "\\N", 0, None)


def test_a_value_of_every_column_kind_without_marks_or_transforms(database: Address, tmp_path: Path):
    data = "".join(f"{n},it's {n} \\ %s,{n}.5\n" for n in range(20)) + "20,x\n21,x,1,2\n22,x,1.5"
    rows, tally, *_ = the_same(database, tmp_path, "n INT, v VARCHAR(20), d DECIMAL(5,1)", data, ["n", "v", "d"])
    assert (tally, len(rows)) == (Tally(loaded=21, rejected=2), 21)


def test_a_left_out_field_fillings_and_a_generated_column(database: Address, tmp_path: Path):
    create = "n INT, twice INT AS (n * 2), line INT, same VARCHAR(20), note VARCHAR(20) DEFAULT 'none'"
    fillings = (GeneratedColumn("line", "line"), GeneratedColumn("same", "text", "it's @field1 '"))
    data = "a,1\nb,x\nc,3\n"
    rows, tally, *_ = the_same(database, tmp_path, create, data, ["", "n"], fillings=fillings)
    assert rows == [(1, 2, 1, "it's @field1 '", "none"), (3, 6, 3, "it's @field1 '", "none")]
    assert tally == Tally(loaded=2, rejected=1)


@pytest.mark.parametrize("policy", ["fail", "skip", "replace"])
def test_duplicates(database: Address, tmp_path: Path, policy: str):
    create = "id INT PRIMARY KEY, v VARCHAR(3)"
    data = "1,a\n2,b\n1,c\n3,toolong\n3,d\n2,e\n4,f\n"
    options = replace(REJECT, on_duplicate=policy)
    rows, tally, *_ = the_same(database, tmp_path, create, data, ["id", "v"], options)
    assert (
        tally
        == {
            "fail": Tally(loaded=4, rejected=3),
            "skip": Tally(loaded=4, skipped=2, rejected=1),
            "replace": Tally(loaded=4, replaced=2, rejected=1),
        }[policy]
    )
    assert len(rows) == 4


def test_a_check_and_not_null_beside_bad_values(database: Address, tmp_path: Path):
    create = "id INT PRIMARY KEY, n INT NOT NULL, v VARCHAR(3), CHECK (n < 100)"
    lines = ["1,5,a", "2,101,b", "3,5,toolong", "4,x,a", "5,,a", "6,NA,a", "6,7,b", "6,8,c", "7,101,toolong", "8,8,h"]
    fields = ["id", ColumnMapping("n", null_markers=("NA",)), "v"]
    rows, *_ = the_same(database, tmp_path, create, "\n".join(lines) + "\n", fields)
    assert [row[0] for row in rows] == [1, 6, 8]


def test_a_foreign_key(database: Address, tmp_path: Path):
    run_sql(database, "CREATE TABLE p (id INT PRIMARY KEY)", "INSERT INTO p VALUES (1)")
    create = "id INT PRIMARY KEY, p INT, v VARCHAR(3), FOREIGN KEY (p) REFERENCES p (id)"
    data = "1,1,a\n2,9,b\n3,9,toolong\n4,1,toolong\n5,1,c\n"
    rows, *_ = the_same(database, tmp_path, create, data, ["id", "p", "v"])
    assert [row[0] for row in rows] == [1, 5]


def test_a_trigger_that_refuses_ends_no_load(database: Address, tmp_path: Path):
    create = "id INT PRIMARY KEY"
    trigger = (
        "CREATE TRIGGER no_seven BEFORE INSERT ON t FOR EACH ROW IF NEW.id = 7 THEN"
        " SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'not seven'; END IF"
    )
    data = "".join(f"{n}\n" for n in range(10))
    for method in ("load_data_local", *MANY):
        run_sql(database, "DROP TABLE IF EXISTS t, millrace_ledger", f"CREATE TABLE t ({create})", trigger)
        (tmp_path / method).mkdir()
        options = replace(REJECT, method=method, rows_per_statement=4)
        loaded = load_bytes(database, tmp_path / method, data.encode(), ["id"], options)
        assert (loaded.lines, loaded.tally) == ([8], Tally(loaded=9, rejected=1)), method


@pytest.mark.parametrize("dialect", [MYSQL_TSV, replace(RFC4180, header=False, line_end="any"), HEADERLESS])
def test_everything_is_read_back_as_it_was_sent(database: Address, tmp_path: Path, dialect: Dialect):
    create = "n INT PRIMARY KEY, v VARCHAR(20)"
    options = Options(verify="full")
    data = "1\ta\\tb\n2\t\\N\n" if dialect is MYSQL_TSV else '1,"a\nb"\n2,NULL\n'
    rows, *_ = the_same(database, tmp_path, create, data, ["n", "v"], options, dialect=dialect)
    assert rows == ([(1, "a\tb"), (2, None)] if dialect is MYSQL_TSV else [(1, "a\nb"), (2, "NULL")])


def test_a_row_larger_than_max_allowed_packet_says_what_to_do(server: TestServer, database: Address, tmp_path: Path):
    run_sql(database, "CREATE TABLE t (v LONGTEXT)")
    with setting(server, "max_allowed_packet", 2**20):
        for method in ("insert", "insert_prepared"):
            for size in (2**20, 2**22):
                with pytest.raises(Exception, match="larger than the server's max_allowed_packet"):
                    load_bytes(database, tmp_path, b"x" * size + b"\n", ["v"], Options(method=method))
    assert rows_of(database) == []


@pytest.mark.parametrize("method", ["insert", "insert_prepared"])
def test_large_values_between_small_ones(database: Address, tmp_path: Path, method: str):
    run_sql(database, "CREATE TABLE t (n INT, v LONGTEXT, b LONGBLOB, d DOUBLE) CHARACTER SET utf8mb4")
    # More than row_batches.MOST_BYTES.
    text, raw = ("\\é\"'\n\0🦆 " + "x" * 57) * 40_000, ('ab"\x7f' + "y" * 57) * 40_000
    quoted = text.replace('"', '""')
    lines = [f'{n},"{quoted if n == 5 else "é"}",,NULL\n' for n in range(10)]
    lines.append('10,,"' + raw.replace('"', '""') + '",1.5\n')
    dialect = Dialect(header=False)
    fields = ["n", "v", "b", ColumnMapping("d", null_markers=("NULL",))]
    options = Options(method=method)
    assert load_bytes(database, tmp_path, "".join(lines).encode(), fields, options, dialect=dialect).tally == Tally(11)
    found = rows_of(database, "SELECT * FROM t ORDER BY n")
    assert found[5] == (5, text, b"", None)
    assert found[10] == (10, "", raw.encode(), 1.5)
    assert found[4] == (4, "é", b"", None)


def test_a_statement_that_would_be_too_large_is_cut(server: TestServer, database: Address, tmp_path: Path):
    run_sql(database, "CREATE TABLE t (v LONGTEXT)")
    data = b"".join(b"'" * 60_000 + b"\n" for _ in range(30))
    with setting(server, "max_allowed_packet", 2**20):
        for method in ("insert", "insert_prepared"):
            assert load_bytes(database, tmp_path, data, ["v"], Options(method=method)).tally == Tally(30)
            run_sql(database, "DROP TABLE millrace_ledger")
    assert rows_of(database, "SELECT COUNT(*), SUM(LENGTH(v)) FROM t") == [(60, 60 * 60_000)]


@pytest.mark.parametrize(("method", "large"), [*((method, False) for method in MANY), ("insert", True)])
def test_generated_cases(database: Address, server: TestServer, tmp_path: Path, method: str, large: bool, request):
    bench, option = Bench.on(database, tmp_path, method), request.config.option
    # Half of the cases on each kind of server, the other half with another seed of the run.
    first = (option.case_seed + (server.flavour == "mysql")) % 2
    with every_record_large() if large else nullcontext():
        for seed in range(CASES) if option.every_case else range(first, CASES, 2):
            bench.check(make_case(seed), f"seed {seed}")

"""Mode create: a table from the whole file's types, on real servers, with the worker's steps taken one by one."""

import re
from pathlib import Path

import pytest
from MySQLdb import MySQLError

from importer.engine.errors import Problem
from importer.engine.load import ledger
from importer.engine.mysql.connection import connect
from importer.engine.plan.options import Options
from importer.engine.schema.column_types import COLUMN_TYPES, Creatable
from importer.engine.schema.new_table import NewColumn, NewTable, check_keys, partition_table
from importer.engine.schema.table import read_table
from importer.engine.schema.type_inference import check_type
from importer.jobs.actions import commands
from importer.models import ImportJob, Target
from importer.preparation.prepare import prepare
from importer.preparation.request import ImportRequest, NewTableRequest
from importer.sources import uploads
from tests.engine.loads import rows_of, run_sql
from tests.importer.steps import import_of, run

pytestmark = pytest.mark.usefixtures("no_workers")

Status = ImportJob.Status
ROWS = 3_500  # more than the sample sees, in several chunks
# What a new table's column can be: each type with a usual length, and texts on both sides of the longest in a key.
PLAIN = [each.name for each in COLUMN_TYPES if each.creatable in (*Creatable,)[1:4]]
CREATABLE = [*PLAIN, "decimal(9,2)", "char(20)", "binary(20)", "varbinary(20)", "varchar(767)", "varchar(768)"]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "things.csv"
    rows = (f'{n},0{n % 9},{n}.5,2024-01-{n % 28 + 1:02},"{"x" * (n % 20)}",{n % 2},\n' for n in range(ROWS))
    path.write_text("id,code,price,day,text,flag,none\n" + "".join(rows))
    return path


def created(
    target: Target, file: Path, table: str = "things", partitions: int | None = None, by: str = "", **request
) -> ImportJob:
    options = Options(mode="create", chunk_bytes=50_000, parallelism=2, partitions=partitions, partition_by=by)
    new_table = NewTableRequest(**request)
    return import_of(file, target, table, options=options, new_table=new_table)


def told(target: Target, sql: str) -> list[tuple]:
    return rows_of(target.address, sql)


def types(target: Target, table: str = "things") -> dict[str, str]:
    with connect(target.address) as connection:
        columns = read_table(connection, target.database, table).columns
    return {each.name: each.type.replace("int(11)", "int").replace("int(4)", "int") for each in columns}


def tables(target: Target) -> set[str]:
    return {row[0] for row in told(target, "SHOW TABLES")}


def test_types_come_from_the_values(target, file):
    job = run(created(target, file))
    assert (job.status, job.problem, job.balanced) == (Status.SUCCEEDED, {}, True)
    assert types(target) == {
        "id": "int",
        "code": "varchar(16)",
        "price": "decimal(6,1)",
        "day": "date",
        "text": "varchar(32)",
        "flag": "tinyint",
        "none": "varchar(255)",
    }
    assert told(target, "SELECT COUNT(*), SUM(id), MAX(code), MAX(price) FROM things")[0][:3] == (
        ROWS,
        sum(range(ROWS)),
        "08",
    )
    assert tables(target) == {"things", ledger.TABLE}


def test_codes_and_versions_stay_text(target, tmp_path):
    path = tmp_path / "c14n.csv"
    path.write_text(
        "id,version,hash,neg,plus,pct,big,t\n"
        "1,1.9,12e5,-0,5,1.0,12345678901234567890123,1\n"
        "2,1.10,34e2,0,6,1.10,9,0\n"
        "3,2.0,5678,1,7,2.000,8,1\n"
    )
    prepared = prepare(uploads.register(path), target, "c14n", ImportRequest(options=Options(mode="create")))
    notes = " ".join(prepared.reading.notes)
    assert "version: text, since the number of decimals differs, with zeros at the end (1 to 2 decimals)" in notes
    assert "hash: text, since 12e5 would become a number with more digits" in notes
    assert "--primary-key 'id'" in notes
    assert prepared.reading.guesses == ()
    job = run(commands.create(prepared))
    assert (job.status, job.problem) == (Status.SUCCEEDED, {})
    text = dict.fromkeys(("version", "hash", "neg", "pct"), "varchar(16)")
    assert types(target, "c14n") == {"id": "int", "plus": "int", "t": "tinyint", "big": "varchar(32)", **text}
    assert told(target, "SELECT * FROM c14n ORDER BY id") == [
        (1, "1.9", "12e5", "-0", 5, "1.0", "12345678901234567890123", 1),
        (2, "1.10", "34e2", "0", 6, "1.10", "9", 0),
        (3, "2.0", "5678", "1", 7, "2.000", "8", 1),
    ]


def test_a_table_too_wide_for_the_server_is_refused_before_the_job(target, tmp_path):
    path = tmp_path / "wide.csv"
    path.write_text(",".join(f"c{n}" for n in range(1100)) + "\n" + ",".join("1" for _ in range(1100)) + "\n")
    with pytest.raises(Problem, match="1,100 fields, but an InnoDB table takes 1,017") as raised:
        created(target, path, "wide")
    assert "several tables" in raised.value.advice


def test_many_short_texts_become_a_table(target, tmp_path):
    path = tmp_path / "texts.csv"
    path.write_text(",".join(f"c{n}" for n in range(190)) + "\n1," + ",".join("word" for _ in range(189)) + "\n")
    job = run(created(target, path, "texts"))
    assert (job.status, job.problem) == (Status.SUCCEEDED, {})
    assert "varchar(64)" in types(target, "texts").values()


def test_a_value_beyond_the_sample_widens_its_column_with_a_reason(target, file):
    lines = file.read_text().splitlines(keepends=True)
    lines[3_301] = '3300,07,1.125,2024-01-01,"' + "y" * 90 + '",3000000000,\n'
    file.write_text("".join(lines))
    job = run(created(target, file))
    assert (job.status, job.problem) == (Status.SUCCEEDED, {})
    column_types = types(target)
    assert (column_types["price"], column_types["text"]) == ("decimal(9,3)", "varchar(128)")
    assert column_types["flag"].startswith("bigint")
    reasons = {reason["choice"]: reason["why"] for reason in job.plan_json["reasons"]}
    [why] = [why for choice, why in reasons.items() if choice.startswith("price is decimal(9,3), not ")]
    assert "line 3,302 has '1.125'" in why


@pytest.mark.parametrize(("null", "stored"), [(None, ["", "NA", "x"]), (("NA",), [None, "", "x"])])
def test_null_markers_that_nobody_gave_are_values_of_a_column_that_becomes_a_text(target, tmp_path, null, stored):
    path = tmp_path / "late.csv"
    path.write_text("id,n\n1,\n2,NA\n" + "".join(f"{n},{n}\n" for n in range(3, ROWS)) + "x,x\n" * (ROWS // 10))
    job = run(import_of(path, target, "late", options=Options(mode="create"), null_markers=null, accept_guesses=True))
    assert (job.status, job.problem) == (Status.SUCCEEDED, {})
    assert types(target, "late")["n"].startswith("varchar")
    found = told(target, "SELECT DISTINCT n FROM late WHERE n IS NULL OR n IN ('', 'NA', 'x') ORDER BY n")
    assert [value for (value,) in found] == stored


def test_a_plan_with_wider_types_keeps_its_chunks_and_their_reasons(target, file):
    file.write_text(file.read_text().replace("3300,06,3300.5", "3300,06,1.125"))
    before = import_of(file, target, "things", options=Options(mode="create")).plan
    job = run(ImportJob.objects.get())
    assert job.status == Status.SUCCEEDED
    assert "Types hold the whole file" in [each.choice for each in job.plan.reasons]
    assert (job.plan.chunk_sizes, job.plan.seen) == (before.chunk_sizes, before.seen)
    about = ("chunk_bytes", "parallelism", "sort")
    kept, planned = ([each for each in plan.reasons if each.option in about] for plan in (job.plan, before))
    assert kept == planned
    assert not any("requested" in each.why for each in kept)


def test_a_key_that_is_too_long_for_the_whole_file_is_refused_with_its_column(target, tmp_path):
    path = tmp_path / "keys.csv"
    path.write_text("code,n\n" + "".join(f"c{n},1\n" for n in range(ROWS)) + f"{'x' * 800},1\n")
    job = run(created(target, path, primary_key=("code",)))
    assert job.status == Status.FAILED
    assert "The primary key takes more than 3,072 bytes: code is varchar(1000)" in job.problem["what"]


def test_without_widening_the_import_ends_with_the_line(target, file):
    lines = file.read_text().splitlines(keepends=True)
    lines[3_301] = "3300,07,n/k,2024-01-01,a,1,\n"
    file.write_text("".join(lines))
    job = run(created(target, file, widen=False, types={"price": "decimal(9,1)", "text": "text"}))
    assert job.status == Status.FAILED
    assert "'n/k' does not fit price decimal(9,1)" in job.problem["what"]
    assert job.problem["where"].startswith("things.csv, line 3,302") or "line 3,302" in job.problem["where"]
    assert "things" not in tables(target)


def test_requested_types_are_used_unchanged(target, file):
    requested = {"id": "BIGINT UNSIGNED", "code": "char(3)"}
    job = run(created(target, file, types=requested, primary_key=("id",)))
    assert (job.status, job.problem) == (Status.SUCCEEDED, {})
    assert types(target)["id"].startswith("bigint")
    assert types(target)["code"] == "char(3)"
    assert told(target, "SHOW KEYS FROM things")[0][2] == "PRIMARY"


@pytest.mark.parametrize(
    ("charset", "collation"), [("utf8mb4", "utf8mb4_bin"), ("utf8mb4", "utf8mb4_unicode_ci"), ("latin1", "latin1_bin")]
)
def test_texts_have_the_collation_of_the_database_if_its_character_set_has_every_character(
    target, tmp_path, charset, collation
):
    run_sql(target.address, f"ALTER DATABASE {target.database} CHARACTER SET {charset} COLLATE {collation}")
    path = tmp_path / "words.csv"
    path.write_text("n,word\n1,🙂\n")
    job = run(created(target, path, "words"))
    assert (job.status, job.problem) == (Status.SUCCEEDED, {})
    [(found,)] = told(
        target,
        "SELECT COLLATION_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE()"
        " AND TABLE_NAME = 'words' AND COLUMN_NAME = 'word'",
    )
    assert found == collation if charset == "utf8mb4" else found.startswith("utf8mb4")
    assert told(target, "SELECT word FROM words") == [("🙂",)]


def test_a_table_that_is_there_is_refused(target, file):
    run_sql(target.address, "CREATE TABLE things (a INT)")
    with pytest.raises(Problem, match="There is a table"):
        created(target, file)


def test_a_table_that_came_meanwhile_is_left_alone(target, file):
    job = created(target, file)
    run_sql(target.address, "CREATE TABLE things (a INT)")
    job = run(job)
    assert job.status == Status.FAILED
    assert "exists now; it did not when the import was planned" in job.problem["what"]
    assert types(target) == {"a": "int"}
    assert tables(target) == {"things", ledger.TABLE}


def test_names_that_no_table_can_have_are_changed(target, tmp_path):
    path = tmp_path / "odd.csv"
    path.write_text("a,A,,`b`,order,sales 🙂\n1,2,3,4,5,6\n")
    job = run(created(target, path, "odd`name"))
    assert (job.status, job.problem) == (Status.SUCCEEDED, {})
    assert list(types(target, "odd`name")) == ["a", "A_2", "column_3", "`b`", "order", "sales"]


@pytest.mark.parametrize(
    "wanted", [{"types": {"nope": "int"}}, {"types": {"id": "int; DROP"}}, {"primary_key": ("x",)}]
)
def test_an_impossible_table_is_refused(target, file, wanted):
    with pytest.raises(Problem):
        created(target, file, **wanted)


class TestPartitions:
    @pytest.fixture
    def small(self, tmp_path) -> Path:
        path = tmp_path / "small.csv"
        path.write_text("id,code\n" + "".join(f"{n},c{n % 3}\n" for n in range(100)))
        return path

    @pytest.mark.parametrize(
        ("primary_key", "column", "by"),
        [
            (("id",), "", "PARTITION BY HASH (`id`)"),
            (("code", "id"), "", "PARTITION BY KEY (`code`, `id`)"),
            (("code", "id"), "ID", "PARTITION BY HASH (`id`)"),
            ((), "code", "PARTITION BY KEY (`code`)"),
        ],
    )
    def test_by_hash_of_the_primary_key_or_a_column(self, target, small, primary_key, column, by):
        job = created(target, small, partitions=4, by=column, primary_key=primary_key)
        assert job.plan.staged.make[0].endswith(f"{by} PARTITIONS 4")
        assert "The new table has 4 partitions" in [reason.choice for reason in job.plan.reasons]
        job = run(job)
        assert (job.status, job.problem, job.loaded_rows) == (Status.SUCCEEDED, {}, 100)
        partitions = told(
            target,
            "SELECT PARTITION_METHOD, COUNT(*) FROM information_schema.PARTITIONS WHERE TABLE_NAME = 'things'"
            f" AND TABLE_SCHEMA = '{target.database}' GROUP BY PARTITION_METHOD",
        )
        assert partitions == [(by.split()[2], 4)]

    @pytest.mark.parametrize("type_", CREATABLE)
    def test_by_a_column_of_any_type_as_the_server_takes_it(self, target, type_):
        table = NewTable(target.database, "things", (NewColumn("a`b", check_type(type_)),))
        made = partition_table(table, 3, "a`b")
        answers = []
        for attempt in (lambda: check_keys(made), lambda: run_sql(target.address, made.statement("things"))):
            try:
                attempt()
                answers.append("taken")
            except (Problem, MySQLError):
                answers.append("refused")
        assert answers in (["taken"] * 2, ["refused"] * 2)

    @pytest.mark.parametrize(
        ("asked", "said", "option"),
        [
            ({"by": "code", "primary_key": ("id",)}, "--primary-key 'id' --primary-key 'code'", "partition_by"),
            ({"by": "nope"}, "It has id, code", "partition_by"),
            ({"by": "code", "types": {"code": "text"}}, "--type 'code=varchar(64)'", "partition_by"),
            ({"by": "code", "partitions": None}, "--partitions 8", "partition_by"),
        ],
    )
    def test_a_column_that_cannot_be_names_what_to_do(self, target, small, asked, said, option):
        with pytest.raises(Problem, match=re.escape(said)) as raised:
            created(target, small, **{"partitions": 4} | asked)
        assert raised.value.option == option

    def test_a_column_whose_type_grows_too_long_for_it_ends_the_import_before_the_table(self, target, tmp_path):
        path = tmp_path / "small.csv"
        path.write_text("id,code\n" + "".join(f"{n},c{n % 3}\n" for n in range(100_000)) + f"1,{'x' * 70_000}\n")
        job = run(created(target, path, partitions=4, by="code"))
        assert (job.status, job.problem["option"], tables(target)) == (
            Status.FAILED,
            "partition_by",
            {"millrace_ledger"},
        )

    def test_partitions_without_a_primary_key_are_refused(self, target, file):
        with pytest.raises(Problem, match="without a primary key") as raised:
            created(target, file, partitions=4)
        assert raised.value.option == "partitions"
        run_sql(
            target.address, "CREATE TABLE things (id INT, code INT, price INT, day INT, text INT, flag INT, none INT)"
        )
        with pytest.raises(Problem, match="mode create"):
            prepare(uploads.register(file), target, "things", ImportRequest(options=Options(partitions=4)))

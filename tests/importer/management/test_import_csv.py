"""`millrace load`, as scripts use it."""

import re
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from importer import queue
from importer.models import AuditEvent, ImportJob, Target
from importer.models.outcomes import FAILED, FOUND_BAD_ROWS, OUTCOMES, READER_GONE, WITH_REJECTS, WRONG_USAGE
from importer.models.outcomes.exit_codes import exit_codes
from importer.worker import local_pool
from importer.worker.hosts import presence
from tests.documents import SCHEMAS
from tests.engine.loads import run_sql
from tests.importer.management.people_file import ROWS, loaded, report_of, run
from tests.shell import Shell
from tests.stack import Stack, wait_until


def test_in_process_needs_neither_redis_nor_worker(target_on_each: Target, people: Path, stack_env: Stack):
    done = stack_env.manage(
        "import_csv", str(people), "--target", "t", "--table", "people", "--in-process", "--json", "--chunk-size", "32K"
    )
    report = report_of(done.stdout)
    assert report["outcome"] == "succeeded"
    assert report["balanced"] is True
    assert report["rows"] == {
        "source": ROWS,
        "loaded": ROWS,
        "replaced": 0,
        "unchanged": 0,
        "skipped": 0,
        "rejected": 0,
        "deleted": 0,
        "marked": 0,
        "missing": 0,
        "source_is_final": True,
    }
    assert set(report["seconds"]) == {"wait", "scan", "load", "locks", "index", "verify", "total"}
    assert report["rates"]["rows_per_second"] > 0
    assert report["rejects"]["file"] is None
    assert loaded(target_on_each) == (ROWS, 667, 'Zoë "999"')


def test_in_process_of_a_large_file(target: Target, tmp_path: Path, shell: Shell):
    """A large file is loaded by child processes, a small one by threads."""
    rows = 200
    path = tmp_path / "people.csv"
    unread = "x" * (local_pool.IN_THREADS_BELOW // rows)
    path.write_text("id,name,unread\n" + "".join(f"{n},name {n},{unread}\n" for n in range(rows)))
    args = ["--target", "t", "--table", "people", "--ignore-fields", "--in-process", "--json"]
    done = shell.manage("import_csv", str(path), *args)
    report = report_of(done.stdout)
    assert (report["outcome"], report["rows"]["loaded"]) == ("succeeded", rows)
    assert loaded(target) == (rows, 0, "name 99")


def test_a_bad_row_fails_with_its_exit_code_and_is_named(target: Target, people: Path, shell: Shell):
    text = people.read_text().replace("\n77,", f"\nseventy-seven{'x' * 3000},")
    people.write_text(text)
    args = ["import_csv", str(people), "--target", "t", "--table", "people", "--in-process"]
    done = shell.manage(*args, check=False)
    assert done.returncode == FAILED.exit_code
    assert max(map(len, done.stderr.splitlines())) < 300
    assert "Traceback" not in done.stderr
    assert "line 79, column id" in done.stderr
    assert "seventy-seven" in done.stderr
    assert "--on-error reject" in done.stderr
    assert loaded(target)[0] == 0
    done = shell.manage(*args, "--json", check=False)
    report = report_of(done.stdout)
    assert (report["outcome"], report["balanced"]) == ("failed", False)
    assert report["problem"]["rows"][0]["line"] == 79


def test_bad_rows_left_out_come_back_as_a_file_that_loads(target_on_each: Target, people: Path, shell: Shell):
    long = f'1500,"{"long " * 9}",NA'
    bad = ['x77,"Zoë",NA', long, '1501,"Zoë"']
    text = people.read_text().replace('\n77,"Zoë ""77""",NA', f"\n{bad[0]}")
    for n, row in zip((1500, 1501), bad[1:], strict=True):
        text = re.sub(rf"\n{n},.*", f"\n{row}", text)
    people.write_text(text)
    args = ["import_csv", "--target", "t", "--table", "people", "--in-process", "--null", "NA", "--on-error", "reject"]
    done = shell.manage(*args, str(people), "--json", check=False)
    report = report_of(done.stdout)
    assert (done.returncode, report["exit_code"], report["outcome"]) == (5, 5, "completed with rejects")
    assert report["rows"] == {
        "source": ROWS,
        "loaded": ROWS - 3,
        "replaced": 0,
        "unchanged": 0,
        "skipped": 0,
        "rejected": 3,
        "deleted": 0,
        "marked": 0,
        "missing": 0,
        "source_is_final": True,
    }
    assert report["balanced"] is True
    assert sum(kind["rows"] for kind in report["rejects"]["reasons"]) == 3
    rejected = Path(report["rejects"]["file"])
    assert rejected.read_text() == "id,name,born\n" + "".join(f"{row}\n" for row in bad)
    assert Path(report["rejects"]["reasons_file"]).read_text().splitlines()[1].startswith("79,")
    corrected = rejected.with_name("corrected.csv")
    corrected.write_text(rejected.read_text().replace("x77", "77").replace(bad[2], f"{bad[2]},NA"))
    run_sql(target_on_each.address, "ALTER TABLE people MODIFY name VARCHAR(60)")
    assert "3 + 0 + 0 + 0" in shell.manage(*args, str(corrected)).stdout
    assert loaded(target_on_each)[0] == ROWS


def test_reject_counts_by_reason_and_the_paths_of_the_files_are_printed(target: Target, people: Path, shell: Shell):
    people.write_text(people.read_text().replace("\n77,", "\nseventy-seven,").replace("\n78,", "\nseventy-eight,"))
    args = ["import_csv", str(people), "--target", "t", "--table", "people", "--in-process", "--on-error", "reject"]
    done = shell.manage(*args, check=False)
    assert done.returncode == WITH_REJECTS.exit_code
    assert "  2 rows: column id: " in done.stdout
    match = re.search(r"Rejected rows, to be corrected and imported again: (.*people\.rejects\.csv)\n", done.stdout)
    assert match
    assert Path(match[1]).read_text().count("seventy-") == 2
    run_sql(target.address, "TRUNCATE people")
    done = shell.manage(*args, "--max-rejects", "1", check=False)
    assert done.returncode == FAILED.exit_code
    assert "2 rows cannot be loaded" in done.stderr


@pytest.mark.parametrize(
    ("content", "table", "code", "outcome", "problem_code"),
    [
        (b"id,nmae\n1,a\n", "people", 3, "needs an answer", 1400),
        (b"id,name\n1,a\n", "nowhere", 4, "refused", 1200),
        (b"", "people", 3, "needs an answer", 1400),
        (b"%PDF-1.7\n", "people", 4, "refused", 1100),
    ],
)
def test_an_import_that_does_not_begin_prints_one_report(
    target: Target, tmp_path: Path, shell: Shell, content, table, code, outcome, problem_code
):
    path = tmp_path / "people.csv"
    path.write_bytes(content)
    done = shell.manage("import_csv", str(path), "--target", "t", "--table", table, "--json", check=False)
    report = report_of(done.stdout)
    assert (done.returncode, report["exit_code"], report["outcome"]) == (code, code, outcome)
    assert report["problem"]["code"] == problem_code
    assert bool(report["reading"]) == (code == 3)
    assert report["rows"]["loaded"] == 0


def test_a_target_that_cannot_be_reached_has_its_own_exit_code(target: Target, people: Path, shell: Shell):
    Target.objects.update(host="127.0.0.1", port=1)
    done = shell.manage("import_csv", str(people), "--target", "t", "--table", "people", "--json", check=False)
    report = report_of(done.stdout)
    assert (done.returncode, report["outcome"], report["problem"]["code"]) == (7, "target unreachable", 1201)


@pytest.mark.parametrize(
    ("names", "code"),
    [
        (("mysql://root@127.0.0.1:1/shop", "--table", "people"), 7),
        (("--target", "t", "--table", "nowhere"), 4),
    ],
)
def test_a_file_that_cannot_be_read_is_told_with_the_fault_of_the_target(
    target: Target, people: Path, tmp_path: Path, shell: Shell, names: tuple[str, ...], code: int
):
    pdf = tmp_path / "report.pdf"
    pdf.write_bytes(b"%PDF-1.7\n")
    for path, told in ((pdf, True), (people, False)):
        done = shell.manage("import_csv", str(path), *names, "--json", check=False)
        assert done.returncode == code
        advice = report_of(done.stdout)["problem"]["advice"]
        assert ("The file cannot be read either: report.pdf: This is not a CSV file" in advice) is told


def test_the_schema_of_the_report_has_all_outcomes_and_exit_codes():
    keys = SCHEMAS["report"]["properties"]
    assert set(keys["outcome"]["enum"]) == {None, "planned", WRONG_USAGE.words, *(each.words for each in OUTCOMES)}
    # The check of a file has a document of its own, and nobody reads one without a reader.
    elsewhere = {FOUND_BAD_ROWS.exit_code, READER_GONE}
    assert set(keys["exit_code"]["enum"]) == {None, *(code for code, _ in exit_codes())} - elsewhere


def test_a_plan_has_the_same_report(target: Target, people: Path, shell: Shell):
    args = ["--target", "t", "--table", "people", "--plan-only", "--json"]
    report = report_of(shell.manage("import_csv", str(people), *args).stdout)
    assert (report["schema"], report["outcome"], report["job"]) == ("millrace.report/1", "planned", None)
    assert [each["column"] for each in report["reading"]["columns"]] == ["id", "name", "born"]
    assert report["plan"]["method"] == "load_data_local"
    assert "LOAD DATA" in "".join(each["statements"] for each in report["plan"]["sql"])


def test_conversions_and_doubtful_values_are_printed(target: Target, tmp_path: Path, capsys):
    run_sql(target.address, "CREATE TABLE sums (id INT, a DECIMAL(9,3), d DATE)")
    path = tmp_path / "sums.csv"
    path.write_text("id;a;d\n1;1,234;31.01.2024\n2;5,678;01.02.2024\n3;NA;01.02.2024\n")
    call_command("import_csv", str(path), "--target", "t", "--table", "sums", "--plan-only", "--accept-guesses")
    printed = capsys.readouterr().err
    assert "a is read as decimal comma" in printed
    assert "Guessed: a: '1,234' can be 1.234 (decimal comma) or 1234 (thousands comma)" in printed
    assert "d is read as %d.%m.%Y" in printed
    assert "NA is read as NULL in a." in printed


def test_a_repeated_load_is_noted_and_refused_where_the_content_is_to_be_loaded_once(
    target: Target, people: Path, capsys
):
    args = ("import_csv", str(people), "--target", "t", "--table", "people", "--in-process")
    call_command(*args, "--once")
    call_command(*args, "--on-duplicate", "skip")
    said = f"Import {ImportJob.objects.earliest('pk').pk} has loaded this content already"
    assert f"{said} ({ROWS:,} rows, " in capsys.readouterr().err
    for more in ((), ("--plan-only",)):
        with pytest.raises(CommandError, match=r"has loaded this content already .*--no-once") as refused:
            call_command(*args, "--once", *more)
        assert refused.value.returncode == 4


def test_ambiguous_number_stops_the_import_until_it_is_stated(target: Target, tmp_path: Path, capsys):
    run_sql(target.address, "CREATE TABLE prices (id INT, p DECIMAL(9,3))")
    path = tmp_path / "prices.csv"
    path.write_text("id\tp\n1\t1,234\n2\t999\n")
    args = ("import_csv", str(path), "--target", "t", "--table", "prices", "--plan-only")
    with pytest.raises(CommandError, match="--map 'p=p:thousands-comma'"):
        call_command(*args)
    call_command(*args, "--map", "p=p:thousands-comma")
    assert "p is read as thousands comma" in capsys.readouterr().err


def test_plan_only_shows_reasons_and_sql_and_does_nothing(target: Target, people: Path, capsys):
    printed = run(capsys, str(people), "--target", "t", "--table", "people", "--plan-only", "--parallel", "3")
    assert "3 in parallel: as requested" in printed
    assert "LOAD DATA LOCAL INFILE" in printed
    assert "(`id`, `name`, @field3)" in printed
    assert not ImportJob.objects.exists()
    assert not AuditEvent.objects.exists()


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--table", "peeple"), "Did you mean people?"),
        (("--table", "people", "--delimiter", "|"), "goes into"),
        (("--table", "people", "--max-rejects", "5"), "Ask for on_error reject"),
        (("--table", "people", "--max-reject-percent", "5"), "Ask for on_error reject"),
    ],
)
def test_an_import_that_cannot_be_planned_is_refused_with_advice(
    target: Target, people: Path, args: tuple, message: str
):
    with pytest.raises(CommandError, match=message):
        call_command("import_csv", str(people), "--target", "t", *args)
    assert not ImportJob.objects.exists()


def test_a_url_where_a_name_is_expected_is_refused_with_the_form_that_works(target: Target, people: Path):
    with pytest.raises(CommandError, match=r"A URL is.*mysql://USER@HOST/DATABASE\.TABLE") as caught:
        call_command("import_csv", str(people), "--target", "mysql://root:hidden@127.0.0.1/shop", "--table", "people")
    assert "hidden" not in str(caught.value)


def test_an_unknown_target_names_the_known_ones(target: Target, people: Path):
    with pytest.raises(CommandError, match="Known: t"):
        call_command("import_csv", str(people), "--target", "nobody", "--table", "people")


def test_a_warning_is_printed_if_the_workers_load_fewer_chunks_than_requested(
    target: Target, people: Path, stack: Stack, capsys
):
    queue.connection.cache_clear()
    wait_until(presence.parallel_loads, what="a worker's sign of life")
    args = [str(people), "--target", "t", "--table", "people", "--null", "NA", "--workers"]
    call_command("import_csv", *args, "--parallel", "5")
    assert "--parallel 5: the running workers load at most 2 chunks in parallel" in capsys.readouterr().err
    run_sql(target.address, "TRUNCATE people")
    call_command("import_csv", *args, "--parallel", "2")
    assert "workers" not in capsys.readouterr().err
    assert loaded(target)[0] == ROWS


def test_a_preview_compares_and_changes_nothing(target: Target, people: Path, tmp_path: Path, capsys):
    run(capsys, str(people), "--target", "t", "--table", "people")
    before = loaded(target)
    few = tmp_path / "few.csv"
    few.write_text("".join(people.read_text("utf-8").splitlines(keepends=True)[:-1]))
    args = [str(few), "--target", "t", "--table", "people", "--mode", "sync", "--preview"]
    printed = run(capsys, *args)
    assert f"previewed: {ROWS - 1:,} rows were compared, and nothing was changed." in printed
    assert "The table has 1 more, of which 1 would be deleted." in printed
    assert loaded(target) == before
    report = report_of(run(capsys, *args, "--json"))
    assert (report["outcome"], report["exit_code"], report["compared"]["missing"]) == ("previewed", 0, 1)
    assert [len(report["compared"]["first"][kind]) for kind in ("new", "changed", "missing")] == [0, 0, 1]

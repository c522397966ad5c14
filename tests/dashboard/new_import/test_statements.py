"""What a page says of the rows that do not fit is what the import then finds, for random small files in each mode."""

import random
import re

import pytest
from django.urls import reverse

from dashboard.jobs.known_rows import known_rows
from importer.engine.target.write_modes import MODES
from importer.jobs.actions.commands import could_leave_out
from importer.models import ImportJob
from tests.dashboard.api.program import Program
from tests.dashboard.new_import.test_page import HTMX, show, shown_form, start, uploaded
from tests.dashboard.new_import.test_questions import buttons
from tests.engine.loads import run_sql
from tests.importer.steps import run

pytestmark = pytest.mark.django_db

TABLES = (
    "CREATE TABLE things (id INT PRIMARY KEY, name VARCHAR(8) NOT NULL, size DECIMAL(5,2), born DATE,"
    " kind ENUM('a', 'b'), small TINYINT UNSIGNED)",
)
HEADER = ["id", "name", "size", "born", "kind", "small"]
GOOD = (("Anna", "Bo", "Zoë"), ("1.5", "99.25", "0"), ("2024-02-29", "1999-12-31"), ("a", "b"), ("0", "7", "255"))
# Values that a column does not take, or no import keeps as they are.
BAD = (
    ("much too long", "a name of 20 letters"),
    ("n/k", "12345.6", "1,5x"),
    ("2023-02-29", "yesterday", "2024-13-01"),
    ("c", "ab"),
    ("-1", "256", "seven"),
)
ROWS = 40


def file_of(chance: random.Random, bad: int, first: int) -> bytes:
    """A file of rows with numbers from `first` on; this number of them have a bad value, in any column."""
    at = set(chance.sample(range(ROWS), bad))
    lines = [HEADER]
    for number in range(ROWS):
        values = [chance.choice(each) for each in GOOD]
        if number in at:
            column = chance.randrange(len(BAD))
            values[column] = chance.choice(BAD[column])
        lines.append([str(first + number), *values])
    quoted = ([f'"{value}"' if "," in value else value for value in each] for each in lines)
    return ("\n".join(map(",".join, quoted)) + "\n").encode()


def answered(browser, source, shown):
    """The page with the first answer to each question."""
    offered = buttons(shown)
    if "Accept the first answers" not in offered:
        return shown
    return show(browser, source, **shown_form(shown), answer=offered["Accept the first answers"])


def stated(page) -> tuple[int, int]:
    """The rows with problems and those that were looked at, as the page says in words."""
    words = " ".join(re.sub("<[^>]*>", " ", page.text).split())
    none = re.search(r"No problems in the values of (the first )?([\d,]+) rows? scanned", words)
    some = re.search(r"([\d,]+) rows? with problems in (the first )?([\d,]+) scanned", words)
    assert none or some, words
    assert not (none and "do not fit" in words)
    count, scanned = (some[1], some[3]) if some else ("0", none[2])
    return int(count.replace(",", "")), int(scanned.replace(",", ""))


def without(page) -> bool:
    """Whether the page offers to leave the rows out."""
    return 'id="leave-out-' in page.text


@pytest.mark.parametrize("mode", MODES)
def test_what_is_said_is_what_is_found(browser, user, target, redis, mode: str):
    chance = random.Random(mode)
    if mode == "update":
        rows = ",".join(f"({number}, 1)" for number in range(2 * ROWS))
        run_sql(target.address, f"INSERT INTO things (id, name) VALUES {rows}")
    for number, bad in enumerate((0, 4)):
        table = f"things{number}" if mode == "create" else "things"
        # The rows of mode sync take the place of those before: more than the limit of changes would be deleted.
        first = 0 if mode == "sync" else number * ROWS
        source = uploaded(user, file_of(chance, bad, first), f"{number}.csv")
        shown = answered(browser, source, show(browser, source, table=table, mode=mode))
        count, scanned = said = stated(shown)
        assert scanned == ROWS
        # A new table has types that hold some of the values.
        assert count == bad or (mode == "create" and count < bad)
        job = started(browser, source, shown_form(shown))
        if not count:
            assert (job.status, job.accounted_rows, job.rejected_rows) == ("succeeded", ROWS, 0), job.problem
            continue
        assert job.status == "failed"
        assert known_rows(job).count == count
        again = browser.get(f"{reverse('new_source', args=[source.key])}?edit={job.pk}", headers=HTMX)
        again = answered(browser, source, again)
        assert stated(again) == said
        assert without(again) is without(shown) is (mode != "sync")
        assert could_leave_out(job) is (mode != "sync")
        if without(again):
            job = started(browser, source, shown_form(again) | {"on_error": "reject"})
            assert (job.status, job.rejected_rows) == ("succeeded", count), job.problem


def started(browser, source, form: dict[str, str]) -> ImportJob:
    """The import that the form starts, ended."""
    assert start(browser, source, **form).status_code == 200
    return run(ImportJob.objects.latest("pk"))


@pytest.mark.parametrize("bad", [0, 3])
def test_a_check_by_a_program_says_the_same(user, target, bad: int):
    program = Program(user)
    wanted = {"file": program.upload(file_of(random.Random(bad), bad, 0)), "target": target.name, "table": "things"}
    found = program.send("POST", "checks", wanted | {"accept_guesses": True}).json()
    assert (found["rows"]["source"], found["rows"]["bad"]) == (ROWS, bad), found


def test_a_key_that_comes_twice_is_no_problem_of_the_values(browser, user, target, redis):
    """Only the server finds it: the page does not say that there are no problems at all."""
    once, again = (file_of(random.Random(number), 0, 0) for number in range(2))
    source = uploaded(user, once + again.partition(b"\n")[2], "twice.csv")
    shown = answered(browser, source, show(browser, source, table="things"))
    assert stated(shown) == (0, 2 * ROWS)
    job = started(browser, source, shown_form(shown) | {"on_error": "reject"})
    assert job.rejected_rows == ROWS

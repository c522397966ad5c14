"""The card of a job's page on how the file was read."""

from html import unescape

import pytest
from django.urls import reverse

from importer.engine.errors import BadRow, ProofBroken, RowsRefused
from importer.models import ImportJob
from tests.dashboard.job_data import make_job
from tests.dashboard.new_import.test_page import show, shown_form, start, uploaded
from tests.dashboard.new_import.test_questions import buttons
from tests.engine.loads import run_sql
from tests.targets import saved_target

pytestmark = pytest.mark.django_db


def page(browser, job: ImportJob) -> str:
    return unescape(browser.get(reverse("job", args=[job.pk])).content.decode())


def test_decisions_guesses_and_fields_are_shown(browser, user, database):
    run_sql(database, "CREATE TABLE people (id INT PRIMARY KEY, name VARCHAR(50), born DATE)")
    saved_target(database)
    source = uploaded(user, b"id,nmae,born\n1,Anna,NA\n", "people.csv")
    shown = show(browser, source)
    start(browser, source, **shown_form(shown), answer=buttons(shown)["Accept the first answers"])
    html = page(browser, ImportJob.objects.get())
    assert "How the file was read" in html
    assert "1 guess accepted" in html
    assert "Guessed: Column of nmae: left out" in html
    assert "The table people has no column nmae." in html
    assert "NA is read as NULL in born." in html


def test_notes_name_the_field_of_the_form_and_no_flag_of_the_command(browser, user, mariadb):
    target = saved_target(mariadb)
    source = uploaded(user, b"id,name\n" + b"".join(b"%d,Anna\n" % number for number in range(1, 50)), "people.csv")
    values = shown_form(show(browser, source, target=str(target.pk), mode="create", table="people"))
    start(browser, source, **values)
    html = page(browser, ImportJob.objects.get())
    assert "“Primary key: id” makes it so." in html
    assert "--primary-key" not in html


def test_a_job_of_an_older_version_has_no_card(browser, user):
    assert "How the file was read" not in page(browser, make_job("succeeded"))


def test_a_file_that_has_grown_is_named(browser):
    change = {
        "of": "file",
        "name": "a.csv",
        "kind": "grown",
        "bytes": 7,
        "what": "7 bytes were appended.",
        "advice": "Import them.",
    }
    html = page(browser, make_job(ImportJob.Status.SUCCEEDED, balanced=True, outside_changes_json=[change]))
    assert "7 bytes were appended. Import them." in html


def test_rows_are_not_said_to_be_in_the_table_if_the_proof_is_broken(browser):
    problem = ProofBroken("The table was emptied.", advice="Find out who did it.")
    html = page(browser, make_job(ImportJob.Status.FAILED, problem=problem, loaded_rows=1200))
    assert "1,200 rows were recorded as loaded. How many of them are in the table now is not known." in html
    assert "of other chunks" not in html


def failed(browser, *reasons: str) -> str:
    """The page of an import that failed with rows at fault for these reasons."""
    job = make_job(ImportJob.Status.FAILED, problem=refused(*reasons), loaded_rows=1200)
    job.chunks.update(problem={})
    return page(browser, job)


def refused(*reasons: str) -> RowsRefused:
    rows = tuple(BadRow(line, "note", "x" * line, each) for line, each in enumerate(reasons, start=2))
    return RowsRefused(f"{reasons[0]} (value 'xx')", "line 2, column note", "Mend it.", rows=rows, bad_rows=len(rows))


def test_one_reason_of_all_rows_at_fault_is_said_once_and_their_values_too(browser, user):
    html = failed(browser, "It is too long.", "It is too long.")
    assert '<p class="job-problem-text">It is too long.</p>' in html
    assert "<td>It is too long.</td>" not in html
    html = failed(browser, "It is too long.", "It is no number.")
    assert all(f"<td>{each}</td>" in html for each in ("It is too long.", "It is no number."))


def test_what_would_double_stands_below_what_to_do(browser, user):
    html = failed(browser, "It is too long.")
    card = html[html.index('id="job-problem"') :]
    assert "1,200 rows of other chunks were committed." in card
    assert card.index("What to do:") < card.index("of other chunks were committed") < card.index("Row at fault")

"""The new import page: what is in a file, where it would go, what forbids it, and one button that starts it."""

import gzip
import io
import re
from html import unescape

import pytest
from django.urls import reverse

from dashboard.new_import.grid.cells import ROWS_SHOWN
from importer.engine.load import ledger
from importer.engine.mysql.connection import connect, execute, fetch_all
from importer.engine.schema.table import read_table
from importer.models import ImportJob, SourceFile, Target
from importer.preparation import loadable_tables
from importer.sources import parts, uploads
from tests.cost import cost_of
from tests.people import operator

pytestmark = pytest.mark.django_db

CITIES = b"""id,name,seen,population
1,Berlin,2013-01-01T10:00:00Z,3755251
2,"Paris, Texas",2013-01-02T11:00:00Z,NA
3,<script>alert(1)</script>,2013-01-03T12:00:00Z,24476
"""
HTMX = {"HX-Request": "true"}
TABLES = (
    "CREATE TABLE cities (id INT PRIMARY KEY, name VARCHAR(60) NOT NULL, seen DATETIME, population INT) ENGINE=InnoDB",
    "CREATE TABLE notes (id INT, body TEXT) ENGINE=MyISAM",
    "CREATE TABLE strict_ones (id INT PRIMARY KEY, code CHAR(3) NOT NULL) ENGINE=InnoDB",
)


@pytest.fixture
def wrong_target():
    return Target.objects.create(name="nowhere", host="127.0.0.1", port=1, user="u", database="d", tls="off")


def uploaded(user, content=CITIES, name="cities.csv"):
    source = uploads.begin_upload(name, len(content), user)
    parts.append(source, 0, io.BytesIO(content), len(content))
    return uploads.finish(source)


def show(browser, source, headers=HTMX, **values):
    address = reverse("new_source", args=[source.key])
    return browser.post(address, values, headers=headers) if values else browser.get(address, headers=headers)


def start(browser, source, headers=HTMX, **values):
    return browser.post(reverse("start_import", args=[source.key]), values, headers=headers)


def shown_form(answer):
    """The form as a browser would send it back."""
    html = answer.content.decode()
    values = {}
    for tag in re.findall(r"<input[^>]*>", html):
        attributes = dict(re.findall(r'(\w+)="([^"]*)"', tag))
        if attributes.get("type") in ("radio", "checkbox") and not tag.endswith(" checked>"):
            continue
        if "name" in attributes and attributes["name"] != "csrfmiddlewaretoken":
            values[attributes["name"]] = unescape(attributes.get("value", ""))
    for name, text in re.findall(r'<textarea[^>]*name="(\w+)"[^>]*>(.*?)</textarea>', html, re.DOTALL):
        values[name] = text
    for name, options in re.findall(r'<select[^>]*name="(\w+)"[^>]*>(.*?)</select>', html, re.DOTALL):
        chosen = re.search(r'<option(?: value="([^"]*)")? selected>([^<]*)', options)
        first = re.search(r'<option value="([^"]*)"', options)
        value = (chosen[1] if chosen[1] is not None else chosen[2]) if chosen else first[1]
        values[name] = unescape(value)
    return values


class TestPage:
    def test_without_a_target_it_says_what_is_missing(self, browser):
        answer = browser.get(reverse("new"))
        assert "There is no target yet" in answer.content.decode()

    def test_it_tells_the_script_where_to_send_and_how_much(self, browser, settings):
        html = browser.get(reverse("new")).content.decode()
        assert f'data-endpoint="{reverse("uploads")}"' in html
        assert f'data-part-bytes="{settings.UPLOAD_PART_BYTES}"' in html

    def test_uploads_that_wait_are_listed_for_their_owner_alone(self, browser, user):
        uploaded(user, name="mine.csv")
        uploaded(operator("bob"), name="theirs.csv")
        uploads.begin_upload("half.csv", 100, user)
        html = browser.get(reverse("new")).content.decode()
        assert "mine.csv" in html
        assert "0 % arrived" in html
        assert "theirs.csv" not in html

    def test_a_name_is_shown_as_text(self, browser, user):
        uploaded(user, name="<img src=x onerror=alert(1)>.csv")
        html = browser.get(reverse("new")).content.decode()
        assert "<img src=x" not in html
        assert "&lt;img src=x" in html

    def test_signed_out(self, client, user):
        assert client.get(reverse("new")).status_code == 302
        assert client.get(reverse("new_source", args=[uploaded(user).key])).status_code == 302


class TestPreview:
    def test_rows_with_their_lines_and_the_plan(self, browser, user, target):
        answer = show(browser, uploaded(user))
        html = answer.content.decode()
        assert answer.status_code == 200
        assert "<html" not in html
        assert "Paris, Texas" in html
        assert re.search(r'scope="row">2</th><td[^>]*>1</td><td[^>]*>Berlin<', html)
        assert "<script>alert" not in html
        assert f"{target.database}.<wbr>cities</span></button>" in html
        assert "LOAD DATA LOCAL INFILE" in html

    def test_the_table_is_read_once(self, browser, user, target, monkeypatch):
        read = []
        monkeypatch.setattr(loadable_tables, "read_table", lambda *args: read.append(args) or read_table(*args))
        show(browser, uploaded(user))
        assert len(read) == 1

    def test_the_table_that_is_called_like_the_file_is_suggested(self, browser, user, target):
        assert shown_form(show(browser, uploaded(user)))["table"] == "cities"
        assert shown_form(show(browser, uploaded(user, name="other.csv")))["table"] == ""

    def test_null_markers_and_formats_are_suggested_and_shown(self, browser, user, target):
        values = shown_form(show(browser, uploaded(user)))
        assert (values["column_3"], values["null_3"]) == ("population", '"", NA')
        assert (values["column_2"], values["format_2"]) == ("seen", "%Y-%m-%dT%H:%i:%s%z")

    def test_what_mysql_exports_as_null_is_shown_as_null(self, browser, user, target):
        source = uploaded(user, b"1\tBerlin\t\\N\t\\N\n2\tParis\\\tTexas\t\\N\t7\n3\tA\t\\N\t8\n", "cities.txt")
        answer = show(browser, source)
        assert answer.content.decode().count('class="null" title="Loaded as NULL') == 4
        values = shown_form(answer)
        assert (values["escape"], values["null_2"], values["null_3"]) == ("\\", '""', '""')

    def test_what_was_chosen_stays_and_is_planned(self, browser, user, target):
        source = uploaded(user)
        values = shown_form(show(browser, source))
        values |= {"column_2": "", "null_3": 'NA, ""', "parallelism": "3"}
        again = shown_form(show(browser, source, **values))
        assert (again["column_2"], again["null_3"], again["parallelism"]) == ("", 'NA, ""', "3")

    def test_another_table_maps_anew(self, browser, user, target):
        source = uploaded(user, b"id,body\n1,x\n", "x.csv")
        values = shown_form(show(browser, source, target=target.pk, table="cities"))
        assert values["column_1"] == ""
        values = shown_form(show(browser, source, **{**values, "table": "notes"}))
        assert values["column_1"] == "body"

    def test_another_delimiter_reads_the_file_anew(self, browser, user, target):
        source = uploaded(user, b"a;b,c\n1;2,3\n", "x.csv")
        values = shown_form(show(browser, source))
        semicolon = show(browser, source, **{**values, "delimiter": ";"}).content.decode()
        comma = show(browser, source, **{**values, "delimiter": ","}).content.decode()
        assert ">2,3<" in semicolon
        assert ">1;2<" in comma

    def test_a_small_files_chunk_has_a_size(self, browser, user, target):
        html = show(browser, uploaded(user)).content.decode()
        assert re.search(r"One chunk of at most [1-9][\d.]* [KM]iB", html)
        assert re.search(r'placeholder="[1-9][^"]* [kM]i?B, as planned"', html)

    def test_the_first_row_as_data(self, browser, user, target):
        source = uploaded(user)
        values = shown_form(show(browser, source))
        html = show(browser, source, **{**values, "header": "no"}).content.decode()
        assert re.search(r'scope="row">1</th><td[^>]*>id<', html)

    def test_the_first_rows_alone(self, browser, user, target):
        source = uploaded(user, b"id\n" + b"".join(b"%d\n" % number for number in range(500)), "x.csv")
        assert show(browser, source).content.decode().count('scope="row">') == ROWS_SHOWN

    def test_without_htmx_the_whole_page(self, browser, user, target):
        html = show(browser, uploaded(user), headers={}).content.decode()
        assert "<html" in html
        assert "Paris, Texas" in html

    def test_nothing_is_written(self, browser, user, target, database):
        show(browser, uploaded(user))
        assert not ImportJob.objects.exists()
        with connect(database) as connection:
            assert fetch_all(connection, "SELECT COUNT(*) FROM cities") == [(0,)]

    def test_somebody_elses_is_not_found(self, browser, target):
        source = uploaded(operator("bob"))
        assert show(browser, source).status_code == 404
        assert start(browser, source).status_code == 404
        assert browser.post(reverse("remove_source", args=[source.key])).status_code == 404

    def test_the_last_target_used_is_suggested(self, browser, user, target, wrong_target):
        source = uploaded(user)
        values = shown_form(show(browser, source, target=target.pk, table="cities"))
        start(browser, source, **values)
        assert shown_form(show(browser, uploaded(user)))["target"] == str(target.pk)


class TestArriving:
    def test_an_unfinished_upload_says_how_to_go_on(self, browser, user):
        source = uploads.begin_upload("a.csv", 100, user)
        assert "Drop the same file again" in show(browser, source).content.decode()

    def test_an_upload_whose_end_was_not_checked_is_finished(self, browser, user, target):
        source = uploads.begin_upload("cities.csv", len(CITIES), user)
        parts.append(source, 0, io.BytesIO(CITIES), len(CITIES))
        assert "Paris, Texas" in show(browser, source).content.decode()
        assert SourceFile.objects.get().status == SourceFile.Status.READY


class TestProblems:
    """Each is a box with what, where and advice, and no way to start; what was sent has status 422."""

    def problem(self, answer):
        html = answer.content.decode()
        assert answer.status_code == (422 if answer.request["REQUEST_METHOD"] == "POST" else 200)
        assert 'role="alert"' in html
        assert "Traceback" not in html
        button = re.search(r'<button[^>]*id="start-[^>]*>', html)
        assert button is None or " disabled" in button[0]
        return re.sub(
            r"<[^>]+>", "", re.search(r'<div class="alert alert-danger".*?</div>\s*</div>', html, re.DOTALL)[0]
        )

    def test_not_a_csv_file(self, browser, user, target, upload_dir):
        source = uploaded(user, gzip.compress(b"\x89PNG\r\n\x1a\n" + bytes(100)), "picture.csv")
        words = self.problem(show(browser, source))
        assert "picture.csv" in words
        assert str(upload_dir) not in words

    def test_an_unknown_table_names_what_comes_close(self, browser, user, target):
        assert "Did you mean cities?" in self.problem(show(browser, uploaded(user), target=target.pk, table="citys"))

    def test_a_table_that_cannot_roll_back(self, browser, user, target):
        words = self.problem(show(browser, uploaded(user), target=target.pk, table="notes"))
        assert "ENGINE=InnoDB" in words

    def test_a_required_column_without_a_field_is_marked(self, browser, user, target):
        answer = show(browser, uploaded(user), target=target.pk, table="strict_ones")
        assert "No field of the file goes into code" in self.problem(answer)
        assert re.search(r"code gets.>\s*<option value=..>must have a value", answer.content.decode())

    def test_two_fields_into_one_column(self, browser, user, target):
        source = uploaded(user)
        values = shown_form(show(browser, source))
        assert "given twice" in self.problem(show(browser, source, **{**values, "column_1": "id"}))

    def test_a_server_that_does_not_answer(self, browser, user, wrong_target):
        words = self.problem(show(browser, uploaded(user), target=wrong_target.pk))
        assert "There is no connection to the target" in words

    def test_a_server_that_does_not_answer_may_answer_later(self, browser, user, target, wrong_target):
        again = ">Try again</button>"
        assert again in show(browser, uploaded(user), target=wrong_target.pk).content.decode()
        assert again not in show(browser, uploaded(user), target=target.pk, table="nowhere").content.decode()

    def test_characters_that_do_not_go_together_keep_the_form(self, browser, user, target):
        source = uploaded(user)
        values = shown_form(show(browser, source))
        answer = show(browser, source, **{**values, "delimiter": ";", "quote": ";"})
        assert "must differ" in self.problem(answer)
        assert shown_form(answer)["delimiter"] == ";"

    @pytest.mark.parametrize("number", ["0", "-1", "x", "99999", "1e3"])
    def test_a_number_that_is_none(self, browser, user, target, number):
        source = uploaded(user)
        values = shown_form(show(browser, source))
        words = self.problem(show(browser, source, **{**values, "chunk_mib": number}))
        assert f"{number}" in words
        assert "Give a number of MiB up to 65,536" in words

    def test_without_the_ledger_it_is_planned_and_looking_does_not_make_it(self, browser, user, target, database):
        with connect(database) as connection:
            execute(connection, f"DROP TABLE {ledger.TABLE}")
            assert show(browser, uploaded(user)).status_code == 200
            assert not ledger.exists(connection)

    def test_a_file_that_is_gone_from_the_disk(self, browser, user, target):
        source = uploaded(user)
        source.file.unlink()
        assert "cities.csv" in self.problem(show(browser, source))

    def test_start_does_not_get_past_them(self, browser, user, target):
        source = uploaded(user)
        self.problem(start(browser, source, target=target.pk, table="notes"))
        assert not ImportJob.objects.exists()


class TestStart:
    def test_it_makes_the_job_as_shown_and_goes_to_its_page(self, browser, user, target):
        source = uploaded(user)
        values = shown_form(show(browser, source))
        answer = start(browser, source, **{**values, "column_2": "", "parallelism": "3", "chunk_mib": "2"})
        job = ImportJob.objects.get()
        assert answer["HX-Redirect"] == reverse("job", args=[job.pk])
        assert (job.source, job.target, job.created_by) == (source, target, user)
        assert job.table == f"{target.database}.cities"
        assert [each.column for each in job.mapping] == ["id", "name", "", "population"]
        assert job.mapping[3].null_markers == ("", "NA")
        assert (job.parallelism, job.plan.chunk_bytes) == (3, 2 * 2**20)
        assert job.data_line == 2

    def test_without_htmx_a_plain_redirect(self, browser, user, target):
        source = uploaded(user)
        answer = start(browser, source, headers={}, **shown_form(show(browser, source)))
        assert answer.status_code == 302
        assert answer["Location"] == reverse("job", args=[ImportJob.objects.get().pk])

    def test_with_other_files_on_the_page_it_stays(self, browser, user, target):
        source = uploaded(user)
        answer = start(browser, source, **shown_form(show(browser, source)), stay="1")
        assert "HX-Redirect" not in answer
        assert reverse("job", args=[ImportJob.objects.get().pk]) in answer.content.decode()

    def test_a_second_click_does_not_load_twice(self, browser, user, target):
        source = uploaded(user)
        values = shown_form(show(browser, source))
        start(browser, source, **values)
        answer = start(browser, source, **values)
        assert answer.status_code == 422
        assert "is being imported into" in answer.content.decode()
        assert ImportJob.objects.count() == 1

    def test_a_plan_that_was_not_shown_is_not_started(self, browser, user, target, database):
        source = uploaded(user)
        values = shown_form(show(browser, source))
        with connect(database) as connection:
            execute(connection, "CREATE TABLE towns LIKE cities")
        answer = start(browser, source, **{**values, "table": "towns"})
        assert answer.status_code == 422
        assert "changed since it was shown" in answer.content.decode()
        assert not ImportJob.objects.exists()

    def test_only_by_post(self, browser, user, target):
        address = reverse("start_import", args=[uploaded(user).key])
        assert browser.get(address).status_code == 405

    def test_a_table_with_very_many_columns(self, browser, user, target, database):
        names = [f"c{number}" for number in range(1000)]
        with connect(database) as connection:
            execute(connection, f"CREATE TABLE wide ({', '.join(f'{name} TINYINT' for name in names)}) ENGINE=InnoDB")
        source = uploaded(user, (",".join(names) + "\n" + ",".join("1" * 1000) + "\n").encode(), "wide.csv")
        shown = show(browser, source)
        assert len(shown.content) < 400_000
        # About 1.5 s of processor time.
        assert cost_of(lambda: show(browser, source)).calls < 6_000_000
        values = shown_form(shown) | {"column_0": "", "column_1": "c0"}
        assert start(browser, source, **values).status_code == 200
        assert [each.column for each in ImportJob.objects.get().mapping[:3]] == ["", "c0", "c2"]


class TestRemove:
    def test_file_and_row_go(self, browser, user, upload_dir):
        source = uploaded(user)
        answer = browser.post(reverse("remove_source", args=[source.key]))
        assert answer["Location"] == reverse("new")
        assert list(upload_dir.iterdir()) == []

    def test_an_imported_one_stays_and_says_why(self, browser, user, target):
        source = uploaded(user)
        start(browser, source, **shown_form(show(browser, source)))
        answer = browser.post(reverse("remove_source", args=[source.key]), headers=HTMX)
        assert answer.status_code == 422
        assert "1 import of this file" in answer.content.decode()
        assert source.file.exists()


class TestTables:
    def test_search(self, browser, target):
        html = browser.get(reverse("new_tables"), {"target": target.pk, "table": "it"}).content.decode()
        assert re.findall(r'value="(\w+)"', html) == ["cities"]

    def test_a_server_that_does_not_answer_offers_nothing(self, browser, wrong_target):
        answer = browser.get(reverse("new_tables"), {"target": wrong_target.pk})
        assert (answer.status_code, answer.content.strip()) == (200, b"")

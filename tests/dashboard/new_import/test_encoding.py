"""The new import page: how a file's text is read, and what is packed."""

import gzip

import pytest

from importer.models import ImportJob
from importer.preparation.loadable_tables import table_name_of
from tests.dashboard.new_import.test_page import show, shown_form, start, uploaded
from tests.engine.packing import PACKED

pytestmark = pytest.mark.django_db

TEXT = "id,name\n1,Zoë\n2,Jürgen €\n"
TABLES = ("CREATE TABLE people (id INT PRIMARY KEY, name VARCHAR(60)) ENGINE=InnoDB",)


class TestEncoding:
    def test_a_guess_is_preselected_shown_decoded_and_said(self, browser, user):
        answer = show(browser, uploaded(user, TEXT.encode("cp1252")))
        html = answer.content.decode()
        assert shown_form(answer)["encoding"] == "cp1252"
        assert ">Jürgen €</td>" in html
        assert "The byte 0xEB on line 2 is not UTF-8; cp1252 is a guess." in html

    def test_another_choice_reads_it_anew(self, browser, user):
        source = uploaded(user, TEXT.encode("cp1250", "replace"))
        values = shown_form(show(browser, source))
        answer = show(browser, source, **{**values, "encoding": "latin2"})
        assert shown_form(answer)["encoding"] == "iso8859-2"
        assert "it is read as iso8859-2: check the words below" in answer.content.decode()

    def test_common_ones_are_offered(self, browser, user):
        html = show(browser, uploaded(user)).content.decode()
        assert '<option value="shift_jis">Japanese</option>' in html

    @pytest.mark.parametrize("name", ["nonsense", "base64", "", "<b>"])
    def test_what_is_no_encoding_keeps_the_form(self, browser, user, name):
        source = uploaded(user)
        answer = show(browser, source, **{**shown_form(show(browser, source)), "encoding": name})
        assert answer.status_code == 422
        assert "is not the name of a text encoding" in answer.content.decode()
        assert shown_form(answer)["encoding"] in (name, name.replace("<", "&lt;").replace(">", "&gt;"))

    def test_a_mark_is_stronger_than_a_choice(self, browser, user):
        source = uploaded(user, TEXT.encode("utf-16"))
        values = shown_form(show(browser, source))
        assert values["encoding"] == "utf-16-le"
        answer = show(browser, source, **{**values, "encoding": "cp1252"})
        assert shown_form(answer)["encoding"] == "utf-16-le"
        assert "So it is not read as cp1252." in answer.content.decode()

    def test_the_plan_says_how_it_is_read(self, browser, user, target):
        html = show(browser, uploaded(user, TEXT.encode("cp1252"), name="people.csv")).content.decode()
        assert "Transcoded from cp1252" in html
        html = show(browser, uploaded(user, TEXT.encode("utf-16"), name="people.csv")).content.decode()
        assert "A plain copy is made first" in html
        assert "utf-16-le cannot be read in parallel" in html

    def test_what_was_chosen_is_what_the_job_reads(self, browser, user, target):
        source = uploaded(user, gzip.compress(TEXT.encode("cp1252")), name="people.csv.gz")
        values = shown_form(show(browser, source))
        assert start(browser, source, **values).status_code == 422
        values = shown_form(show(browser, source, **values, answer='{"encoding": "cp1252"}'))
        assert start(browser, source, **values).status_code in (200, 204)
        job = ImportJob.objects.get()
        assert (job.packing, job.file_dialect.encoding, job.needs_copy) == ("gzip", "cp1252", True)


class TestPacked:
    @pytest.mark.parametrize(("name", "said"), [("gzip", "gzip"), ("zstd", "Zstandard"), ("zip", "ZIP")])
    def test_it_is_said_with_its_size(self, browser, user, name, said):
        packed = PACKED[name](TEXT.encode())
        html = show(browser, uploaded(user, packed)).content.decode()
        assert f"{said}, {len(packed)} bytes packed" in html
        assert ">Jürgen €</td>" in html

    def test_the_page_says_what_may_be_dropped(self, browser):
        assert "also compressed: .gz, .zst, .bz2" in browser.get("/new/").content.decode()

    def test_what_cannot_be_unpacked_is_said(self, browser, user):
        answer = show(browser, uploaded(user, PACKED["gzip"](TEXT.encode())[:-3]))
        assert "in the middle of its compressed data" in answer.content.decode()

    @pytest.mark.parametrize(
        ("name", "stem"),
        [
            *[("people.csv", "people"), ("people.csv.gz", "people"), ("a.b.csv.ZST", "a.b"), ("a.b.zip", "a.b")],
            *[("sales \N{GRINNING FACE}.csv", "sales"), ("\N{GRINNING FACE}.csv", "imported"), ("a" * 99, "a" * 64)],
        ],
    )
    def test_the_table_that_is_called_like_it(self, name, stem):
        assert table_name_of(name) == stem

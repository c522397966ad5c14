"""The page of a new import, for a file that cannot be read: its lines, the field at fault, a way out."""

import html

import pytest

from tests.dashboard.new_import.test_page import show, shown_form, uploaded

pytestmark = pytest.mark.django_db

UNCLOSED = 'id;name\n1;"a\n' + "2;b\n" * 20


def answers(page: str) -> list[str]:
    return [html.unescape(each.split('"')[0]) for each in page.split('name="answer" value="')[1:]]


class TestUnreadable:
    def test_the_lines_around_the_fault_are_shown_with_its_place(self, browser, user):
        page = show(browser, uploaded(user, UNCLOSED.encode())).content.decode()
        assert '<li value="1"><code>id;name</code></li>' in page
        assert '<li value="2" class="faulty"><code>1;<mark>&quot;</mark>a</code></li>' in page
        assert '<li value="3"><code>2;b</code></li>' in page
        assert '<li value="4">' not in page

    def test_one_button_reads_the_file(self, browser, user):
        source = uploaded(user, UNCLOSED.encode())
        answer = show(browser, source)
        assert answers(answer.content.decode()) == ['{"quote": ""}']
        read = show(browser, source, **shown_form(answer), answer='{"quote": ""}')
        assert read.status_code == 200
        assert (shown_form(read)["quote"], shown_form(read)["delimiter"]) == ("", ";")

    def test_no_button_that_would_not_read_it(self, browser, user):
        source = uploaded(user, b'id,name\n1,"a\r\n2,b\r\n')
        answer = show(browser, source, line_end="lf")
        assert "Line 3 ends with CR LF" in answer.content.decode()
        assert answers(answer.content.decode()) == []

    def test_the_field_of_the_advice_is_marked_and_the_others_fold(self, browser, user):
        page = show(browser, uploaded(user, UNCLOSED.encode())).content.decode()
        assert page.count("is-invalid") == 1
        marked, more = page.index("is-invalid"), page.index("More of the format")
        assert marked < page.index('name="quote"') < more < page.index('name="delimiter"')

    def test_the_format_is_shown_as_the_file_was_read(self, browser, user):
        assert shown_form(show(browser, uploaded(user, UNCLOSED.encode())))["delimiter"] == ";"

    def test_another_line_end_than_stated_can_be_mended_by_a_button(self, browser, user):
        source = uploaded(user, b"id,name\r\n1,a\r\n")
        answer = show(browser, source, **{**shown_form(show(browser, source)), "line_end": "lf"})
        assert answers(answer.content.decode()) == ['{"line_end": "any"}']
        assert show(browser, source, **shown_form(answer), answer='{"line_end": "any"}').status_code == 200

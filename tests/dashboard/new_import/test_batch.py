"""Several files on one page: which of them the settings of the first one fit, and why they do not fit the others."""

from html import unescape

import pytest
from django.urls import reverse

from tests.dashboard.new_import.test_page import show, shown_form, uploaded
from tests.dashboard.new_import.test_questions import buttons

pytestmark = pytest.mark.django_db

# The rows beyond those that a page shows.
MANY = b"".join(b"%d,ASCII\n" % n for n in range(3000))
MUELLER = "9,Müller\n"


def differences(browser, user, first, second, **values):
    """What the page says about the second file."""
    source, other = uploaded(user, first, "a.csv"), uploaded(user, b"id,name\n" + second, "b.csv")
    shown = show(browser, source)
    if "answer" in values:
        values["answer"] = buttons(shown)[values["answer"]]
    answer = show(browser, source, **shown_form(shown) | values, also=str(other.key))
    [compared] = answer.context["batch"].others
    return compared.differs


@pytest.mark.parametrize(
    ("second", "says"),
    [
        (MUELLER.encode("cp1252"), ""),
        (MANY, ""),
        (MUELLER.encode(), "another format: encoding"),
        (MANY + MUELLER.encode(), "another format: encoding"),
    ],
)
@pytest.mark.parametrize("answered", [False, True])
def test_a_file_in_utf8_is_not_read_in_the_first_ones_encoding(browser, user, second, says, answered):
    values = {"encoding": "cp1252", "answered": '["encoding"]'} if answered else {}
    first = ("id,name\n" + MUELLER).encode("cp1252")
    assert differences(browser, user, first, second, **values) == says


@pytest.mark.parametrize(
    ("second", "says"), [(b"1,one\nTotal,1\n", ""), (b"1,one\n2,two\n", "The file ends without a footer (2,two)")]
)
def test_a_footer_is_not_cut_off_a_file_that_has_none(browser, user, second, says):
    first = b"id,name\n1,one\n2,two\nTotal,2\n"
    assert differences(browser, user, first, second, answer="A footer").startswith(says)


def test_the_others_stay_when_the_first_one_begins_again(browser, user):
    source, other = uploaded(user), uploaded(user, name="b.csv")
    address = f"{reverse('new_source', args=[source.key])}?afresh=yes&also={other.key}"
    shown = show(browser, source, skip_rows="1", also=str(other.key)).content.decode()
    assert unescape(shown).count(f'"{address}"') == 2
    assert [each.source for each in browser.get(address).context["batch"].others] == [other]

"""Several files on one page: which of them the settings of the first one fit, and why they do not fit the others."""

from html import unescape

import pytest
from django.urls import reverse

from importer.engine.load import ledger
from importer.engine.mysql.connection import connect, execute
from importer.models import ImportJob, LimitCount
from tests.dashboard.new_import.test_page import CITIES, TABLES, show, shown_form, start, uploaded
from tests.dashboard.new_import.test_questions import buttons
from tests.targets import saved_target

__all__ = ["TABLES"]

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
    ("second", "says"), [(b"1,one\nTotal,1\n", ""), (b"1,one\n2,two\n", "The file has no lines of a footer")]
)
def test_a_footer_is_not_cut_off_a_file_that_has_none(browser, user, second, says):
    first = b"id,name\n1,one\n2,two\nTotal,2\n"
    assert differences(browser, user, first, second, answer="A footer").startswith(says)


def test_the_first_look_at_another_file_says_what_does_not_fit(browser, user, target):
    source = uploaded(user)
    bad = uploaded(user, b"id,name,seen,population\n7,Rome,never,1\n8,Oslo,2013-01-01T10:00:00Z,1\n", "b.csv")
    good = uploaded(user, CITIES, "c.csv")
    also = f"{bad.key},{good.key}"
    shown = show(browser, source, **shown_form(show(browser, source)), also=also)
    assert unescape(shown.text).count(" rows do not fit") == 1
    assert "1 of 2 rows do not fit: line " in shown.text


def test_the_others_stay_when_the_first_one_begins_again(browser, user):
    source, other = uploaded(user), uploaded(user, name="b.csv")
    address = f"{reverse('new_source', args=[source.key])}?afresh=yes&also={other.key}"
    shown = show(browser, source, skip_rows="1", also=str(other.key)).content.decode()
    assert unescape(shown).count(f'"{address}"') == 2
    assert [each.source for each in browser.get(address).context["batch"].others] == [other]


def test_each_file_of_several_counts_as_a_start(browser, user, mariadb, settings):
    with connect(mariadb) as connection:
        ledger.create(connection)
        execute(connection, "CREATE TABLE cities (id INT PRIMARY KEY, name VARCHAR(20))")
    target = saved_target(mariadb)
    source, *others = [uploaded(user, b"id,name\n%d,x\n" % n, f"{n}.csv") for n in range(3)]
    also = ",".join(str(each.key) for each in others)
    values = {"target": target.pk, "table": "cities", "also": also, "apply_to_all": "on"}
    form = shown_form(show(browser, source, **values)) | values
    settings.STARTS_PER_MINUTE = 2
    told = str(start(browser, source, **form).context["problem"])
    assert "2 times in a minute: 2 more are too many. Choose fewer at once, or ask an admin" in told
    assert not ImportJob.objects.exists()
    settings.STARTS_PER_MINUTE = 4
    start(browser, source, **form)
    counted = LimitCount.objects.get(key=f"STARTS_PER_MINUTE {user.pk}")
    assert (ImportJob.objects.count(), counted.uses) == (3, 4)

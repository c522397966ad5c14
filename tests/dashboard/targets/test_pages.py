"""Targets in the browser: what the form takes, what it never shows, and what a check says."""

import html
import re

import certifi
import pytest
from django.conf import settings
from django.urls import reverse

from importer.engine.errors import TargetUnreachable
from importer.engine.mysql.error_messages import RIGHTS
from importer.engine.mysql.sign_in.reasons import REASON_HIDDEN
from importer.models import Schedule, SourceConnection, Target
from tests import people
from tests.dashboard.job_data import make_job
from tests.file_servers.web import web_files
from tests.people import admin
from tests.targets import silent_target

pytestmark = pytest.mark.django_db

SECRET = "s3cret-in-the-form"
FINDINGS = [
    {"name": "Connection", "status": "ok", "message": "connected to MySQL 9.7", "fix": ""},
    {
        "name": "<b>local_infile</b>",
        "status": "fail",
        "message": "it is off",
        "fix": "SET PERSIST local_infile = ON; and in my.cnf",
    },
    {"name": "Redo log", "status": "warn", "message": "small <script>alert(1)</script>", "fix": ""},
]


@pytest.fixture
def browser(client):
    client.force_login(admin("ann"))
    return client


@pytest.fixture
def target():
    return silent_target(SECRET)


def add_schedules(target, count):
    connection = SourceConnection.objects.create(name="incoming", kind="folder", base="/nowhere")
    for number in range(count):
        Schedule.objects.create(
            name=f"nightly-{number}",
            target=target,
            connection=connection,
            header=[],
            columns_json=[],
            dialect_json={},
            mapping_json=[],
        )


def values(**changes):
    """A form that is right but for what the test changes; nothing listens on port 1."""
    return {
        "name": "warehouse",
        "host": "127.0.0.1",
        "port": "1",
        "user": "loader",
        "database": "osm",
        "tls": "off",
        "tls_ca": "",
        "ceiling": "8",
        "password": "",
        **changes,
    }


class TestAdding:
    def test_saved_checked_and_shown(self, browser):
        answer = browser.post(reverse("target_new"), values(password=SECRET), follow=True)
        made = Target.objects.get()
        assert made.address.password == SECRET
        assert made.checked_at
        page = answer.content.decode()
        assert "to fix" in page
        assert SECRET not in page

    def test_against_a_real_server(self, browser, database):
        changes = {name: getattr(database, name) for name in ("host", "port", "user", "password", "database")}
        answer = browser.post(reverse("target_new"), values(**changes), follow=True)
        made = Target.objects.get()
        assert [each for each in made.findings if each["status"] == "fail"] == []
        assert "Ready" in answer.content.decode()
        assert made.findings[0]["message"] in answer.context["target"].findings[0]["message"]

    def test_the_host_may_be_the_path_of_a_unix_socket(self, browser):
        answer = browser.post(reverse("target_new"), values(host="/nowhere/mysqld.sock"), follow=True)
        assert Target.objects.get().address.host == "/nowhere/mysqld.sock"
        assert "/nowhere/mysqld.sock" in answer.content.decode()

    @pytest.mark.parametrize(
        ("field", "value", "said"),
        [
            ("host", "mysql://db.example.org", "host alone"),
            ("host", "db.example.org/sales", "host alone"),
            ("host", "db example", "no spaces"),
            ("host", "root@db", "in its own field"),
            ("host", "db:3306", "port in its own field"),
            ("host", "169.254.169.254", "cloud metadata"),
            ("port", "0", "greater than or equal to 1"),
            ("port", "65536", "less than or equal to 65535"),
            ("port", "abc", "whole number"),
            ("database", "a/b", "no slashes"),
            ("database", "", "required"),
            ("database", "x" * 65, "at most 64"),
            ("name", "a b", "Letters, digits"),
            ("tls", "maybe", "not one of the available choices"),
            ("tls_ca", "/no/such/file.pem", "can be read from"),
            ("tls_ca", "/etc/passwd", "can be read from"),
            ("tls_ca", "/dev/zero", "can be read from"),
            ("tls_ca", "/", "can be read from"),
            ("tls_ca", str(settings.VAR_DIR / "uploads" / "ca.pem"), "outside the folders of Millrace"),
            ("server_key", "no key", "no public RSA key"),
            ("label", "EU West", "small letters, digits and hyphens"),
            ("ceiling", "0", "greater than or equal to 1"),
        ],
    )
    def test_what_is_wrong_is_said_beside_its_field_and_nothing_is_saved(self, browser, field, value, said):
        answer = browser.post(reverse("target_new"), values(**{field: value}))
        assert answer.status_code == 422
        assert said in " ".join(answer.context["form"].errors[field])
        assert not Target.objects.exists()

    def test_an_ipv6_address_loses_its_brackets(self, browser):
        browser.post(reverse("target_new"), values(host="[::1]"))
        assert Target.objects.get().host == "::1"

    def test_a_refused_form_does_not_give_the_password_back(self, browser):
        answer = browser.post(reverse("target_new"), values(host="a b", password=SECRET))
        assert SECRET not in answer.content.decode()

    def test_name_taken(self, browser, target):
        answer = browser.post(reverse("target_new"), values())
        assert "of this name already" in answer.content.decode()


class TestEditing:
    def edit(self, browser, target, **changes):
        return browser.post(reverse("target", args=[target.pk]), values(**changes))

    def test_the_page_shows_neither_password_nor_ciphertext(self, browser, target):
        page = browser.get(reverse("target", args=[target.pk])).content.decode()
        assert SECRET not in page
        assert target.password_ciphertext not in page

    def test_an_empty_password_keeps_the_old_one(self, browser, target):
        assert self.edit(browser, target, ceiling="3").status_code == 302
        target.refresh_from_db()
        assert (target.ceiling, target.address.password) == (3, SECRET)

    def test_a_new_password_replaces_it(self, browser, target):
        self.edit(browser, target, password=" other ")
        target.refresh_from_db()
        assert target.address.password == " other "

    @pytest.mark.parametrize(
        "changes",
        [
            {"host": "127.0.0.2"},
            {"port": "2"},
            {"user": "root"},
            {"database": "other"},
            {"tls": "encrypt"},
            {"tls_ca": certifi.where()},
        ],
    )
    def test_the_stored_password_is_not_sent_elsewhere(self, browser, target, changes):
        answer = self.edit(browser, target, **changes)
        assert answer.status_code == 422
        assert "Enter the password again" in answer.content.decode()
        target.refresh_from_db()
        assert str(getattr(target, *changes)) not in changes.values()
        assert self.edit(browser, target, password="another", **changes).status_code == 302

    def test_a_target_that_an_import_must_go_back_to_stays_where_it_is(self, browser, target):
        job = make_job("loading")
        answer = self.edit(browser, target, port="2", password="another")
        assert answer.status_code == 422
        assert f"work to do there: {job.pk}." in answer.content.decode()
        assert self.edit(browser, target, user="root", password="another").status_code == 302

    def test_a_refused_edit_still_names_the_target_as_it_is(self, browser, target):
        answer = self.edit(browser, target, name="not a name")
        assert "<title>warehouse" in answer.content.decode()

    def test_no_such_target(self, browser):
        assert browser.get(reverse("target", args=[99])).status_code == 404


class TestChecking:
    def test_the_button_checks_and_htmx_gets_only_the_findings(self, browser, target):
        answer = browser.post(reverse("target_check", args=[target.pk]), headers={"HX-Request": "true"})
        page = answer.content.decode()
        assert page.strip().startswith("<section")
        assert "127.0.0.1" in page
        target.refresh_from_db()
        assert target.findings[0]["status"] == "fail"

    def test_without_javascript_it_leads_back_to_the_page(self, browser, target):
        answer = browser.post(reverse("target_check", args=[target.pk]))
        assert answer["Location"] == reverse("target", args=[target.pk])

    def test_a_password_that_no_key_reads_is_said_plainly(self, browser, target):
        Target.objects.update(password_ciphertext="gibberish")
        answer = browser.post(reverse("target_check", args=[target.pk]), follow=True)
        assert "enter the password again" in answer.content.decode()

    def test_findings_worst_first_with_their_fix_and_escaped(self, browser, target):
        Target.objects.update(findings=FINDINGS, checked_at=target.created_at)
        page = browser.get(reverse("target", args=[target.pk])).content.decode()
        assert page.index("local_infile") < page.index("Redo log") < page.index("connected to MySQL 9.7")
        assert '<pre class="code" id="fix-1-1">SET PERSIST local_infile = ON;</pre>' in page
        assert "<script>alert" not in page
        assert "<b>local" not in page

    def test_the_list_tells_the_outcome(self, browser, target):
        assert "not checked yet" in browser.get(reverse("targets")).content.decode()
        Target.objects.update(findings=FINDINGS, checked_at=target.created_at)
        assert "1 problem to fix, 1 hint" in browser.get(reverse("targets")).content.decode()
        Target.objects.update(findings=FINDINGS[2:])
        assert "Ready, 1 hint" in browser.get(reverse("targets")).content.decode()


class TestDeleting:
    def test_an_unused_one_goes(self, browser, target):
        answer = browser.post(reverse("target_delete", args=[target.pk]), follow=True)
        assert "warehouse is deleted" in answer.content.decode()
        assert not Target.objects.exists()

    def test_one_with_imports_stays_and_says_how_many(self, browser, target):
        make_job(chunks=1)
        make_job(chunks=1, table="ways")
        page = browser.post(reverse("target_delete", args=[target.pk]), follow=True).content.decode()
        assert "warehouse stays: 2 imports" in page
        assert "It cannot be deleted while 2 imports belong to it" in page
        assert Target.objects.exists()

    def test_target_with_imports_and_schedules_stays_and_counts_each(self, browser, target):
        make_job(chunks=1)
        add_schedules(target, 2)
        page = browser.post(reverse("target_delete", args=[target.pk]), follow=True).content.decode()
        assert "warehouse stays: 1 import went into it, and is listed with it; 2 schedules load into it." in page
        assert "It cannot be deleted while 1 import belongs to it and 2 schedules load into it" in page

    def test_target_with_only_a_schedule_stays_and_offers_no_deletion(self, browser, target):
        add_schedules(target, 1)
        page = browser.post(reverse("target_delete", args=[target.pk]), follow=True).content.decode()
        assert "warehouse stays: 1 schedule loads into it." in page
        assert "It cannot be deleted while 1 schedule loads into it" in page
        assert 'form="delete-target"' not in page


def test_the_empty_list_leads_to_a_first_target(browser):
    assert reverse("target_new") in browser.get(reverse("targets")).content.decode()


def test_the_list_asks_as_often_for_many_targets_as_for_one(browser, django_assert_num_queries):
    for number in range(20):
        Target.objects.create(name=f"t{number}", host="h", user="u", database="d")
    with django_assert_num_queries(3):  # the session, the user with the person, the targets
        browser.get(reverse("targets"))


class TestReasons:
    """A person who may change a target's host and port, but is no admin, does not learn what answers there."""

    def said(self, browser, target, **changes):
        browser.post(reverse("target", args=[target.pk]), values(password=SECRET, **changes), follow=True)
        page = browser.get(reverse("target", args=[target.pk])).content.decode()
        return page[page.index('id="findings"') :]

    @pytest.fixture
    def ports(self, closed_port, mariadb):
        """A port where nothing listens, one of a web server, and one of a database server."""
        with web_files() as web:
            yield closed_port, web.server_address[1], mariadb.port

    @pytest.mark.parametrize("name", ["operator", "admin"])
    def test_only_admins_are_told_a_closed_port_from_an_open_one(self, name, client, target, ports):
        client.force_login(getattr(people, name)("joe"))
        answers = {self.said(client, target, port=str(port), user="nobody") for port in ports}
        told = {re.sub(r"<[^>]*>|\d+|\s+", " ", html.unescape(each)) for each in answers}
        assert (len(told) == 1) == (name == "operator")
        assert all((REASON_HIDDEN in each) == (name == "operator") for each in told)

    def test_what_an_admins_check_found_is_not_shown_to_others(self, client, target, ports):
        client.force_login(people.admin("ada"))
        assert REASON_HIDDEN not in self.said(client, target, port=str(ports[0]))
        client.force_login(people.operator("joe"))
        page = html.unescape(client.get(reverse("target", args=[target.pk])).content.decode())
        assert REASON_HIDDEN in page
        assert "No server answers" not in page

    def test_the_problem_of_an_import_has_no_reason_for_others(self, client, target):
        problem = TargetUnreachable("No server answers there.", where="h:1")
        job = make_job("failed", problem=problem, target=target)
        for made, shown in ((people.operator("joe"), REASON_HIDDEN), (people.admin("ada"), "No server answers there.")):
            client.force_login(made)
            page = html.unescape(client.get(reverse("job", args=[job.pk])).content.decode())
            assert shown in page
            assert ("No server answers" in page) == (made.username == "ada")


@pytest.mark.needs_database_server
def test_a_server_without_tls_is_one_click_and_the_password_away_from_working(browser, servers):
    """The shared MariaDB has no certificate. The stored password is not sent to a server that is less protected."""
    address = servers["mariadb"].address
    form = {
        "name": "warehouse",
        "host": address.host,
        "port": address.port,
        "user": "root",
        "database": "mysql",
        "ceiling": 4,
    }
    page = browser.post(reverse("target_new"), {**form, "password": SECRET, "tls": "verify"}, follow=True)
    (link,) = re.findall(r'href="(\?tls=\w+)#id_password">Continue without TLS', page.text)
    made = Target.objects.get()
    chosen = browser.get(reverse("target", args=[made.pk]) + link)
    assert chosen.context["form"]["tls"].value() == "off"
    assert "Enter the password again, and save." in chosen.text
    assert Target.objects.get().tls == "verify"


def test_an_unknown_tls_setting_in_the_address_chooses_nothing(browser, target):
    page = browser.get(reverse("target", args=[target.pk]) + "?tls=none")
    assert page.context["form"]["tls"].value() == "off"


def test_a_new_target_needs_the_rights_that_a_check_advises(browser):
    page = browser.get(reverse("target_new")).content.decode()
    assert f"GRANT {RIGHTS} ON" in " ".join(page.split())

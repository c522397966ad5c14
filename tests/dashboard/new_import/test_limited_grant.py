"""A grant that is limited to some tables: the others are not offered, described or named."""

import pytest
from django.test import Client
from django.urls import reverse

from importer.access import people
from importer.access.acting import acting_as
from importer.engine.errors import Problem
from importer.engine.mysql.connection import connect, execute
from importer.models import Level
from importer.preparation import loadable_tables
from tests.dashboard.new_import.test_page import HTMX, show, uploaded
from tests.people import operator, stranger
from tests.targets import saved_target

pytestmark = pytest.mark.django_db


@pytest.fixture
def target(mariadb):
    with connect(mariadb) as connection:
        for name in ("cities", "citizens", "salaries"):
            execute(connection, f"CREATE TABLE {name} (id INT PRIMARY KEY, of_{name} TEXT) ENGINE=InnoDB")
    return saved_target(mariadb)


@pytest.fixture
def eve(target):
    """An operator who may load into the table cities, and no other."""
    user = stranger("eve")
    people.grant(user, "target", Level.LOAD, target, [f"{target.database}.cities"])
    return user


@pytest.fixture
def page(eve) -> Client:
    client = Client()
    client.force_login(eve)
    return client


def tables(client: Client, target, search: str = "") -> str:
    return client.get(reverse("new_tables"), {"target": target.pk, "table": search}).content.decode()


def test_the_list_of_tables_has_only_those_to_load_into(page, target):
    assert "cities" in tables(page, target)
    assert "citizens" not in tables(page, target)
    assert "salaries" not in tables(page, target)


def test_all_tables_are_listed_for_who_may_load_into_all(target):
    client = Client()
    client.force_login(operator("ann"))
    assert "salaries" in tables(client, target)


def test_who_may_only_look_is_offered_no_table(target):
    client = Client()
    client.force_login(operator("ann", Level.LOOK))
    assert "cities" not in tables(client, target)


def test_a_limit_finds_its_table_behind_many_others(page, target, monkeypatch):
    monkeypatch.setattr(loadable_tables, "MOST_OFFERED", 1)
    with connect(target.address) as connection:
        execute(connection, "CREATE TABLE a_first_one (id INT) ENGINE=InnoDB")
    assert "cities" in tables(page, target)


def test_the_preview_does_not_describe_another_table(page, eve, target):
    answer = show(page, uploaded(eve), target=target.pk, table="salaries")
    html = answer.content.decode()
    assert "may not load into" in html
    assert "of_salaries" not in html
    assert "of_cities" in show(page, uploaded(eve), target=target.pk, table="cities").content.decode()


def test_the_preview_of_a_file_named_like_another_table_does_not_choose_it(page, eve, target):
    html = page.get(
        reverse("new_source", args=[uploaded(eve, name="salaries.csv").key]), {"target": target.pk}, headers=HTMX
    ).content.decode()
    assert "of_salaries" not in html


@pytest.mark.parametrize("name", ["citie", "salarie"])
def test_a_misspelt_name_is_answered_only_by_names_to_load_into(page, eve, target, name: str):
    people.grant(eve, "target", Level.LOAD, target, [f"{target.database}.{name}", f"{target.database}.cities"])
    html = show(page, uploaded(eve), target=target.pk, table=name).content.decode()
    assert "citizens" not in html
    assert "salaries" not in html
    assert ("Did you mean cities?" in html) == (name == "citie")


def test_another_table_is_refused_before_it_is_looked_for(eve, target):
    """Whether it exists is not told either."""
    with acting_as(eve), connect(target.address) as connection:
        for name in ("salaries", "missing"):
            with pytest.raises(Problem, match="may not load into"):
                loadable_tables.read_loadable(connection, target, target.database, name)

"""No name and no text ends early where a statement quotes it: both servers give back what was quoted."""

from itertools import product

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from importer.engine.errors import TargetProblem
from importer.engine.mysql.connection import Address, connect_loader, execute, fetch_all
from importer.engine.mysql.quoting import quote_name, quote_text
from tests.examples import examples

pytestmark = pytest.mark.both_servers

# What opens, closes or escapes something in SQL, ends a statement, or is half of another character.
HAZARDS = [
    "'",
    '"',
    "`",
    "\\",
    ";",
    "-- ",
    "/*",
    "*/",
    "#",
    "\n",
    "\r",
    "\t",
    "\x1a",
    "%s",
    "%(x)s",
    "é",
    "縗",
    "🎉",
    " ",
]
# MySQL's manual, Schema Object Names: no character beyond U+FFFF, and no space at the end.
IN_NAMES = [each for each in HAZARDS if each != "🎉"]


@pytest.fixture
def connection(database: Address):
    with connect_loader(database) as opened:
        yield opened


def test_every_text_of_hazards_comes_back_from_a_literal(connection):
    texts = ["".join(each) for length in (1, 2, 3) for each in product([*HAZARDS, "\0"], repeat=length)]
    for start in range(0, len(texts), 500):
        part = texts[start : start + 500]
        [row] = fetch_all(connection, "SELECT " + ", ".join(f"{quote_text(each)} AS c" for each in part))
        assert list(row) == part


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1, max_size=50))
@examples(200, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_comes_back_from_a_literal(connection, texts: list[str]):
    [row] = fetch_all(connection, "SELECT " + ", ".join(f"{quote_text(each)} AS c" for each in texts))
    assert list(row) == texts


def test_every_name_of_hazards_is_the_name_of_a_column(connection):
    names = [f"{''.join(each)}." for length in (1, 2) for each in product(IN_NAMES, repeat=length)]
    execute(connection, "CREATE TABLE victim (n INT)")
    execute(connection, f"CREATE TABLE t ({', '.join(f'{quote_name(each)} TINYINT' for each in names)})")
    found = fetch_all(
        connection,
        "SELECT column_name FROM information_schema.columns WHERE table_name = 't' ORDER BY ordinal_position",
    )
    assert [name for (name,) in found] == names
    assert fetch_all(connection, "SELECT COUNT(*) FROM victim") == [(0,)]


def test_a_name_with_a_nul_is_refused():
    with pytest.raises(TargetProblem, match="NUL"):
        quote_name("a\0b")

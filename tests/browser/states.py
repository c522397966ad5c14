"""States of the page of a new import on a real server, for pictures: the files, the address, and what is pressed."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from django.contrib.auth.models import User
from django.urls import reverse
from playwright.sync_api import Page as Tab

from importer.engine.mysql.connection import Address, connect, execute
from importer.models import SourceFile
from importer.sources import uploads

TABLES = (
    "CREATE TABLE needy (id INT, price DECIMAL(9,2), day DATE, line INT NOT NULL)",
    "CREATE TABLE prices (id INT PRIMARY KEY, price DECIMAL(9,2), sold TINYINT, day DATE, kind ENUM('a','b'),"
    " name VARCHAR(20) NOT NULL, source VARCHAR(80), line INT NOT NULL DEFAULT 0, loaded DATETIME,"
    " twice INT AS (id * 2)) CHARSET utf8mb4",
    f"CREATE TABLE readings (id INT PRIMARY KEY, {', '.join(f'measure_{number:02} INT' for number in range(1, 61))})",
)
PRICES = "id;price;sold;day;kind;name;extra\n" + "".join(
    f"{number};1.{number:03},50;{'ja' if number % 3 else 'nein'};{number % 28 + 1}.12.2024;{'ab'[number % 2]};"
    f"Café {number};x\n"
    for number in range(1, 400)
)
BAD = PRICES.replace("1.003,50", "free").replace("Café 5;", "The name of a thing which is too long;")
ORDERS = "Kundennr;PLZ;Größe;Bestelldatum;Betrag;Bemerkung\n" + "".join(
    f"{1000 + number};0{1067 + number};{'SML'[number % 3]};{number % 12 + 1:02}/{number % 11 + 1:02}/2024;"
    f"1.{number:03},56;\n"
    for number in range(1, 200)
)
WIDE = "id," + ",".join(f"measure_{number:02}" for number in range(1, 31)) + "\n" + ",".join(["1"] * 31) + "\n"
CREATE = "?mode=create&table=orders"


def nothing(_tab: Tab) -> None:
    """The page as it opens."""


def open_all(tab: Tab) -> None:
    """Open everything that is closed at first, but the menus."""
    tab.evaluate("() => document.querySelectorAll('main details:not(.menu)').forEach((each) => { each.open = true; })")


def open_preset_menu(tab: Tab) -> None:
    tab.get_by_role("button", name="Accept the first answers").click()
    tab.get_by_text("Save or schedule", exact=True).click()


def add_a_column(tab: Tab) -> None:
    tab.get_by_role("button", name="Add the column extra").click()
    tab.get_by_label("Type of the new column").wait_for()


@dataclass(frozen=True)
class State:
    """`files`: name and text of each, the first one is opened. `query`: of the page. `do`: what is pressed then."""

    name: str
    files: tuple[tuple[str, str], ...]
    query: str = ""
    do: Callable[[Tab], None] = nothing


PRICES_FILE = ("prices.csv", PRICES)
STATES = (
    State("empty", ()),
    State("mapped", (PRICES_FILE,)),
    State("no-value", (("needy.csv", PRICES),)),
    State("mapped-open", (PRICES_FILE,), "?table=prices", open_all),
    State("preset", (PRICES_FILE,), "", open_preset_menu),
    State("added-column", (PRICES_FILE,), "", add_a_column),
    State("bad", (("prices.csv", BAD),)),
    State("no-table", (("orders.csv", ORDERS),)),
    State("create", (("orders.csv", ORDERS),), CREATE),
    State("create-exists", (PRICES_FILE,), "?mode=create&table=prices"),
    State("wide", (("readings.csv", WIDE),)),
    State("batch", (PRICES_FILE, ("prices-2.csv", PRICES.replace("1.0", "2.0")), ("orders.csv", ORDERS))),
    State("unreadable", (("odd.csv", 'id;name\n1;"a\n' + "2;b\n" * 20),), "?table=prices"),
    State("no-such-table", (PRICES_FILE,), "?table=nowhere"),
)


def make_tables(database: Address) -> None:
    """The tables that the states need."""
    with connect(database) as connection:
        for statement in TABLES:
            execute(connection, statement)


def uploaded(folder: Path, state: State) -> list[SourceFile]:
    """The files of a state as uploads of the only person."""
    sources: list[SourceFile] = []
    for name, text in state.files:
        path = folder / state.name / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(text)
        source = uploads.register(path)
        source.owned, source.uploaded_by = True, User.objects.get()
        source.save()
        sources.append(source)
    return sources


def address(state: State, sources: list[SourceFile]) -> str:
    """Where the page shows the state."""
    if not sources:
        return reverse("new")
    query = state.query
    if sources[1:]:
        query += ("&" if query else "?") + "also=" + ",".join(str(each.key) for each in sources[1:])
    return reverse("new_source", args=[sources[0].key]) + query

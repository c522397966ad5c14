"""Choosing how fields are read, in a real browser: what is shown is what would arrive; presets come back."""

import re
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from playwright.sync_api import Page, expect

from importer.engine.mysql.connection import Address
from importer.models import ImportJob, MappingPreset, SourceFile
from importer.sources import uploads
from tests.browser.conftest import expect_no_scrolling_sideways
from tests.browser.held import HeldRequest
from tests.engine.loads import run_sql
from tests.targets import saved_target

pytestmark = pytest.mark.django_db(transaction=True)

COLUMNS = (
    "id INT, price DECIMAL(9,2), sold TINYINT, day DATE, kind ENUM('a','b'), name VARCHAR(20), flags BIT(4),"
    " source VARCHAR(80), line INT, loaded DATETIME, twice INT AS (id * 2)"
)
SHOWS_EACH_OPTION = """select => {
    const style = getComputedStyle(select), canvas = document.createElement("canvas").getContext("2d");
    canvas.font = style.font;
    const widest = Math.max(...[...select.options].map((each) => canvas.measureText(each.text).width));
    return widest <= select.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
}"""
ROWS = "id;price;sold;day;kind;name;flags;extra\n1;1.234,50;ja;31.12.2024;a; Zoë;5;x\n2;NA;nein;01.01.2025;b;Bo;1;y\n"


@pytest.fixture
def upload(database: Address, tmp_path: Path, opened) -> SourceFile:
    run_sql(database, f"CREATE TABLE prices ({COLUMNS}) CHARSET utf8mb4")
    saved_target(database)
    return uploaded(tmp_path)


def uploaded(folder: Path) -> SourceFile:
    return registered(folder / "prices.csv", ROWS)


def registered(path: Path, text: str) -> SourceFile:
    path.write_text(text)
    source = uploads.register(path)
    source.owned, source.uploaded_by = True, User.objects.get()
    source.save()
    return source


def open_format(page: Page, field: str) -> None:
    page.get_by_label(f"Format of {field}:").click()


def cell(page: Page, text: str):
    return page.locator(".grid-table td").filter(has_text=text).first


def test_each_value_stands_beside_what_replaces_it(opened, upload: SourceFile):
    page = opened(reverse("new_source", args=[upload.key]))
    open_format(page, "kind")
    for value in "ab":
        box = page.get_by_label(f"kind: {value} is loaded as").bounding_box()
        name = page.locator(".value-list:visible label").get_by_text(value, exact=True).bounding_box()
        assert box["y"] < name["y"] + name["height"] / 2 < box["y"] + box["height"]


def test_recent_files_are_cards_on_a_phone(opened, upload: SourceFile):
    page = opened(reverse("new"), viewport={"width": 390, "height": 844})
    said = ["prices.csv", "not yet", re.compile("bytes$"), re.compile("now|ago"), "Remove"]
    expect(page.locator("#recent td:visible")).to_have_text(said)
    expect_no_scrolling_sideways(page)


def test_a_grid_that_is_cut_off_shows_at_which_edge(opened, upload: SourceFile):
    page = opened(reverse("new_source", args=[upload.key]), viewport={"width": 1280, "height": 900})
    box = page.locator(".grid-box")
    assert box.evaluate("(box) => box.scrollWidth - box.clientWidth") > 50
    expect(box).to_have_attribute("data-more", "right")
    expect(page.locator(".grid-table thead th").nth(1)).to_be_in_viewport()
    box.evaluate("(box) => { box.scrollLeft = box.scrollWidth; }")
    expect(box).to_have_attribute("data-more", "left")


def test_on_a_phone_the_button_has_the_whole_name_of_the_table(opened, upload: SourceFile):
    page = opened(reverse("new_source", args=[upload.key]), viewport={"width": 390, "height": 844})
    page.get_by_role("button", name="Accept the first answers").click()
    start = page.get_by_role("button", name="Import into", disabled=False)
    expect(start).to_contain_text(".prices")
    expect(page.get_by_text("Save or schedule", exact=True)).to_be_visible()
    assert start.evaluate("(button) => button.scrollWidth <= button.clientWidth")
    # The name of the table is on one line.
    assert (
        start.evaluate("""(button) => {
        const range = new Range(), { childNodes } = button.firstElementChild;
        range.selectNodeContents([...childNodes].findLast((each) => each.data?.trim()));
        return range.getClientRects().length;
    }""")
        == 1
    )
    expect_no_scrolling_sideways(page)


def test_values_of_cards_end_at_the_same_edge(opened, upload: SourceFile):
    page = opened(reverse("new"), viewport={"width": 390, "height": 844})
    cells = "".join(f'<td data-label="Conversion">{text}</td>' for text in ("Trim", "Upper case, NULL is written as N"))
    page.evaluate(
        "(html) => { document.querySelector('main').innerHTML = html; }",
        f"""
        <div class="card"><table class="table card-table table-cards"><tbody><tr>{cells}</tr></tbody></table></div>""",
    )
    ends = page.locator("td").evaluate_all("""(cells) => cells.map((cell) => {
        const range = document.createRange();
        range.selectNodeContents(cell);
        return Math.round(range.getBoundingClientRect().right);
    })""")
    assert ends[0] == ends[1]


def test_what_is_shown_is_what_arrives_and_comes_back_as_a_preset(opened, upload: SourceFile, tmp_path: Path):
    page = opened(reverse("new_source", args=[upload.key]), viewport={"width": 1280, "height": 900})
    expect(page.get_by_label("price is read as")).to_have_value("thousands-dot")
    expect(page.get_by_label("sold is read as")).to_have_value("yes-no")
    expect(page.get_by_label("Date and time format of day")).to_have_value("%d.%m.%Y")
    expect(cell(page, "1234.50")).to_have_class("converted")
    expect(cell(page, "2024-12-31")).to_be_visible()
    expect(cell(page, "NA")).to_have_class("null")
    open_format(page, "name")
    page.get_by_label("Blanks around name").select_option("trim")
    expect(page.locator(".htmx-request")).to_have_count(0)
    expect(cell(page, "Zoë")).to_have_text("Zoë")
    open_format(page, "day")
    page.get_by_label("Date and time format of day").fill("%m.%d.%Y")
    page.get_by_label("Date and time format of day").blur()
    expect(cell(page, "31.12.2024")).to_have_class("bad")
    page.get_by_label("Date and time format of day").fill("%d.%m.%Y")
    page.get_by_label("Date and time format of day").blur()
    expect(cell(page, "2024-12-31")).to_be_visible()

    page.get_by_label("source gets").select_option("text")
    page.get_by_label("Text for source").fill("it's")
    page.get_by_label("Text for source").blur()
    page.get_by_label("line gets", exact=True).select_option("line")
    page.get_by_text("Reasons and SQL").click()
    expect(page.get_by_text("The line number is put before each record")).to_be_visible()

    page.get_by_role("button", name="Leave it out").click()
    page.get_by_text("Save or schedule", exact=True).click()
    page.get_by_label("Name of the preset", exact=True).fill("monthly")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("Saved as preset monthly")).to_be_visible()
    preset = MappingPreset.objects.get()
    assert preset.mapping[5].transforms == ("trim",)
    assert {each.column: each.source for each in preset.fillings} == {"source": "text", "line": "line"}

    page = opened(reverse("new_source", args=[uploaded(tmp_path).key]))
    expect(page.get_by_label("Preset", exact=True)).to_have_value(str(preset.pk))
    expect(page.get_by_label("Blanks around name")).to_have_value("trim")
    expect(page.get_by_label("Text for source")).to_have_value("it's")
    expect(page.get_by_role("button", name="Import ")).to_be_enabled()
    page.get_by_label("Preset", exact=True).select_option("")
    expect(page.get_by_label("Blanks around name")).to_have_value("")
    expect(page.get_by_label("source gets")).to_have_value("")


def test_values_are_replaced_in_the_grid_and_arrive(opened, upload: SourceFile, database: Address, tmp_path: Path):
    run_sql(database, "CREATE TABLE people (id INT, state ENUM('active', 'in active', 'left'))")
    text = "id,state\n1,aktiv\n2,aktiv\n3,inactive\n4,left\n"
    page = opened(reverse("new_source", args=[registered(tmp_path / "people.csv", text).key]))
    expect(cell(page, "aktiv")).to_have_class("bad")
    page.get_by_role("button", name="as the list has them").click()
    expect(page.get_by_role("cell", name="in active", exact=True)).to_have_class("converted")
    open_format(page, "state")
    expect(page.get_by_label("state: inactive is loaded as")).to_have_value("in active")
    page.get_by_label("state: aktiv is loaded as").fill("active")
    page.get_by_label("state: aktiv is loaded as").blur()
    expect(page.get_by_role("cell", name="active", exact=True).first).to_have_class("converted")
    expect(page.locator(".bad")).to_have_count(0)
    page.get_by_role("button", name="Import into").click()
    page.wait_for_url("**/jobs/**")
    assert ImportJob.objects.get().mapping[1].values == (("aktiv", "active"), ("inactive", "in active"))


def test_names_are_looked_up_in_the_grid_and_arrive(opened, upload: SourceFile, database: Address, tmp_path: Path):
    run_sql(
        database,
        "CREATE TABLE team (id INT PRIMARY KEY, name VARCHAR(20) UNIQUE)",
        "INSERT INTO team VALUES (7, 'Sales'), (8, 'Support')",
        "CREATE TABLE people (id INT, team INT, FOREIGN KEY (team) REFERENCES team (id))",
    )
    source = registered(tmp_path / "people.csv", "id,team\n1,sales\n2,Support\n3,Nobody\n")
    page = opened(reverse("new_source", args=[source.key]))
    page.get_by_role("button", name="the number of the row of team with that name").click()
    expect(page.get_by_role("cell", name="7", exact=True)).to_have_class("converted")
    open_format(page, "team")
    expect(page.get_by_label("team is looked up in")).to_have_value("team.name")
    page.get_by_label("team is looked up in").fill("")
    page.get_by_label("team is looked up in").blur()
    expect(cell(page, "Support")).to_have_class("bad")
    page.get_by_label("team is looked up in").fill("team.name")
    page.get_by_label("team is looked up in").blur()
    expect(page.get_by_role("cell", name="8", exact=True)).to_have_class("converted")
    expect(cell(page, "Nobody")).to_have_class("bad")
    page.get_by_role("button", name="Import ").first.click()
    page.wait_for_url("**/jobs/**")
    assert ImportJob.objects.get().mapping[1].lookup.text == "team.name"


def test_another_column_is_read_as_that_column_suggests(opened, upload: SourceFile):
    page = opened(reverse("new_source", args=[upload.key]))
    page.get_by_label("extra goes into").select_option("source")
    page.get_by_label("price goes into").select_option("")
    expect(page.get_by_label("price is read as")).to_have_count(0)
    page.get_by_label("price goes into").select_option("price")
    expect(page.get_by_label("price is read as")).to_have_value("thousands-dot")


def test_a_field_is_dragged_onto_a_column_that_no_field_fills(opened, upload: SourceFile):
    page = opened(reverse("new_source", args=[upload.key]), viewport={"width": 1280, "height": 1400})
    page.locator(".field-name", has_text="extra").drag_to(page.locator("[data-column=source]"))
    expect(page.get_by_label("extra goes into")).to_have_value("source")
    expect(page.get_by_label("source gets")).to_have_count(0)


def test_a_thousand_columns_are_few_nodes(opened, upload: SourceFile, database: Address, tmp_path: Path):
    names = [f"measure_{number:03}" for number in range(1000)]
    run_sql(database, f"CREATE TABLE wide ({', '.join(f'{name} INT' for name in names)})")
    source = registered(tmp_path / "wide.csv", "\n".join(map(",".join, [names, *[["1"] * 1000] * 100])))
    page = opened(reverse("new_source", args=[source.key]), viewport={"width": 1280, "height": 900})
    assert page.evaluate("document.querySelectorAll('*').length") < 3000
    page.get_by_role("button", name="Next fields").click()
    expect(page.get_by_label("measure_024 goes into")).to_have_value("measure_024")
    page.set_viewport_size({"width": 390, "height": 844})
    page.get_by_role("button", name="Next fields").last.click()  # at the end of the fields
    expect(page.get_by_label("measure_048 goes into")).to_have_value("measure_048")
    expect(page.get_by_text("Fields 49 to 72 of 1000")).to_be_in_viewport()
    page.set_viewport_size({"width": 1280, "height": 900})
    page.get_by_label("Find fields").fill("999")
    page.get_by_label("Find fields").press("Enter")
    page.get_by_label("measure_999 goes into").fill("")
    page.get_by_label("measure_999 goes into").press("Tab")
    expect(page.get_by_text("1 field not loaded (measure_999)")).to_be_visible()
    page.get_by_role("button", name="Import into").click()
    page.wait_for_url("**/jobs/**")
    assert [each.column for each in ImportJob.objects.get().mapping] == [*names[:-1], ""]


def test_while_a_press_is_answered_nothing_is_typed_that_the_answer_would_drop(
    opened, upload: SourceFile, tmp_path: Path
):
    names = [f"measure_{number:03}" for number in range(50)]
    source = registered(tmp_path / "wide.csv", f"{','.join(names)}\n{','.join(['1'] * 50)}\n")
    page = opened(reverse("new_source", args=[source.key]), viewport={"width": 1280, "height": 900})
    page.get_by_role("button", name="Create table").click()
    kind = page.get_by_label("Type of measure_001", exact=True)
    place, before = kind.bounding_box(), kind.input_value()
    held = HeldRequest(page, f"**/new/{source.key}/")
    page.get_by_role("button", name="Next fields").press("Enter")
    sent = held.sent()
    page.mouse.click(place["x"] + 9, place["y"] + 9)
    page.keyboard.type("9")
    page.keyboard.press("Enter")
    assert "type_1=" in (sent.post_data or "")  # It was not left out of the request.
    held.release()
    expect(page.get_by_label("Type of measure_024", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Next fields")).to_be_focused()
    page.get_by_role("button", name="Next fields").press("Enter")
    expect(page.get_by_label("Type of measure_049", exact=True)).to_be_visible()
    back = page.get_by_role("button", name="Previous fields")
    expect(back).to_be_focused()  # There are no next ones.
    for name in ("measure_024", "measure_001"):
        back.press("Enter")
        expect(page.get_by_label(f"Type of {name}", exact=True)).to_be_visible()
    expect(kind).to_have_value(before)


def test_the_box_of_a_column_that_must_have_a_value_leads_to_what_fills_it(opened, upload, database: Address):
    run_sql(database, "ALTER TABLE prices ADD must INT NOT NULL")
    page = opened(reverse("new_source", args=[upload.key]), viewport={"width": 1280, "height": 500})
    box = page.get_by_role("alert").filter(has_text="No field of the file goes into must")
    expect(page.get_by_label("must gets")).not_to_be_in_viewport()
    box.get_by_role("link", name="Choose what fills must").click()
    expect(page.get_by_label("must gets")).to_be_in_viewport()
    page.get_by_label("must gets").select_option(label="the line in the file")
    expect(box).to_have_count(0)


def test_on_a_phone_each_field_is_a_card_with_its_values(opened, upload: SourceFile, database: Address):
    run_sql(database, f"ALTER TABLE prices {', '.join(f'ADD more_{number} INT' for number in range(12))}")
    page = opened(reverse("new_source", args=[upload.key]), viewport={"width": 390, "height": 844})
    expect(page.get_by_label("source gets")).to_be_visible()
    expect_no_scrolling_sideways(page)
    assert page.locator(".grid-box").evaluate("each => each.scrollWidth <= each.clientWidth")
    # Header, first and second value of a field, then the next field.
    places = page.locator(".grid-table").evaluate("""table => [1, 2].flatMap((field) =>
        [...table.rows].map((row) => row.cells[field].getBoundingClientRect().top))""")
    assert places == sorted(places)
    expect(page.get_by_label("price goes into")).to_be_visible()
    expect(cell(page, "1234.50")).to_be_visible()
    # A field takes two lines: name and column, type and conversion. So 24 fields are a short page.
    across = "all => all.map((each) => each.getBoundingClientRect()).map(({ top, bottom }) => (top + bottom) / 2)"
    for selector in (".field-name, .column-choice", ".field-format, .field-facts"):
        first, second = page.locator(".field-head").nth(1).locator(selector).evaluate_all(across)
        assert abs(first - second) < 4, selector
    assert page.get_by_label("source gets").evaluate(SHOWS_EACH_OPTION)
    assert page.locator(".unfilled-list").evaluate("each => each.scrollHeight <= each.clientHeight")


def test_a_row_at_fault_is_seen_on_a_phone_and_where_its_cell_is_out_of_view(opened, upload, tmp_path: Path):
    rows = ROWS + "".join(f"{n};1,50;ja;31.12.2024;a;Bo;1;\n" for n in range(3, 9)) + "9;1,50;ja;1.1.2025;a;"
    source = registered(tmp_path / "prices.csv", rows + "A name of more than twenty letters;1;y\n")
    page = opened(reverse("new_source", args=[source.key]), viewport={"width": 1280, "height": 900})
    expect(cell(page, "A name of more")).to_have_class("bad")
    colour = "each => getComputedStyle(each).color"
    number = page.get_by_role("rowheader", name="10", exact=True)
    assert number.evaluate(colour) == cell(page, "A name of more").evaluate(colour)
    page.set_viewport_size({"width": 390, "height": 844})
    expect(cell(page, "A name of more")).to_be_visible()
    assert cell(page, "A name of more").bounding_box()["width"] > 300
    expect(number).to_be_hidden()
    heights = page.locator(".grid-table tbody tr:nth-child(3) > td").evaluate_all(
        "all => all.map(each => each.offsetHeight)"
    )
    assert heights == [heights[0]] * 8  # The last value is empty.
    expect(page.locator(".start-message")).to_contain_text("1 question")
    bar = (page.locator(each) for each in (".start-message", ".misfits > strong", ".misfits > .btn-primary"))
    message, misfits, buttons = (each.bounding_box() for each in bar)
    assert message["y"] + message["height"] <= misfits["y"] < misfits["y"] + misfits["height"] <= buttons["y"]


def test_words_stay_whole_in_the_headers_of_the_grid(opened, upload: SourceFile, database: Address, tmp_path: Path):
    rows = "id;a_rather_long_customer;ordered_at;" + "x" * 80 + "\n1;2;3;4\n2;3;4;5\n"
    source = registered(tmp_path / "prices.csv", rows)
    page = opened(reverse("new_source", args=[source.key]), viewport={"width": 1280, "height": 900})
    heights = page.locator(".grid-table .field-name").evaluate_all(
        "all => all.map(each => each.getBoundingClientRect().height)"
    )
    assert heights[0] == heights[1] == heights[2] < heights[3]
    expect_no_scrolling_sideways(page)
    only = registered(tmp_path / "only.csv", "a_rather_long_name_of_the_only_field_of_a_file\n1\n2\n")
    page.goto(reverse("new_source", args=[only.key]))
    assert page.locator(".grid-table .field-name").bounding_box()["height"] == heights[0]


def test_presets_are_renamed_and_deleted(opened, upload: SourceFile):
    page = opened(reverse("new_source", args=[upload.key]))
    page.get_by_label("source gets").select_option("file")
    page.get_by_role("button", name="Leave it out").click()
    page.get_by_text("Save or schedule", exact=True).click()
    page.get_by_label("Name of the preset", exact=True).fill("one")
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_role("link", name="All presets").first.click()
    page.set_viewport_size({"width": 390, "height": 844})
    page.get_by_role("link", name="one", exact=True).wait_for()
    expect_no_scrolling_sideways(page)
    page.get_by_role("link", name="one", exact=True).click()
    page.get_by_label("Name", exact=True).fill("two")
    page.get_by_role("button", name="Rename").click()
    expect(page.get_by_role("heading", name="two", level=1)).to_be_visible()
    expect_no_scrolling_sideways(page)
    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Delete").click()
    expect(page.get_by_text("No presets yet")).to_be_visible()

"""The work of a preview grows with the columns of its file, not with their square, and is not done again."""

import pytest

from tests.cost import calls_of
from tests.dashboard.new_import.test_page import show, shown_form, uploaded
from tests.targets import saved_target

pytestmark = pytest.mark.django_db
ROWS = 60


def content_of(width: int) -> bytes:
    def value(row: int, number: int) -> str:
        kinds = (f"{row * number}", f"text {row} {number}", f"{row % 28 + 1:02}.12.2024", f"{row},{number % 90 + 10}")
        return kinds[number % 4]

    lines = [";".join(f"field_{number}" for number in range(width))]
    lines += [";".join(value(row, number) for number in range(width)) for row in range(ROWS)]
    return "\n".join([*lines, ""]).encode()


def calls(browser, user, width: int, target: str) -> tuple[int, int]:
    """The calls of functions of Millrace for two previews, one after the other, of a file with this many columns."""
    source = uploaded(user, content_of(width), f"wide{width}.csv")
    counts, answers = [], []
    values = {"target": target, "mode": "create", "table": f"wide{width}"}
    for _ in range(2):
        counts.append(calls_of(lambda values=values: answers.append(show(browser, source, **values)), "/importer/"))
        assert answers[-1].status_code == 200
        values = shown_form(answers[-1])
    return counts[0], counts[1]


def test_a_preview_of_many_columns_works_in_proportion_and_remembers(browser, user, database):
    target = str(saved_target(database).pk)
    (few, few_again), (many, many_again) = (calls(browser, user, width, target) for width in (100, 400))
    assert many < 6 * few
    assert many_again < 6 * few_again
    assert many_again < many / 2

"""Values as people write them, and what one setting makes: curves, their knee, and how far each value is behind."""

import pytest

from importer.engine.errors import Problem
from importer.engine.tuning.curves import curves, shares
from importer.engine.tuning.ranking import Measured
from importer.engine.tuning.value_syntax import read_values, write_values
from importer.engine.units import MIB


def measured(**rates):
    return [
        ({"chunk_bytes": int(size[1:]) * MIB, "parallelism": sessions}, Measured(0, (rate,)))
        for size, by_sessions in rates.items()
        for sessions, rate in by_sessions.items()
    ]


FOUND = measured(m16={1: 100.0, 2: 210.0}, m1={1: 60.0, 2: 90.0}, m4={1: 98.0, 2: 150.0})


def test_each_curve_varies_one_setting_and_bends_where_more_gains_nothing():
    first, second = curves("chunk_bytes", FOUND)
    assert (first.other_settings, second.other_settings) == ({"parallelism": 1}, {"parallelism": 2})
    assert [point.value for point in first.points] == [MIB, 4 * MIB, 16 * MIB]
    assert (first.knee.value, second.knee.value) == (4 * MIB, 16 * MIB)


def test_combinations_without_the_setting_or_alone_are_on_no_curve():
    assert curves("indexes", FOUND) == []
    alone = [({"rows_per_statement": 10}, Measured(0, (5.0,))), ({"method": "load_data_local"}, Measured(0, (9.0,)))]
    assert curves("rows_per_statement", alone) == []


def test_a_share_compares_with_the_best_value_under_the_same_other_settings():
    best, _, worst = shares(curves("chunk_bytes", FOUND))
    assert (best.value, best.of_best, best.curves) == (16 * MIB, 1.0, 2)
    assert (worst.value, worst.of_best) == (MIB, pytest.approx((0.6 + 90 / 210) / 2))


@pytest.mark.parametrize(
    ("name", "text", "values"),
    [
        ("chunk_bytes", "256K, 1M, 1000", (262144, MIB, 1000)),
        ("parallelism", "1, 2, 2", (1, 2)),
        ("unique_checks", "on, off", (True, False)),
        ("commit_rows", "none, 500", (None, 500)),
        ("indexes", "keep, defer", ("keep", "defer")),
    ],
)
def test_values_as_people_write_them_and_back(name, text, values):
    assert read_values(name, text) == values
    assert read_values(name, write_values(name, values)) == values


@pytest.mark.parametrize(("name", "text"), [("chunk_bytes", "1 X"), ("parallelism", "two"), ("mode", "append")])
def test_what_is_no_value_is_named(name, text):
    with pytest.raises(Problem) as found:
        read_values(name, text)
    assert found.value.option == name

"""The syntax of values; curves over one setting, their knee, and the share of the best that each value reaches."""

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


RESULTS = measured(m16={1: 100.0, 2: 210.0}, m1={1: 60.0, 2: 90.0}, m4={1: 98.0, 2: 150.0})


def test_each_curve_varies_one_setting_up_to_its_knee():
    first, second = curves("chunk_bytes", RESULTS)
    assert (first.other_settings, second.other_settings) == ({"parallelism": 1}, {"parallelism": 2})
    assert [point.value for point in first.points] == [MIB, 4 * MIB, 16 * MIB]
    assert (first.knee.value, second.knee.value) == (4 * MIB, 16 * MIB)


def test_combination_without_the_setting_or_alone_is_on_no_curve():
    assert curves("indexes", RESULTS) == []
    alone = [({"rows_per_statement": 10}, Measured(0, (5.0,))), ({"method": "load_data_local"}, Measured(0, (9.0,)))]
    assert curves("rows_per_statement", alone) == []


def test_share_of_the_best_value_is_a_median_over_curves():
    best, _, worst = shares(curves("chunk_bytes", RESULTS))
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
def test_values_are_parsed_and_written_back(name, text, values):
    assert read_values(name, text) == values
    assert read_values(name, write_values(name, values)) == values


@pytest.mark.parametrize(("name", "text"), [("chunk_bytes", "1 X"), ("parallelism", "two"), ("mode", "append")])
def test_invalid_value_names_its_setting(name, text):
    with pytest.raises(Problem) as caught:
        read_values(name, text)
    assert caught.value.option == name

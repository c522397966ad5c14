from importer.engine.units import count_of


def test_one_thing_is_no_plural():
    assert [count_of(each, "row") for each in (0, 1, 2000)] == ["0 rows", "1 row", "2,000 rows"]

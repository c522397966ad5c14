"""When the rows are sorted first, and why."""

import pytest

from importer.engine.errors import Problem
from importer.engine.plan.options import Options
from importer.engine.plan.plan import ImportPlan
from importer.engine.plan.stored_plan import plan_from_json, plan_to_json
from importer.engine.schema.table import Key
from importer.engine.sorting.key_sample import KeyOrder
from importer.engine.units import GIB, MIB
from tests.engine.planner.test_planner import column, plan, server, table, why

KEYED = table(column("a", nullable=False), keys=(Key("PRIMARY", ("a",), True),))
SHUFFLED, NEARLY, IN_ORDER = KeyOrder(0.5, 0.8), KeyOrder(0.9, 0.02), KeyOrder(1.0, 0.01)
SMALL_POOL = server(innodb_buffer_pool_size=str(128 * MIB))


def made(order: KeyOrder | None = SHUFFLED, of=KEYED, on=SMALL_POOL, size: int = GIB, **known) -> ImportPlan:
    return plan(size, of=of, on=on, key_order=order, **known)


class TestByItself:
    def test_a_shuffled_file_that_makes_the_table_outgrow_the_buffer_pool_is_sorted(self):
        planned = made()
        assert planned.sorted_by.columns == ("a",)
        said = why(planned, "Rows are loaded in the order of a")
        assert "not in order" in said
        assert "buffer pool holds 128 MiB" in said
        assert "2 GiB on the disk" in said
        assert plan_from_json(plan_to_json(planned)) == planned

    @pytest.mark.parametrize(("order", "said"), [(NEARLY, "nearly in order"), (IN_ORDER, "in order")])
    def test_one_that_is_in_order_is_not(self, order, said):
        planned = made(order)
        assert planned.sorted_by is None
        assert said in why(planned, "Rows are loaded in the file's order")

    def test_nor_one_that_fits_the_buffer_pool(self):
        planned = made(size=64 * MIB)
        assert planned.sorted_by is None
        assert "buffer pool holds" in why(planned, "Rows are loaded in the file's order")

    def test_rows_that_are_there_count_where_they_stay(self):
        full = table(column("a", nullable=False), keys=KEYED.keys, data_bytes=GIB)
        assert made(size=64 * MIB, of=full).sorted_by
        assert not made(size=64 * MIB, of=full, options=Options(mode="replace"), job="job").sorted_by

    def test_nor_one_of_which_nothing_can_be_told(self):
        assert "only the unpacked file shows" in why(made(None, packing="gzip"), "Rows are loaded in the file's order")

    def test_nor_where_there_is_no_key(self):
        """A name stays as it is, also at the beginning of a clause."""
        told = why(made(of=table(name="Orders")), "Rows are loaded in the file's order")
        assert told == "the table Orders has no primary key"

    @pytest.mark.parametrize("options", [Options(on_duplicate="skip"), Options(on_duplicate="replace")])
    def test_nor_where_the_files_order_decides_which_row_stays(self, options):
        assert "order decides which of two rows" in why(made(options=options), "Rows are loaded in the file's order")


class TestAsAsked:
    def test_sorted_whatever_the_sizes_are(self):
        planned = made(None, size=MIB, options=Options(sort="key"))
        assert planned.sorted_by
        assert why(planned, "Rows are loaded in the order of a").startswith("as requested")

    def test_kept_whatever_it_costs(self):
        assert not made(options=Options(sort="keep")).sorted_by

    @pytest.mark.parametrize(
        ("known", "said"),
        [
            ({"of": table()}, "no primary key"),
            ({"options": Options(sort="key", mode="upsert"), "job": "job"}, "file's order"),
            ({"options": Options(sort="key", mode="create"), "job": "job", "packing": "gzip"}, "types are read"),
        ],
    )
    def test_refused_where_it_cannot_be(self, known, said):
        with pytest.raises(Problem, match=said) as raised:
            made(**{"options": Options(sort="key"), **known})
        assert raised.value.option == "sort"

    def test_a_retry_keeps_the_order_of_its_chunks(self):
        key = made().sorted_by
        assert made(IN_ORDER, size=MIB, options=Options(sort="key"), sorted_by=key).sorted_by == key

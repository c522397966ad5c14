"""A sample of the generated cases (tests/generated.py): in each dialect, every row is loaded or rejected."""

from pathlib import Path

from importer.engine.mysql.connection import Address
from tests.examples import number_of_examples
from tests.generated import Bench, make_case

CASES = 300


def test_every_row_of_every_case_is_accounted_for(database: Address, tmp_path: Path):
    bench = Bench.on(database, tmp_path)
    for seed in range(number_of_examples(CASES)):
        bench.check(make_case(seed), f"seed {seed}")

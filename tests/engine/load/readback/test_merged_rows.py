"""Mode atomic with `verify` "full": triggers fire only when the staged rows are merged, so these are compared, too."""

from pathlib import Path

import pytest

from importer.engine.errors import TargetProblem
from importer.engine.load.outcome import Tally
from importer.engine.mapping.columns import ColumnMapping
from importer.engine.mysql.connection import Address
from tests.engine.staged import given, planned, rows_of

pytestmark = pytest.mark.both_servers

# A key from the file, and numbers of the server.
KEYS = ["id INT PRIMARY KEY", "n INT AUTO_INCREMENT PRIMARY KEY, id INT"]
ROWS = "1,1.25,é,0.1,{},A\n2,2.50,b,1.1,[],B\n"
COLUMNS = (
    "amount DECIMAL(8,2), word VARCHAR(9) CHARACTER SET latin1 COLLATE latin1_swedish_ci, single FLOAT, document JSON,"
    " bits BIT(8)"
)
NAMES = ("id", "amount", "word", "single", "document", "bits")


def loaded(address: Address, folder: Path, key: str, *triggers: str) -> Tally:
    """The tally of an import in mode atomic into a table that has a row already."""
    given(address, f"CREATE TABLE t ({key}, {COLUMNS})", "INSERT INTO t (id) VALUES (9)")
    given(address, *(f"CREATE TRIGGER hook BEFORE INSERT ON t FOR EACH ROW {each}" for each in triggers))
    path = folder / "rows.csv"
    path.write_text(ROWS)
    load = planned(address, path, "atomic", *NAMES, verify="full").stage()
    return load.finish()


@pytest.mark.parametrize("key", KEYS)
def test_equal_rows_are_merged(database: Address, tmp_path: Path, key: str):
    assert loaded(database, tmp_path, key, "SET @seen = NEW.id") == Tally(loaded=2)
    assert rows_of(database, "SELECT id, amount FROM t WHERE id < 9 ORDER BY id") == [(1, 1.25), (2, 2.5)]


@pytest.mark.parametrize(
    ("key", "change", "difference"),
    [
        (KEYS[0], "NEW.amount = FLOOR(NEW.amount)", "values of amount differ"),
        (KEYS[1], "NEW.amount = FLOOR(NEW.amount)", "values of amount differ"),
        (KEYS[0], "NEW.word = UPPER(NEW.word)", "values of word differ"),
        (KEYS[1], "NEW.single = NULL, NEW.bits = 'A'", "values of single, bits differ"),
        (KEYS[0], "NEW.amount = 3.75 - NEW.amount", "values were exchanged between rows"),
        (KEYS[0], "NEW.id = NEW.id + 1", "1 of 2 rows are found again by their key"),
    ],
)
def test_what_a_trigger_changes_is_refused(database: Address, tmp_path: Path, key: str, change: str, difference: str):
    with pytest.raises(TargetProblem, match=rf"{difference}\. t is unchanged\. Look at its triggers \(hook\)"):
        loaded(database, tmp_path, key, f"SET {change}")
    assert rows_of(database, "SELECT id FROM t") == [(9,)]


def test_a_number_of_the_target_where_the_file_has_null_is_no_difference(database: Address, source):
    given(database, "CREATE TABLE t (n INT AUTO_INCREMENT PRIMARY KEY, id INT NOT NULL UNIQUE)")
    load = planned(database, source("NA,1\n7,2\n"), "atomic", ColumnMapping("n", ("NA",)), "id", verify="full").stage()
    assert load.finish() == Tally(loaded=2)
    assert rows_of(database, "SELECT n FROM t WHERE id = 2") == [(7,)]

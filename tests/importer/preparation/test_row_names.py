"""The question about a field without a name, as R writes the names of rows, is answered by one click."""

from pathlib import Path

import pytest

from importer.engine.mysql.connection import Address
from importer.engine.plan.options import Options
from importer.engine.reading.questions import NeedsAnswer
from importer.preparation.prepare import ImportRequest, prepare
from importer.sources import uploads
from tests.targets import saved_target

CREATE = ImportRequest(options=Options(mode="create"))


@pytest.mark.django_db
def test_the_field_is_kept_or_left_out_of_a_new_table(database: Address, tmp_path: Path):
    target, path = saved_target(database, "t"), tmp_path / "input.csv"
    path.write_text("x,y\nr1,1,2\nr2,3,4\n")
    source = uploads.register(path)
    with pytest.raises(NeedsAnswer) as asked:
        prepare(source, target, "t", CREATE)
    [guess] = asked.value.reading.guesses
    prepared = [prepare(source, target, "t", CREATE, answers={guess.key: each.label}) for each in guess.answers]
    assert [each.table.column_names for each in prepared] == [("column_1", "x", "y"), ("x", "y")]
    assert [[field.column for field in each.mapping] for each in prepared] == [["column_1", "x", "y"], ["", "x", "y"]]

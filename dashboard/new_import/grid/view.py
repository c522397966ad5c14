"""Which part of the grid the page shows: a window of fields, and the first rows or those with problems alone."""

from collections.abc import Mapping
from dataclasses import dataclass

from dashboard.formatting import entered_number

# Fields that are shown at a time. A browser takes seconds to lay out hundreds of columns with their controls.
WINDOW = 24
# What the page calls each choice of fields.
KINDS = {"": "all fields", "questions": "with a question", "left_out": "not loaded"}


@dataclass(frozen=True)
class GridView:
    """`kind`: one of KINDS. `find`: a part of the names of the fields, in lower case.

    `find_column`: the same of the columns that no field goes into.

    `first`: the position (from 0) of the first field that is shown, among those that `kind` and `find` choose.
    """

    first: int = 0
    find: str = ""
    kind: str = ""
    only_problems: bool = False
    find_column: str = ""

    @classmethod
    def of(cls, values: Mapping[str, str]) -> "GridView":
        """The part that the values of the form ask for. Another choice of fields begins with its first one."""
        find, kind = values.get("find_field", "").strip().lower(), values.get("kind_of_fields", "")
        same = (find, kind) == (values.get("found_field", find), values.get("found_kind", kind))
        first = (entered_number(values.get("first_field", "")) or 0) if same else 0
        find_column = values.get("find_column", "").strip().lower()
        return cls(first, find, kind if kind in KINDS else "", values.get("rows") == "problems", find_column)

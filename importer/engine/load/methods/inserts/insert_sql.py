"""Renders INSERT ... VALUES, and splits the statement into a template for many rows."""

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache

from importer.engine.feed.row_numbers import NUMBERS
from importer.engine.load.methods.field_expressions import (
    VARIABLES,
    field_expressions,
    field_variable,
    filled,
    with_trace,
)
from importer.engine.load.methods.statement_request import StatementRequest
from importer.engine.mysql.quoting import quote_name, quote_table

_IGNORING, _REPLACING = "INSERT IGNORE INTO ", "REPLACE INTO "
_VALUES = "\nVALUES "
# A text or a name, which may contain anything, or the variable of a field.
_TOKEN = re.compile(r"'(?:[^'\\]|\\.|'')*'|`(?:[^`]|``)*`|@(?:field\d+|millrace_(?:row|line))\b", re.DOTALL)


def statement(request: StatementRequest) -> str:
    """The statement for one row: `@field3` stands for the text of the third field. It is sent with many rows.

    IGNORE turns errors into warnings, as LOAD DATA LOCAL does (manual, INSERT Statement). The stored values are the
    same.
    """
    table = request.table
    fields = [
        each for each in field_expressions(request.mapping, table, keep_null_word=request.keep_null_word) if each.column
    ]
    if request.traced:
        fields = with_trace(fields)
        # Columns are assigned in order, so the trace comes before the warnings about all others.
        fields.sort(key=lambda each: not each.traced)
    given = [(each.name, each.value) for each in fields]
    given += [(quote_name(each.column), filled(each, table.column(each.column))) for each in request.fillings]
    for assignment in request.assignments:
        column, _, value = assignment.partition(" = ")
        given.append((column, value))
    columns, values = (", ".join(each) for each in zip(*given, strict=True))
    return f"{_IGNORING}{quote_table(table.schema, table.name)} ({columns}){_VALUES}({values})"


def replacing(statement: str) -> str:
    """The statement with REPLACE: a row replaces those with its keys, and a bad row ends the statement."""
    return _REPLACING + statement.removeprefix(_IGNORING)


@dataclass(frozen=True)
class Template:
    """A statement split at its fields: parts[0], a field, parts[1], ..., parts[-1] make one row.

    `head` is the text up to VALUES and the blank after it. `fields` are the positions of those fields in a record of
    `width` fields. `replacing`: a bad row ends the statement.
    """

    head: bytes
    parts: tuple[bytes, ...]
    fields: tuple[int, ...]
    width: int
    replacing: bool
    traced: bool

    @cached_property
    def between(self) -> bytes | None:
        """The text between any two values, if the values are all fields in their order; else None."""
        if self.fields != tuple(range(self.width)):
            return None
        inner = set(self.parts[1:-1])
        return inner.pop() if len(inner) == 1 else b"" if not inner else None

    @cached_property
    def formatted(self) -> bytes:
        """The row as a bytes format, with %b for each literal."""
        return b"%b".join(part.replace(b"%", b"%%") for part in self.parts)

    @cached_property
    def prepared(self) -> bytes:
        """The row with a placeholder for each field."""
        return b"?".join(self.parts)


@lru_cache(maxsize=64)
def template(statement: str, numbers: tuple[str, ...], width: int) -> Template:
    """Split the statement. `numbers` come before each record (ImportPlan.numbers); `width` includes them."""
    end_of_head = _after_values(statement)
    head, row = statement[:end_of_head], statement[end_of_head:]
    parts, fields, at = [], [], 0
    for token in _TOKEN.finditer(row):
        if token[0][0] != "@":
            continue
        parts.append(row[at : token.start()].encode())
        fields.append(_place(token[0], numbers))
        at = token.end()
    parts.append(row[at:].encode())
    traced = "@traced := " in row
    return Template(head.encode(), tuple(parts), tuple(fields), width, head.startswith(_REPLACING), traced)


def _after_values(statement: str) -> int:
    """The position of the first row. Names before it are in backticks and may contain anything."""
    position = 0
    while True:
        at = statement.index(_VALUES, position)
        quoted = next((each for each in _TOKEN.finditer(statement) if each.start() < at < each.end()), None)
        if not quoted:
            return at + len(_VALUES)
        position = quoted.end()


def _place(variable: str, numbers: tuple[str, ...]) -> int:
    for name in NUMBERS:
        if variable == VARIABLES[name]:
            return numbers.index(name)
    return len(numbers) + int(variable.removeprefix(field_variable(0)[:-1])) - 1

"""Renders LOAD DATA, for the methods that share it."""

from dataclasses import replace

from importer.engine.load.methods.field_expressions import VARIABLES, filled, numbers, readings, with_trace
from importer.engine.load.methods.rendering import StatementRequest
from importer.engine.mysql.quoting import quote_name, quote_text


def into_table(request: StatementRequest) -> str:
    """The statement from INTO TABLE on; each field of the file, mapped or not, is read into something.

    Where a generated column needs the number of the record or its line, the feed puts them before each record: see
    numbers().
    """
    table, dialect, fillings = request.table, request.dialect, request.fillings
    fields = readings(request.mapping, table, keep_null_word=request.keep_null_word)
    if request.traced:
        fields = with_trace(fields)
    if fillings or request.also or any(each.indirect for each in fields):
        fields = [replace(each, numbering=each.column is not None and each.column.auto_increment) for each in fields]
    assignments = [f"{each.name} = {each.value}" for each in fields if each.indirect]
    assignments += [f"{quote_name(each.column)} = {filled(each)}" for each in fillings]
    assignments += request.also
    targets = [VARIABLES[each] for each in numbers(fillings)]
    targets += ["@skipped" if not each.column else each.variable if each.indirect else each.name for each in fields]
    # What the server takes for a field after a trailing delimiter is empty (blocks.py sees to that).
    targets += ["@skipped"] if dialect.sent.trailing_delimiter else []
    return (
        f"INTO TABLE {quote_name(table.schema)}.{quote_name(table.name)}\n"
        f"CHARACTER SET {'binary' if request.as_bytes else 'utf8mb4'}\n"
        f"{dialect.fields_and_lines(quote_text)}\n({', '.join(targets)})"
        + ("\nSET " + ",\n    ".join(assignments) if assignments else "")
    )

"""Renders LOAD DATA, for the methods that share it."""

from dataclasses import replace

from importer.engine.load.methods.field_expressions import VARIABLES, field_expressions, filled, numbers, with_trace
from importer.engine.load.methods.statement_request import StatementRequest
from importer.engine.mysql.quoting import quote_name, quote_text


def into_table(request: StatementRequest) -> str:
    """The statement from INTO TABLE on. Each field of the file is read into its column or into a variable.

    If a generated column needs the number of the record or its line, the feed puts them before each record (numbers()).
    """
    table, dialect, fillings = request.table, request.dialect, request.fillings
    fields = field_expressions(request.mapping, table, keep_null_word=request.keep_null_word)
    if request.traced:
        fields = with_trace(fields)
    if fillings or request.assignments or any(each.indirect for each in fields):
        fields = [replace(each, numbering=each.column is not None and each.column.auto_increment) for each in fields]
    assignments = [f"{each.name} = {each.value}" for each in fields if each.indirect]
    assignments += [f"{quote_name(each.column)} = {filled(each, table.column(each.column))}" for each in fillings]
    assignments += request.assignments
    targets = [VARIABLES[each] for each in numbers(fillings)]
    targets += ["@skipped" if not each.column else each.variable if each.indirect else each.name for each in fields]
    # The server reads an empty field after a trailing delimiter (records/blocks.py makes sure that it is empty).
    targets += ["@skipped"] if dialect.sent.trailing_delimiter else []
    return (
        f"INTO TABLE {quote_name(table.schema)}.{quote_name(table.name)}\n"
        f"CHARACTER SET {'binary' if request.as_bytes else 'utf8mb4'}\n"
        f"{dialect.fields_and_lines(quote_text)}\n({', '.join(targets)})"
        + ("\nSET " + ",\n    ".join(assignments) if assignments else "")
    )

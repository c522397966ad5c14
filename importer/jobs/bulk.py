"""Inserts and updates many rows of the application's database without a model object and a statement for each.

A job can have tens of thousands of chunks. Django's bulk_create() and update() compile and convert each row again,
which takes ten times as long as the database.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.models import Field, Model

Values = Mapping[str, Any]


def insert_each(model: type[Model], rows: Sequence[Values]) -> None:
    """Insert rows. All rows give the same fields; the other fields get their defaults."""
    fields = [field for field in model._meta.concrete_fields if not field.primary_key]
    left = {field.name: field.get_default() for field in fields if field.name not in rows[0]}
    shared, own = _split_shared(model, rows)
    shared |= _stored(model, left)
    columns = [*shared, *map(_column, own)]
    sql = f"INSERT INTO {_table(model)} ({', '.join(columns)}) VALUES ({', '.join(['%s'] * len(columns))})"
    _run(sql, ([*shared.values(), *_values(own, row)] for row in rows))


def update_each(model: type[Model], rows: Mapping[int, Values], **guard: Any) -> None:
    """Set the values of each row, given by its id, if the row still has the values of `guard`.

    All rows give the same fields.
    """
    shared, own = _split_shared(model, list(rows.values()))
    guards = _stored(model, guard)
    changed = ", ".join(f"{column} = %s" for column in [*shared, *map(_column, own)])
    guarded = "".join(f" AND {column} = %s" for column in guards)
    sql = f"UPDATE {_table(model)} SET {changed} WHERE id = %s{guarded}"
    _run(sql, ([*shared.values(), *_values(own, row), pk, *guards.values()] for pk, row in rows.items()))


def _split_shared(model: type[Model], rows: Sequence[Values]) -> tuple[dict[str, Any], list["Field[Any, Any]"]]:
    """The values that all rows share, as _stored() returns them, so that they are converted once; the other fields."""
    first, *others = rows
    same = {name: value for name, value in first.items() if all(row[name] == value for row in others)}
    return _stored(model, same), _fields(model, (name for name in first if name not in same))


def _run(sql: str, rows: Iterable[list[Any]]) -> None:
    with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
        cursor.executemany(sql, list(rows))


def _fields(model: type[Model], names: Iterable[str]) -> list["Field[Any, Any]"]:
    return [model._meta.get_field(name) for name in names]  # type: ignore[misc]


def _values(fields: Sequence["Field[Any, Any]"], row: Values) -> list[Any]:
    """The row's values as the database stores them."""
    # Not the proxy django.db.connection, which looks the connection up for each attribute.
    connection = connections[DEFAULT_DB_ALIAS]
    return [field.get_db_prep_save(row[field.name], connection) for field in fields]


def _stored(model: type[Model], values: Values) -> dict[str, Any]:
    """The values by quoted column name, as the database stores them."""
    fields = _fields(model, values)
    return dict(zip(map(_column, fields), _values(fields, values), strict=True))


def _column(field: Any) -> str:
    return connections[DEFAULT_DB_ALIAS].ops.quote_name(field.column)


def _table(model: type[Model]) -> str:
    return connections[DEFAULT_DB_ALIAS].ops.quote_name(model._meta.db_table)

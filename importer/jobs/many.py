"""Many rows of the application's database at once, without an object and a statement for each.

Small chunks come by the ten thousand. What Django's bulk_create() and update() take for each of them, compiling and
converting anew, is ten times what the database takes.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.models import Field, Model

Values = Mapping[str, Any]


def insert_each(model: type[Model], rows: Sequence[Values], same: Values) -> None:
    """Insert rows with values of their own, the same fields in each, and `same` in all; the rest are the defaults."""
    given = {*rows[0], *same}
    left = [field for field in model._meta.concrete_fields if not (field.primary_key or field.name in given)]
    shared = _stored(model, {**{field.name: field.get_default() for field in left}, **same})
    own = _fields(model, rows[0])
    columns = [*shared, *map(_column, own)]
    sql = f"INSERT INTO {_table(model)} ({', '.join(columns)}) VALUES ({', '.join(['%s'] * len(columns))})"
    _run(sql, ([*shared.values(), *_values(own, row)] for row in rows))


def update_each(model: type[Model], rows: Mapping[int, Values], same: Values, **guard: Any) -> None:
    """Give each row, by its id, values of its own, the same fields in each, and `same` to all; only if it still has
    those of `guard`.
    """
    shared, guards = _stored(model, same), _stored(model, guard)
    own = _fields(model, next(iter(rows.values())))
    changed = ", ".join(f"{column} = %s" for column in [*shared, *map(_column, own)])
    asked = "".join(f" AND {column} = %s" for column in guards)
    sql = f"UPDATE {_table(model)} SET {changed} WHERE id = %s{asked}"
    _run(sql, ([*shared.values(), *_values(own, row), pk, *guards.values()] for pk, row in rows.items()))


def _run(sql: str, rows: Iterable[list[Any]]) -> None:
    with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
        cursor.executemany(sql, list(rows))


def _fields(model: type[Model], names: Iterable[str]) -> list["Field[Any, Any]"]:
    return [model._meta.get_field(name) for name in names]  # type: ignore[misc]


def _values(fields: Sequence["Field[Any, Any]"], row: Values) -> list[Any]:
    """As the database keeps them."""
    # The connection itself: what stands for it, django.db.connection, looks it up for each of its attributes.
    connection = connections[DEFAULT_DB_ALIAS]
    return [field.get_db_prep_save(row[field.name], connection) for field in fields]


def _stored(model: type[Model], values: Values) -> dict[str, Any]:
    """By column, as the database keeps them."""
    fields = _fields(model, values)
    return dict(zip(map(_column, fields), _values(fields, values), strict=True))


def _column(field: Any) -> str:
    return connections[DEFAULT_DB_ALIAS].ops.quote_name(field.column)


def _table(model: type[Model]) -> str:
    return connections[DEFAULT_DB_ALIAS].ops.quote_name(model._meta.db_table)

"""Moments of chunks as numbers, for sums in the database."""

from typing import Any

from django.db.models import FloatField, Func


class UnixSeconds(Func):
    """A moment as seconds since 1970, computed by the database: parsing 20,000 texts into datetimes takes too long."""

    output_field = FloatField()

    def as_sqlite(self, compiler: Any, connection: Any, **extra: Any) -> Any:
        return self.as_sql(
            compiler, connection, template="((julianday(%(expressions)s) - 2440587.5) * 86400.0)", **extra
        )

    def as_mysql(self, compiler: Any, connection: Any, **extra: Any) -> Any:
        # Not UNIX_TIMESTAMP(): that takes the column, which holds UTC, for local time.
        template = "(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', %(expressions)s) / 1e6)"
        return self.as_sql(compiler, connection, template=template, **extra)

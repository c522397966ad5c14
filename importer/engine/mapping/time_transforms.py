"""The transforms that read dates and times from numbers: days as Excel counts them, and seconds since 1970."""

import re
from collections.abc import Callable
from datetime import datetime, timedelta

from importer.engine.mapping.transform import Transform
from importer.engine.mysql.connection import UTC
from importer.engine.mysql.quoting import quote_text
from importer.engine.schema.column_types import ColumnType, Family
from importer.engine.schema.table import Column

_SECONDS = 86_400
# The most seconds by which a fraction of a day may differ from a whole second. Excel keeps about eleven decimals.
_INEXACT = 0.01
_1900, _1904, _1970 = datetime(1899, 12, 30), datetime(1904, 1, 1), datetime(1970, 1, 1)
# Day 60 of Excel is 29 February 1900, which did not exist: days before it count from a day later.
_NO_DAY = 60


def at_utc(value: str, column: Column) -> str:
    """SQL for a moment in UTC as the column takes it: a TIMESTAMP in the session's time zone, others in UTC.

    NULL for a moment in an hour that the clocks repeat, if the zone's time would stand for the other one.
    """
    if not column.column_type.has_epoch:
        return value
    local = f"CONVERT_TZ({value}, {quote_text(UTC)}, @@SESSION.time_zone)"
    return f"IF(CONVERT_TZ({local}, @@SESSION.time_zone, {quote_text(UTC)}) = {value}, {local}, NULL)"


def fraction_digits(column: Column) -> int:
    """The fractional digits of seconds that the column stores: 3 for datetime(3)."""
    match = re.search(r"\((\d)\)", column.type)
    return int(match[1]) if match else 0


def _has_date(type_: ColumnType) -> bool:
    return type_.has_date


def _is_moment(type_: ColumnType) -> bool:
    return type_.family is Family.MOMENT


def _excel(days: str) -> Callable[[Column], str]:
    """The pattern of a number of days; with a fraction for a column with a time of day."""
    return lambda column: days + ("(?:[.]0*)?" if column.column_type.family is Family.DATE else "(?:[.][0-9]{0,12})?")


def _excel_sql(start: datetime) -> Callable[[str, Column], str]:
    """SQL for the day and, to the second, the time; NULL for a fraction that is no whole second."""

    def expression(text: str, column: Column) -> str:
        days = f"CAST(SUBSTRING_INDEX({text}, '.', 1) AS SIGNED)"
        day = f"{days} + ({days} < {_NO_DAY})" if start == _1900 else days
        if column.column_type.family is Family.DATE:
            return f"DATE_ADD('{start:%Y-%m-%d}', INTERVAL {day} DAY)"
        seconds = f"(CAST({text} AS DECIMAL(20,12)) - {days}) * {_SECONDS}"
        whole = f"CAST(ROUND({seconds}) AS SIGNED)"
        moment = f"DATE_ADD(DATE_ADD('{start:%Y-%m-%d} 00:00:00', INTERVAL {day} DAY), INTERVAL {whole} SECOND)"
        return f"IF(ABS({seconds} - {whole}) <= {_INEXACT}, {moment}, NULL)"

    return expression


def _excel_in_python(start: datetime) -> Callable[[str], str]:
    def convert(text: str) -> str:
        later = start == _1900 and float(text) < _NO_DAY
        moment = start + timedelta(days=later, seconds=round(float(text) * _SECONDS))
        return f"{moment:%Y-%m-%d}" if float(text).is_integer() else moment.isoformat(" ")

    return convert


def _milliseconds(column: Column) -> str:
    """The pattern of milliseconds; those that the column does not keep are zeros."""
    lost = max(0, 3 - fraction_digits(column))
    return f"-?[0-9]{{1,{14 - lost}}}{'0' * lost}"


def _since_1970(per_second: int) -> Callable[[str, Column], str]:
    unit, factor = ("SECOND", "") if per_second == 1 else ("MICROSECOND", f" * {1_000_000 // per_second}")

    def expression(text: str, column: Column) -> str:
        return at_utc(f"DATE_ADD('1970-01-01 00:00:00', INTERVAL CAST({text} AS SIGNED){factor} {unit})", column)

    return expression


def _since_1970_in_python(per_second: int) -> Callable[[str], str]:
    return lambda text: (_1970 + timedelta(microseconds=int(text) * (1_000_000 // per_second))).isoformat(" ")


TIMES = (
    Transform(
        "excel-date",
        "Excel's day number",
        "45292.5 → 2024-01-01 12:00:00",
        _has_date,
        _excel("(?:[1-9]|[1-5][0-9]|6[1-9]|[7-9][0-9]|[1-9][0-9]{2,5})"),
        _excel_sql(_1900),
        in_python=_excel_in_python(_1900),
        hint=f"There is no day {_NO_DAY}, which Excel shows as 29 February 1900.",
    ),
    Transform(
        "excel-date-1904",
        "Excel's day number, from 1904",
        "43830 → 2024-01-01",
        _has_date,
        _excel("[0-9]{1,6}"),
        _excel_sql(_1904),
        in_python=_excel_in_python(_1904),
    ),
    Transform(
        "unix-seconds",
        "seconds since 1970 (UTC)",
        "1704067200 → 2024-01-01 00:00:00",
        _is_moment,
        lambda _column: "-?[0-9]{1,11}",
        _since_1970(1),
        in_python=_since_1970_in_python(1),
    ),
    Transform(
        "unix-milliseconds",
        "milliseconds since 1970 (UTC)",
        "1704067200000 → 2024-01-01 00:00:00",
        _is_moment,
        _milliseconds,
        _since_1970(1000),
        in_python=_since_1970_in_python(1000),
    ),
)

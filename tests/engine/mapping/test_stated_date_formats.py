"""Every stated date format on real servers: the exact date or time arrives, or the row is bad."""

from datetime import date, datetime, timedelta

import pytest

from importer.engine.mysql.connection import Address
from tests.engine.mapping.loaded_values import read, stored

DATES = [
    (
        "DATE",
        "%d.%m.%Y",
        {"01.02.2024": date(2024, 2, 1), "1.2.2024": date(2024, 2, 1), "29.2.2024": date(2024, 2, 29)},
    ),
    ("DATE", "%d/%m/%y", {"01/02/24": date(2024, 2, 1)}),
    ("DATE", "%e %b %Y", {"1 Feb 2024": date(2024, 2, 1)}),
    ("DATE", "%M %e, %Y", {"February 1, 2024": date(2024, 2, 1)}),
    ("DATETIME", "%Y-%m-%dT%H:%i:%sZ", {"2024-02-01T10:11:12Z": datetime(2024, 2, 1, 10, 11, 12)}),
    ("DATETIME", "%m/%d/%Y %h:%i %p", {"2/1/2024 12:05 am": datetime(2024, 2, 1, 0, 5)}),
    ("DATETIME(3)", "%d.%m.%Y %H:%i:%s.%f", {"01.02.2024 10:11:12.125": datetime(2024, 2, 1, 10, 11, 12, 125000)}),
    ("DATETIME", "%d.%m.%Y %H:%i:%s.%f", {"01.02.2024 10:11:12.000": datetime(2024, 2, 1, 10, 11, 12)}),
    (
        "DATETIME",
        "%Y-%m-%dT%H:%i:%s%z",
        {
            "2024-02-01T10:11:12+02:00": datetime(2024, 2, 1, 8, 11, 12),
            "2024-02-01T10:11:12-0330": datetime(2024, 2, 1, 13, 41, 12),
            "2024-02-01T10:11:12Z": datetime(2024, 2, 1, 10, 11, 12),
            "2024-02-01T10:11:12z": datetime(2024, 2, 1, 10, 11, 12),
            "2024-01-01T00:11:12+14:00": datetime(2023, 12, 31, 10, 11, 12),
        },
    ),
    ("TIMESTAMP NULL", "%d.%m.%Y %H:%i%z", {"01.02.2024 10:11+02:00": datetime(2024, 2, 1, 8, 11)}),
    ("DATE", "%d-%b-%y", {"01-Feb-24": date(2024, 2, 1), "01-Feb-70": date(1970, 2, 1), "1-Feb-69": date(2069, 2, 1)}),
    (
        "DATE",
        "%d. %B %Y",
        {
            "5. März 2024": date(2024, 3, 5),
            "05. MÄRZ 2024": date(2024, 3, 5),
            "5. Jan. 2024": date(2024, 1, 5),
            "31. Dezember 2024": date(2024, 12, 31),
            "7. august 2024": date(2024, 8, 7),
        },
    ),
    (
        "DATE",
        "%d %B %Y",
        {
            "5 févr. 2024": date(2024, 2, 5),
            "5 Août 2024": date(2024, 8, 5),
            "5 set 2024": date(2024, 9, 5),
            "5 mei 2024": date(2024, 5, 5),
            "29 gennaio 2024": date(2024, 1, 29),
        },
    ),
    ("DATE", "%d de %B de %Y", {"5 de março de 2024": date(2024, 3, 5), "1 de dic. de 2024": date(2024, 12, 1)}),
    ("DATETIME", "%d-%B-%Y %H:%i", {"05-okt-2024 10:11": datetime(2024, 10, 5, 10, 11)}),
    ("DATE", "mar %d %B %Y", {"mar 5 abril 2024": "bad"}),
    ("TIME", "%h:%i %p", {"10:11 pm": timedelta(hours=22, minutes=11)}),
    ("DATE", "(%d'%m\\%Y)", {"(01'02\\2024)": date(2024, 2, 1)}),
]
NO_DATES = ["", "x", "31.02.2024", "01.02.24", "2024-02-01", "01.02.2024 ", " 01.02.2024", "01.02.2024x", "00.00.0000"]
NO_DATES += [
    "01.02.20244",
    "1.13.2024",
    "0.1.2024",
    "01.02.2024\0",
    "01.02.2024\r",
    "01. 02.2024",
    "\u0660\u0661.02.2024",
]
NO_DATES += ["2024-02-30T10:11:12Z", "2024-02-01T24:11:12Z", "2024-02-01T10:11:60Z", "2024-02-01T10:11:12z"]
NO_DATES += ["01.02.2024 10:11:12.1234567"]
NO_DATES += ["31. Februar 2024", "5. Marz. 2024", "5. Mär z 2024", "5 mai.. 2024", "5 okto 2024", "5 mars de 2024"]


@pytest.mark.parametrize(("column", "datetime_format", "values"), DATES)
def test_formatted_date_or_time_is_exact_or_bad(database: Address, column: str, datetime_format: str, values: dict):
    results = stored(database, column, read(datetime_format=datetime_format), [*values, *NO_DATES])
    assert results == dict.fromkeys(NO_DATES, "bad") | values

"""A named time zone for servers in tests, which have none: their tables of zones are empty."""

from datetime import UTC, datetime

from importer.engine.mysql.connection import Address, connect, execute, fetch_all

# Winter time is UTC+1, summer time UTC+2, as in Berlin in 2024 and 2025.
ZONE, NUMBER = "Millrace/Berlin", 900
_CHANGES = [("2023-10-29", 0), ("2024-03-31", 1), ("2024-10-27", 0), ("2025-03-30", 1), ("2025-10-26", 0)]


def add_zone(address: Address) -> str:
    """Add the zone to the server, if it is not there; its name. Clocks change at 01:00 UTC."""
    with connect(address) as connection:
        if fetch_all(connection, "SELECT 1 FROM mysql.time_zone_name WHERE Name = %s", (ZONE,)):
            return ZONE
        execute(connection, "INSERT INTO mysql.time_zone VALUES (%s, 'N')", (NUMBER,))
        types = "INSERT INTO mysql.time_zone_transition_type VALUES (%s, %s, %s, %s, %s)"
        execute(connection, types, (NUMBER, 0, 3600, 0, "CET"))
        execute(connection, types, (NUMBER, 1, 7200, 1, "CEST"))
        for day, type_ in _CHANGES:
            at = int(datetime.fromisoformat(f"{day} 01:00").replace(tzinfo=UTC).timestamp())
            execute(connection, "INSERT INTO mysql.time_zone_transition VALUES (%s, %s, %s)", (NUMBER, at, type_))
        execute(connection, "INSERT INTO mysql.time_zone_name VALUES (%s, %s)", (ZONE, NUMBER))
    return ZONE

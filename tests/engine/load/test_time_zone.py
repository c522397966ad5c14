"""Times for TIMESTAMP columns are in the server's time zone, or in the one that was asked for; and the plan says so."""

from dataclasses import replace
from pathlib import Path

import pytest

from importer.engine.errors import Problem, TargetProblem
from importer.engine.load.chunk_load import LoadCallbacks
from importer.engine.load.loader import load_chunk
from importer.engine.mapping.columns import ColumnMapping, GeneratedColumn
from importer.engine.mysql.connection import Address, connect
from importer.engine.mysql.server_info import read_server
from importer.engine.plan.methods import METHODS
from importer.engine.plan.options import Options, check_options
from importer.engine.preflight.session_settings import check_session
from tests.engine.load.values import Came, came_of
from tests.engine.loads import HEADERLESS, load_bytes, rows_of, run_sql, works
from tests.engine.time_zones import add_zone

pytestmark = pytest.mark.both_servers

# 2024-01-31 10:00 UTC, and 2024-07-01 10:00 UTC.
WINTER, SUMMER = 1706695200, 1719828000
HOUR = 3600


def moments(database: Address, tmp_path: Path, times: list[str], **options) -> list[int]:
    """The seconds since 1970 that a TIMESTAMP stores; each time goes unchanged into a DATETIME as well."""
    came = loaded(database, tmp_path, times, **options)
    rows = rows_of(database, "SELECT UNIX_TIMESTAMP(ts), CAST(dt AS CHAR) FROM t ORDER BY n")
    assert [row[1] for row in rows] == [time for time in times if time not in {each[2] for each in came.rejects}]
    return [int(row[0]) for row in rows]


def loaded(database: Address, tmp_path: Path, times: list[str], **options) -> Came:
    data = "".join(f"{n},{time},{time}\n" for n, time in enumerate(times))
    asked = replace(Options(on_error="reject"), **options)
    return came_of(
        database,
        tmp_path,
        "n INT PRIMARY KEY, ts TIMESTAMP NULL, dt DATETIME NULL",
        data,
        dialect=HEADERLESS,
        options=asked,
    )


@pytest.mark.parametrize("verify", ["counts", "full"])
def test_times_are_in_the_servers_zone_as_load_data_reads_them(elsewhere, database: Address, tmp_path, verify: str):
    assert moments(database, tmp_path, ["2024-01-31 10:00:00"], verify=verify) == [WINTER - 5 * HOUR]


@pytest.mark.parametrize("zone", ["+00:00", "UTC"])
def test_or_in_utc_if_asked(elsewhere, database: Address, tmp_path, zone: str):
    if zone == "UTC":
        run_sql(database, "SET GLOBAL time_zone = '+00:00'")
    assert moments(database, tmp_path, ["2024-01-31 10:00:00"], time_zone=zone) == [WINTER]


@pytest.mark.parametrize("method", [each.name for each in METHODS.values() if not each.from_file])
def test_every_method_reads_times_in_the_requested_zone(database: Address, tmp_path, method: str):
    run_sql(database, "CREATE TABLE t (n INT PRIMARY KEY, ts TIMESTAMP NULL)")
    load_bytes(database, tmp_path, b"1,2024-01-31 10:00:00\n", ["n", "ts"], Options(time_zone="-03:30", method=method))
    assert rows_of(database, "SELECT UNIX_TIMESTAMP(ts) FROM t") == [(WINTER + 3 * HOUR + HOUR // 2,)]


@pytest.mark.parametrize("verify", ["counts", "full"])
def test_named_zone_follows_summer_time(database: Address, tmp_path, verify: str):
    times = ["2024-01-31 10:00:00", "2024-07-01 10:00:00"]
    assert moments(database, tmp_path, times, time_zone=add_zone(database), verify=verify) == [
        WINTER - HOUR,
        SUMMER - 2 * HOUR,
    ]


@pytest.mark.parametrize("verify", ["counts", "full"])
def test_hour_that_the_clocks_skip_is_rejected_with_its_reason(database: Address, tmp_path, verify: str):
    zone = add_zone(database)
    run_sql(database, "CREATE TABLE t (n INT PRIMARY KEY, ts TIMESTAMP NULL)")
    data = b"1,2024-03-31 01:59:59\n2,2024-03-31 02:30:00\n3,2024-03-31 03:00:00\n"
    options = Options(on_error="reject", time_zone=zone, verify=verify)
    came = load_bytes(database, tmp_path, data, ["n", "ts"], options)
    assert rows_of(database, "SELECT n FROM t ORDER BY n") == [(1,), (3,)]
    ((line, _, column, value, code, reason),) = came.explained
    assert (line, column, value, code) == ("2", "ts", "2024-03-31 02:30:00", "1299")
    assert "skip this hour" in reason
    assert "--time-zone" in reason


@pytest.mark.parametrize("verify", ["counts", "full"])
def test_hour_that_the_clocks_repeat_is_the_first(database: Address, tmp_path, verify: str):
    first = 1729989000  # 2024-10-27 00:30 UTC, in summer time
    zone = add_zone(database)
    assert moments(database, tmp_path, ["2024-10-27 02:30:00"], time_zone=zone, verify=verify) == [first]


def test_first_day_of_1970_is_taken_where_the_zone_allows_it(database: Address, tmp_path):
    times = ["1969-12-31 23:00:00", "1969-12-31 10:00:00", "1960-01-01 00:00:00"]
    came = loaded(database, tmp_path, times, time_zone="-05:00")
    assert len(came.rows) == 1
    assert [value for _, column, value, _ in came.rejects if column == "ts"] == times[1:]


def test_offset_in_a_value_is_refused_in_other_zones_than_utc(database: Address, tmp_path):
    run_sql(database, "CREATE TABLE t (n INT PRIMARY KEY, ts TIMESTAMP NULL)")
    options = Options(on_error="reject", time_zone="+05:00")
    came = load_bytes(database, tmp_path, b"1,2024-01-31 10:00:00+02:00\n", ["n", "ts"], options)
    assert [row[4] for row in came.explained] == ["offset"]


def test_formatted_time_is_in_the_zone_too(database: Address, tmp_path):
    run_sql(database, "CREATE TABLE t (n INT PRIMARY KEY, ts TIMESTAMP NULL)")
    mapping = ["n", ColumnMapping("ts", datetime_format="%d.%m.%Y %H:%i")]
    load_bytes(database, tmp_path, b"1,31.01.2024 10:00\n", mapping, Options(time_zone="+02:00"))
    assert rows_of(database, "SELECT UNIX_TIMESTAMP(ts) FROM t") == [(WINTER - 2 * HOUR,)]


def test_start_of_the_job_stays_the_same_moment(database: Address, source):
    run_sql(database, "CREATE TABLE t (n INT PRIMARY KEY, ts TIMESTAMP NULL, dt DATETIME NULL)")
    fillings = [GeneratedColumn("ts", "time"), GeneratedColumn("dt", "time")]
    (work,) = works(database, source("1\n"), ["n"], Options(time_zone="+05:00"), fillings=fillings)
    load_chunk(replace(work, began="2024-01-31 10:00:00"), LoadCallbacks())
    ((seconds, utc),) = rows_of(database, "SELECT UNIX_TIMESTAMP(ts), TIMESTAMPDIFF(SECOND, '1970-01-01', dt) FROM t")
    assert seconds == utc


class TestReasons:
    def reasons(self, database: Address, tmp_path, column: str, zone: str = "") -> list[tuple[str, str]]:
        run_sql(database, f"CREATE TABLE t (n INT PRIMARY KEY, x {column} NULL)")
        path = tmp_path / "data.csv"
        path.write_text("1,2024-01-31 10:00:00\n")
        plan = works(database, path, ["n", "x"], Options(time_zone=zone))[0].plan
        return [(each.choice, each.why) for each in plan.reasons if each.choice.startswith("Times of")]

    def test_zone_of_the_server_is_said_if_it_is_not_utc(self, elsewhere, database: Address, tmp_path):
        ((choice, why),) = self.reasons(database, tmp_path, "TIMESTAMP")
        assert choice == "Times of x are read as times in +05:00"
        assert "the server's own zone" in why

    def test_requested_zone_is_said(self, database: Address, tmp_path):
        assert self.reasons(database, tmp_path, "TIMESTAMP", "+00:00") == [
            ("Times of x are read as times in UTC", "as requested")
        ]

    def test_nothing_is_said_of_a_server_in_utc_or_without_a_timestamp(self, database: Address, tmp_path):
        assert self.reasons(database, tmp_path, "TIMESTAMP") == []

    def test_nothing_is_said_without_a_timestamp(self, elsewhere, database: Address, tmp_path):
        assert self.reasons(database, tmp_path, "DATETIME") == []


def test_zone_that_the_server_does_not_know_is_refused_before_the_import(database: Address, source):
    run_sql(database, "CREATE TABLE t (n INT PRIMARY KEY, x TIMESTAMP NULL)")
    path = source("1,2024-01-31 10:00:00\n")
    plan = works(database, path, ["n", "x"], Options(time_zone="Europe/Nowhere"))[0].plan
    with connect(database) as connection, pytest.raises(TargetProblem, match="does not know the time zone") as caught:
        check_session(connection, plan, read_server(connection, database))
    assert "mysql_tzinfo_to_sql" in caught.value.advice


@pytest.mark.parametrize("zone", ["+0200", "25:00", "'; DROP TABLE t", "+15:00", "Europe Berlin"])
def test_text_that_is_no_zone_is_refused(zone: str):
    with pytest.raises(Problem, match="not a time zone"):
        check_options(Options(time_zone=zone))

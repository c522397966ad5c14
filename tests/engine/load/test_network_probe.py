"""The distance to a server: measured over a line that is known, and what the planner makes of it."""

from dataclasses import replace

import pytest

from bench.relay import Link, linked
from importer.engine.load import ledger
from importer.engine.load.network_probe import NetworkProbe, probe
from importer.engine.mysql.connection import Address, connect
from importer.engine.mysql.server_info import read_server
from importer.engine.preflight import network
from importer.engine.preflight.finding import Subject
from importer.engine.units import MIB
from tests.engine.loads import rows_of
from tests.engine.planner.test_planner import plan, server, why

pytestmark = pytest.mark.both_servers


class TestMeasured:
    @pytest.fixture
    def subject(self, database: Address):
        """What a check of a server on another machine looks at; the ledger is there."""
        with connect(database) as connection:
            ledger.create(connection)
            yield Subject(connection, database, replace(read_server(connection, database), local=False))

    def test_over_a_line_of_known_delay_and_rate(self, subject: Subject, database: Address):
        with linked(database, Link(round_trip=0.02, rate=2e6)) as far:
            found = probe(far)
        assert found.round_trip_ms >= 20
        assert found.bytes_per_second
        assert 1e5 < found.bytes_per_second < 2.2e6
        assert rows_of(database, f"SELECT * FROM {ledger.TABLE}") == []

    def test_is_told_among_the_findings_and_handed_to_the_planner(self, subject: Subject):
        finding = network.network(subject)
        assert finding.distance
        assert finding.distance.bytes_per_second
        # A busy machine may be as slow as a bad network.
        slow = finding.distance.bytes_per_second < network.SLOW_LINE or finding.distance.round_trip_ms > network.FAR
        assert finding.status == ("warn" if slow else "ok")
        assert "iB/s" in finding.message
        assert "distance" not in finding.as_json()

    def test_a_slow_line_is_a_warning(self, subject: Subject, database: Address):
        with linked(database, Link(round_trip=0.002, rate=1e6)) as far:
            finding = network.network(replace(subject, address=far))
        assert finding.status == "warn"
        assert "nearer to the server" in finding.fix

    def test_not_on_this_machine_nor_without_the_ledger(self, subject: Subject, database: Address):
        near = replace(subject, server=replace(subject.server, local=True))
        assert network.network(near).distance is None
        subject.connection.query(f"DROP TABLE {ledger.TABLE}")
        assert "Not measured" in network.network(subject).message


FAR = server(local=False)


class TestPlan:
    @pytest.mark.parametrize(
        ("distance", "parallelism"),
        [
            (None, 4),
            (NetworkProbe(0.2, 110e6), 4),
            (NetworkProbe(0.5, 12e6), 2),
            (NetworkProbe(10, 12e6), 4),
            (NetworkProbe(150, 30e6), 6),
            (NetworkProbe(0.2, None), 4),
        ],
    )
    def test_as_many_sessions_as_keep_server_or_line_busy(self, distance: NetworkProbe | None, parallelism: int):
        assert plan(on=FAR, distance=distance).parallelism == parallelism

    @pytest.mark.parametrize(
        ("distance", "least", "most"),
        [
            (NetworkProbe(0.2, 110e6), 30 * 10**6, 32 * MIB),
            (NetworkProbe(4, 110e6), 30 * 10**6, 32 * MIB),
            (NetworkProbe(150, 30e6), 30 * MIB, 33 * MIB),
            (NetworkProbe(0.5, 12e6), 10 * MIB, 13 * MIB),
            (NetworkProbe(0.5, 0.1e6), MIB - 2**16, MIB + 2**16),
            (NetworkProbe(100, 10e6), 22 * MIB, 33 * MIB),
        ],
    )
    def test_chunks_suit_the_line(self, distance: NetworkProbe, least: int, most: int):
        assert least <= plan(on=FAR, distance=distance).chunk_bytes <= most

    def test_the_figures_stand_in_the_reason(self):
        said = why(plan(on=FAR, distance=NetworkProbe(0.5, 12e6)), "2 in parallel")
        assert "0.5 ms" in said
        assert "11.4 MiB/s, which fills the line" in said

    def test_is_nothing_to_a_server_on_this_machine(self):
        assert plan(distance=NetworkProbe(100, 1e6)).parallelism == 6

"""Which kind a server is, from recorded values of its variables and its greeting.

The values are public: of release notes, manuals, and listings of the servers' own clients.
"""

import pytest

from importer.engine.mysql.connection import connect
from importer.engine.mysql.server_info import Server, read_server
from importer.engine.mysql.servers import kinds
from importer.engine.mysql.servers.recognition import Signs, recognise

pytestmark = pytest.mark.both_servers

RECORDED = [
    # Name, version, version_comment, further variables.
    ("MySQL", "8.4.6", "MySQL Community Server - GPL", {"innodb_version": "8.4.6"}),
    ("MySQL", "9.7.4", "MySQL Enterprise Server - Commercial", {}),
    ("MySQL", "26.7.0", "MySQL Community Server - GPL", {}),
    ("MySQL", "5.7.44-log", "MySQL Community Server (GPL)", {}),
    ("MySQL", "8.0.44-0ubuntu0.24.04.1", "(Ubuntu)", {"innodb_version": "8.0.44"}),
    ("MySQL", "8.4.6", "Homebrew", {"innodb_version": "8.4.6"}),
    ("MariaDB", "10.11.19-MariaDB-deb12", "Debian 12", {"innodb_version": "10.11.19"}),
    ("MariaDB", "11.8.2-MariaDB-log", "mariadb.org binary distribution", {}),
    ("MariaDB", "12.3.2-MariaDB-ubu2404", "mariadb.org binary distribution", {}),
    ("Percona Server", "8.0.36-28", "Percona Server (GPL), Release 28, Revision 47601f19", {}),
    ("Aurora MySQL", "8.0.39", "Source distribution", {"aurora_version": "3.08.0", "innodb_version": "8.0.39"}),
    ("TiDB", "8.0.11-TiDB-v8.5.1", "TiDB Server (Apache License 2.0) Community Edition, MySQL 8.0 compatible", {}),
    ("TiDB", "5.7.25-TiDB-v6.2.0", "TiDB Server (Apache License 2.0) Community Edition, MySQL 5.7 compatible", {}),
    ("Vitess", "8.0.43-Vitess", "Version: 21.0.0", {}),
    ("OceanBase", "5.7.25-OceanBase_CE-v4.4.2.1", "OceanBase_CE 4.4.2.1 (r101000022026050611)", {}),
    (
        "SingleStore",
        "5.7.32",
        "SingleStoreDB source distribution (compatible; MySQL Enterprise & MySQL Commercial)",
        {},
    ),
    ("Dolt", "8.0.33", "Dolt", {}),
    ("Analytic server", "8.0.33", "StarRocks version 3.3.0", {}),
    ("Unknown server", "8.0.29", "", {}),
    ("Unknown server", "8.0.29", "Frontbase", {"innodb_version": "5.6.25"}),
]


@pytest.mark.parametrize(("name", "version", "comment", "more"), RECORDED)
def test_the_kind_follows_from_what_the_server_shows(name: str, version: str, comment: str, more: dict):
    assert [each.name for each in recognise(Signs(version, {"version_comment": comment, **more}))] == [name]


@pytest.mark.parametrize(
    ("also", "signs"),
    [
        (["Galera Cluster"], Signs("10.11.19-MariaDB", {"wsrep_on": "ON"})),
        ([], Signs("10.11.19-MariaDB", {"wsrep_on": "OFF"}, greeting="5.5.5-10.11.19-MariaDB")),
        (["ProxySQL"], Signs("8.0.44-mysql", {}, greeting="8.0.11", proxysql=True)),
        (["Proxy"], Signs("8.0.44-mysql", {}, greeting="8.0.11")),
        (["Proxy"], Signs("8.0.44-mysql", {}, "8.0.44-mysql", greeted_id=7, connection_id=9)),
        ([], Signs("8.0.44-mysql", {}, "8.0.44-mysql", greeted_id=7, connection_id=7 + 2**32)),
        (["MySQL Router"], Signs("8.0.44-mysql", {}, greeting="8.0.44-router")),
        (["MaxScale"], Signs("10.11.19-MariaDB", {}, greeting="10.11.19 24.02.1-maxscale")),
        (["Amazon RDS"], Signs("8.0.44-mysql", {"basedir": "/rdsdbbin/mysql-8.0.44.R1/"})),
        (["Google Cloud SQL"], Signs("8.0.41-google", {"version_comment": "(Google)", "innodb_version": "8.0.41"})),
        (["Azure Database"], Signs("8.0.42-azure", {"version_comment": "MySQL Community Server - GPL"})),
    ],
)
def test_what_spans_stands_before_or_runs_the_server_is_told(also: list[str], signs: Signs):
    server, *others = recognise(signs)
    assert server in (kinds.MYSQL, kinds.MARIADB)
    assert [each.name for each in others] == also


def test_a_real_server_is_known_and_nothing_stands_before_it(server, database):
    with connect(database) as connection:
        read = read_server(connection, database)
    assert [each.name for each in read.kinds] == [{"mariadb": "MariaDB", "mysql": "MySQL"}[server.flavour]]
    assert not read.careful
    assert read.title == f"{read.flavour} {read.version}"


def test_a_kind_of_another_release_counts_as_unknown():
    assert Server("FutureBase", "1.0", {}, local=False, cores=2).careful


def test_every_kind_that_nobody_has_tried_takes_no_file():
    assert all(not each.takes_local for each in kinds.KINDS.values() if each.careful)

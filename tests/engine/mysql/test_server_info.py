from dataclasses import replace

import pytest

from importer.engine.mysql.connection import connect, execute
from importer.engine.mysql.server_info import Server, is_loopback, read_server
from tests.engine.loads import rows_of

pytestmark = pytest.mark.both_servers


def read(address):
    with connect(address) as connection:
        return read_server(connection, address)


def make(version="8.4.2", **variables):
    return Server("MySQL", version, variables, local=True, cores=2)


class TestReadServer:
    def test_flavour_and_version_are_the_servers_own(self, server, database):
        facts = read(database)
        version = rows_of(database, "SELECT VERSION()")[0][0]
        assert facts.flavour == {"mariadb": "MariaDB", "mysql": "MySQL"}[server.flavour]
        assert facts.mariadb == (server.flavour == "mariadb")
        assert facts.version == version
        assert facts.release >= (8, 0)

    def test_settings_are_the_servers_own(self, database):
        facts = read(database)
        buffer_pool, lock_mode = rows_of(database, "SELECT @@innodb_buffer_pool_size, @@innodb_autoinc_lock_mode")[0]
        assert facts.number("innodb_buffer_pool_size") == buffer_pool
        assert facts.number("innodb_autoinc_lock_mode") == lock_mode
        assert facts.on("local_infile")
        assert "STRICT_TRANS_TABLES" in facts.variables["sql_mode"]

    def test_settings_are_the_global_ones_that_new_sessions_get(self, database):
        with connect(database) as connection:
            execute(connection, "SET SESSION sql_mode = ''")
            assert "STRICT_TRANS_TABLES" in read_server(connection, database).variables["sql_mode"]

    def test_variable_that_a_flavour_does_not_have_is_absent(self, server, database):
        facts = read(database)
        assert ("super_read_only" in facts.variables) == (server.flavour == "mysql")
        assert ("innodb_redo_log_capacity" in facts.variables) == (server.flavour == "mysql")
        assert facts.number("aurora_version") is None

    def test_redo_log_size_is_known_on_every_flavour(self, database):
        assert read(database).redo_bytes >= 2**20

    def test_account_without_privileges_reads_the_server_too(self, server, database):
        server.run("CREATE USER nobody_much@'127.0.0.1' IDENTIFIED BY 'secret'")
        try:
            poor = replace(database, user="nobody_much", password="secret", database="information_schema")
            assert read(poor).variables["version"] == read(database).variables["version"]
        finally:
            server.run("DROP USER nobody_much@'127.0.0.1'")

    def test_test_server_is_on_this_machine(self, database):
        assert read(database).local


class TestServer:
    @pytest.mark.parametrize(
        ("version", "release"),
        [("10.11.19-MariaDB-deb12", (10, 11, 19)), ("9.7.4", (9, 7, 4)), ("8.0.36-28", (8, 0, 36)), ("odd", (0,))],
    )
    def test_release_is_the_version_as_numbers(self, version, release):
        assert make(version).release == release

    def test_server_switch_is_on_in_any_spelling_and_off_when_absent(self):
        server = make(local_infile="ON", read_only="1", log_bin="OFF")
        assert server.on("local_infile")
        assert server.on("read_only")
        assert not server.on("log_bin")
        assert not server.on("wsrep_on")

    def test_redo_log_of_old_mysql_is_file_size_times_files(self):
        assert make(innodb_log_file_size="50331648", innodb_log_files_in_group="2").redo_bytes == 2 * 50331648
        assert make(innodb_redo_log_capacity="104857600", innodb_log_file_size="50331648").redo_bytes == 104857600
        assert make().redo_bytes is None


class TestLoopback:
    @pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "::1", "localhost"])
    def test_loopback_host_is_this_machine(self, host):
        assert is_loopback(host)

    @pytest.mark.parametrize("host", ["192.0.2.7", "no-such-name.invalid"])
    def test_remote_or_unknown_host_is_not_this_machine(self, host):
        assert not is_loopback(host)

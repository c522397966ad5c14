from importer.engine.mysql.connection import Address, connect, connect_loader, fetch_all


class TestConnect:
    def test_connect_speaks_to_the_server(self, database: Address):
        with connect(database) as connection:
            assert fetch_all(connection, "SELECT DATABASE()") == [(database.database,)]

    def test_loader_session_is_strict_and_in_utc(self, database: Address):
        with connect_loader(database) as connection:
            mode, zone = fetch_all(connection, "SELECT @@sql_mode, @@time_zone")[0]
        assert "STRICT_ALL_TABLES" in mode
        assert zone == "+00:00"

"""A cancelled load ends even if its server neither takes the data nor ends the connection."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from MySQLdb import OperationalError

from importer.engine.mysql.connection import connect_loader
from importer.models import Target
from importer.worker import heartbeat
from importer.worker.heartbeat import LeaseKeeper
from tests.engine.mysql.test_hostile_servers import PATIENCE, send
from tests.hostile_servers import KINDS

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_load_that_is_no_longer_wanted_waits_for_no_server(monkeypatch):
    monkeypatch.setattr(heartbeat, "CHECK_SECONDS", 0.01)
    cancelled = threading.Event()
    with KINDS["takes nothing of a load"]() as server, ThreadPoolExecutor(1) as pool:
        target = Target(name="far", host="127.0.0.1", port=server.port, user="somebody", database="shop", tls="off")
        keeper = LeaseKeeper("a load", target, lambda _: True, lambda: not cancelled.is_set())
        with connect_loader(target.address) as connection, keeper:
            keeper.connected(connection.thread_id(), connection.give_up)
            sending = pool.submit(send, connection)
            assert server.asked.wait(PATIENCE)
            assert not sending.done()
            cancelled.set()
            with pytest.raises(OperationalError, match="cut the connection"):
                sending.result(PATIENCE)
        assert keeper.killed

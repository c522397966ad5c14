"""Kill the worker or the server while keys are put back: the job does not end before all are as they were."""

from tests.faults.keyless import Keyless, Status
from tests.stack import Stack, wait_until
from tests.targets import TestServer


def test_the_worker_is_killed_while_keys_are_put_back(keyless: Keyless, stack: Stack):
    keyless.start()
    wait_until(keyless.builds, what="keys that are being built")
    stack.load_worker.kill()
    stack.load_worker.start()
    keyless.ends(Status.SUCCEEDED)


def test_the_server_is_killed_while_keys_are_put_back(keyless: Keyless, server: TestServer):
    keyless.start()
    wait_until(keyless.builds, what="keys that are being built")
    server.kill()
    server.start()
    keyless.ends(Status.SUCCEEDED)

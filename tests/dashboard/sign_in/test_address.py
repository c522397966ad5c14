"""The address that tries count for, directly and behind proxies."""

import pytest
from django.test import RequestFactory

from dashboard.sign_in.address import client_address, network_of


def address(peer, forwarded="", header="X-Forwarded-For"):
    headers = {header: forwarded} if forwarded else {}
    return client_address(RequestFactory().get("/", headers=headers, REMOTE_ADDR=peer))


def test_without_a_trusted_proxy_the_header_is_not_believed():
    assert address("198.51.100.7", "203.0.113.9") == "198.51.100.7"


@pytest.mark.parametrize(
    ("forwarded", "found"),
    [
        ("203.0.113.9", "203.0.113.9"),
        ("1.1.1.1, 203.0.113.9", "203.0.113.9"),  # the browser's own header, before what the proxy appended
        ("1.1.1.1, 203.0.113.9, 10.1.2.3", "203.0.113.9"),
        ("203.0.113.9:4711", "203.0.113.9"),
        ("2001:db8::1", "2001:db8::1"),
        ("[2001:db8::1]:4711", "2001:db8::1"),
        ("::ffff:203.0.113.9", "203.0.113.9"),
        ("unknown", "127.0.0.1"),
        ("", "127.0.0.1"),
        ("10.1.2.3, 10.1.2.4", "10.1.2.3"),
    ],
)
def test_behind_trusted_proxies_it_is_the_nearest_that_is_none(settings, forwarded, found):
    settings.TRUSTED_PROXIES = ["127.0.0.1", "10.0.0.0/8"]
    assert address("127.0.0.1", forwarded) == found


def test_who_is_no_proxy_cannot_pretend(settings):
    settings.TRUSTED_PROXIES = ["127.0.0.1"]
    assert address("198.51.100.7", "203.0.113.9") == "198.51.100.7"


def test_another_header_by_setting(settings):
    settings.TRUSTED_PROXIES, settings.PROXY_HEADER = ["127.0.0.1"], "X-Real-IP"
    assert address("127.0.0.1", "203.0.113.9", "X-Real-IP") == "203.0.113.9"
    assert address("127.0.0.1", "203.0.113.9") == "127.0.0.1"


@pytest.mark.parametrize(
    ("address", "place"),
    [("203.0.113.9", "203.0.113.9"), ("2001:db8::1:2:3", "2001:db8::/64"), ("", ""), ("nonsense", "nonsense")],
)
def test_an_ipv6_network_of_one_customer_is_one_place(address, place):
    assert network_of(address) == place

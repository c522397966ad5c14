from dataclasses import replace

import pytest
from django.db import connection as app_database

from importer import targets
from importer.engine.errors import TargetProblem
from importer.models import ImportJob, Target
from importer.targets import Protection, TargetUrl, Terms, add_or_replace, default_tls, parse_url, refuse_forbidden
from tests.dashboard.job_data import make_job
from tests.rogue_server import RoguePasswordServer

CANARY = "CANARY-7f3a"
ENCRYPTED = Protection("encrypt")
SERVER_KEY = RoguePasswordServer().public_key
SHOP = TargetUrl("127.0.0.1", 3306, "loader", "shop")


def url_of(address):
    return TargetUrl(address.host, address.port, address.user, address.database)


class TestParseUrl:
    @pytest.mark.parametrize(
        ("url", "parts"),
        [
            ("mysql://me@db.example.org:3307/shop", TargetUrl("db.example.org", 3307, "me", "shop")),
            ("mysql://me@db.example.org/shop", TargetUrl("db.example.org", 3306, "me", "shop")),
            ("mysql://me@[::1]:3306/shop", TargetUrl("::1", 3306, "me", "shop")),
            ("mysql://m%40e:p%2Fw%3A@h/sh%2Dop%25", TargetUrl("h", 3306, "m@e", "sh-op%", "p/w:")),
        ],
    )
    def test_parts_are_decoded(self, url, parts):
        assert parse_url(url) == parts

    @pytest.mark.parametrize(
        ("url", "said"),
        [
            ("postgres://me@h/shop", "mysql://"),
            ("h:3306/shop", "mysql://"),
            ("mysql://h/shop", "no user"),
            ("mysql://me@/shop", "no host"),
            ("mysql://me@h", "database"),
            ("mysql://me@h/", "database"),
            ("mysql://me@h/a/b", "database"),
            ("mysql://me@h/shop?ssl=1", "options"),
            ("mysql://me@h/shop#x", "options"),
            ("mysql://me@h:99999/shop", "valid host and port"),
            ("mysql://me@h:x/shop", "valid host and port"),
            ("mysql://me@h:0/shop", "port is 0"),
            ("mysql://me@[::1/shop", "valid host and port"),
        ],
    )
    def test_anything_else_is_refused_with_the_right_shape(self, url, said):
        with pytest.raises(TargetProblem) as caught:
            parse_url(url)
        assert said in str(caught.value)
        assert "mysql://USER@HOST:PORT/DATABASE" in str(caught.value)

    @pytest.mark.parametrize("rest", ["h:99999/shop", "h/a/b", "h/shop?x=1", "[::1/shop", ":x/y"])
    def test_a_refusal_does_not_repeat_the_password(self, rest):
        with pytest.raises(TargetProblem) as caught:
            parse_url(f"mysql://me:{CANARY}@{rest}")
        assert CANARY not in str(caught.value)
        assert CANARY not in repr(parse_url(f"mysql://me:{CANARY}@h/shop"))


class TestAddressPolicy:
    @pytest.mark.parametrize(
        "host",
        [
            "169.254.169.254",
            "169.254.0.1",
            "0xa9fea9fe",
            "2852039166",
            "fe80::1",
            "::ffff:169.254.169.254",
            "fd00:ec2::254",
            "fd00:ec2::23",
            "100.100.100.200",
            "fd00:100::100:200",
            "168.63.129.16",
            "64:ff9b::168.63.129.16",
            "192.0.0.192",
            "fd00:c1::a9fe:a9fe",
            "fd20:ce::254",
            "fd00:42::42",
            "fd00:a9fe:a9fe::1",
            "64:ff9b:1::a9fe:a9fe",
            "64:ff9b:1:a9fe:a9:fe00::",
        ],
    )
    def test_link_local_and_metadata_addresses_are_refused_in_any_spelling(self, host):
        with pytest.raises(TargetProblem, match="metadata"):
            refuse_forbidden(host)

    @pytest.mark.parametrize("host", ["127.0.0.1", "10.1.2.3", "192.168.7.7", "::1", "no-such-host.invalid"])
    def test_private_networks_are_allowed_and_unknown_names_left_to_connecting(self, host):
        refuse_forbidden(host)

    @pytest.mark.parametrize(
        ("host", "tls"), [("127.0.0.1", "off"), ("localhost", "off"), ("::1", "off"), ("192.0.2.1", "verify")]
    )
    def test_tls_is_verified_by_default_except_on_this_machine(self, host, tls):
        assert default_tls(host) == tls


@pytest.mark.django_db
class TestAddOrReplace:
    def test_a_name_is_given_once(self):
        add_or_replace("shop", SHOP)
        with pytest.raises(TargetProblem, match="--replace"):
            add_or_replace("shop", SHOP)

    def test_replace_updates_the_target(self):
        first = add_or_replace("shop", SHOP)
        other, terms = replace(SHOP, database="other"), Terms(ceiling=3)
        second = add_or_replace("shop", other, protection=ENCRYPTED, terms=terms, replace=True)
        assert (second.pk, second.database, second.tls, second.ceiling) == (first.pk, "other", "encrypt", 3)

    def test_a_stored_password_stays_while_it_goes_to_the_same_place(self):
        add_or_replace("shop", SHOP, password=CANARY)
        same = add_or_replace("shop", SHOP, terms=Terms(ceiling=3), replace=True)
        assert (same.address.password, same.ceiling) == (CANARY, 3)

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("host", "192.0.2.1"),
            ("port", 3307),
            ("user", "root"),
            ("database", "other"),
            ("tls", "encrypt"),
            ("tls_ca", "/other.pem"),
            ("server_key", SERVER_KEY),
            ("clear_password", True),
        ],
    )
    def test_a_stored_password_is_not_sent_elsewhere(self, name, value):
        add_or_replace("shop", SHOP, password=CANARY)
        protection, url = Protection(), SHOP
        if hasattr(SHOP, name):
            url = replace(SHOP, **{name: value})
        else:
            protection = Protection(**{name: value})
        with pytest.raises(TargetProblem, match=f"Changed: .*{name}"):
            add_or_replace("shop", url, protection=protection, replace=True)
        assert getattr(Target.objects.get(), name) != value
        moved = add_or_replace("shop", url, password="another", protection=protection, replace=True)
        assert moved.address.password == "another"

    @pytest.mark.parametrize(
        ("status", "left"),
        [
            ("loading", {}),
            ("failed", {"changes": "left"}),
            ("failed", {"changes": "made"}),
            ("failed", {"staging": "merged"}),
        ],
    )
    def test_a_target_that_imports_must_go_back_to_stays_where_it_is(self, status, left):
        job = make_job(status, **left)
        here = TargetUrl("127.0.0.1", 1, "loader", "osm")
        for moved in (replace(here, host="127.0.0.2"), replace(here, port=2), replace(here, database="other")):
            with pytest.raises(TargetProblem, match=f"work to do there: {job.pk}"):
                add_or_replace("warehouse", moved, replace=True)
        assert add_or_replace("warehouse", replace(here, user="root"), replace=True).user == "root"
        assert add_or_replace("warehouse", replace(here, port=2), replace=True, moved=True).port == 2
        add_or_replace("warehouse", here, replace=True, moved=True)
        ImportJob.objects.update(status="failed", **dict.fromkeys(left, False))
        assert add_or_replace("warehouse", moved, replace=True).database == "other"

    @pytest.mark.parametrize(
        "text",
        ["no key", SERVER_KEY[:80], SERVER_KEY.replace("PUBLIC", "PRIVATE")],
        ids=["no key", "cut off", "private key"],
    )
    def test_a_server_key_that_is_none_is_refused(self, text):
        with pytest.raises(TargetProblem, match="no public RSA key"):
            add_or_replace("shop", SHOP, protection=Protection(server_key=text))

    def test_the_protection_reaches_the_connection(self):
        add_or_replace("shop", SHOP, protection=Protection("verify", "/ca.pem", SERVER_KEY, True))
        address = Target.objects.get().address
        assert (address.tls, address.tls_ca) == ("verify", "/ca.pem")
        assert (address.server_key, address.clear_password) == (SERVER_KEY, True)

    def test_no_password_is_asked_for_where_none_is_stored(self):
        add_or_replace("shop", SHOP, password="")
        assert add_or_replace("shop", replace(SHOP, port=3307), replace=True).address.password == ""

    def test_forbidden_addresses_are_not_kept(self):
        with pytest.raises(TargetProblem, match="metadata"):
            add_or_replace("cloud", replace(SHOP, host="169.254.169.254"))
        assert not Target.objects.exists()

    @pytest.mark.parametrize(("name", "ceiling"), [("has space", None), ("a/b", None), ("", None), ("a", 0), ("a", 65)])
    def test_values_that_are_not_allowed(self, name, ceiling):
        with pytest.raises(TargetProblem):
            add_or_replace(name, SHOP, terms=Terms(ceiling=ceiling))
        assert not Target.objects.exists()

    def test_the_password_is_nowhere_in_clear(self):
        target = add_or_replace("shop", SHOP, password=CANARY)
        assert target.address.password == CANARY
        with app_database.cursor() as cursor:
            cursor.execute("SELECT * FROM importer_target")
            stored = repr(cursor.fetchall())
        assert "shop" in stored
        assert CANARY not in stored
        assert CANARY not in repr(target.address) + repr(target) + str(target.address)


@pytest.mark.django_db
class TestCheck:
    def test_findings_are_kept_with_the_target(self, database):
        target = add_or_replace("here", url_of(database))
        findings = targets.check(target)
        kept = Target.objects.get(name="here")
        assert kept.findings == findings
        assert kept.checked_at is not None
        assert targets.passed(findings)
        assert {"name", "status", "message", "fix"} == set(findings[0])

    def test_failed_findings_are_stored_too(self, database):
        target = add_or_replace("here", url_of(database), password="wrong")
        findings = targets.check(target)
        assert not targets.passed(findings)
        assert Target.objects.get(name="here").findings == findings

    def test_a_new_address_makes_old_findings_void(self, database):
        targets.check(add_or_replace("here", url_of(database)))
        target = add_or_replace("here", replace(url_of(database), database="other"), replace=True)
        assert (target.findings, target.checked_at) == ([], None)

    def test_the_distance_is_kept_for_the_planner_until_the_address_changes(self, database, monkeypatch):
        # Every server of the tests is on this machine; for this one it is to seem elsewhere.
        monkeypatch.setattr("importer.engine.mysql.server_info.is_loopback", lambda _: False)
        targets.check(add_or_replace("here", url_of(database)))
        distance = Target.objects.get(name="here").distance
        assert distance is not None
        assert distance.bytes_per_second
        moved = add_or_replace("here", replace(url_of(database), database="other"), replace=True)
        assert moved.distance is None

    def test_a_name_that_has_come_to_mean_a_metadata_address_is_not_connected_to(self):
        target = add_or_replace("cloud", SHOP)
        Target.objects.filter(pk=target.pk).update(host="0xa9fea9fe")
        target.refresh_from_db()
        (finding,) = targets.check(target)
        assert (finding["name"], finding["status"]) == ("address", "fail")

    def test_localhost_means_the_port_and_not_some_socket(self, database):
        target = add_or_replace("here", replace(url_of(database), host="localhost"))
        assert targets.passed(targets.check(target))

    def test_the_password_is_in_no_finding(self, database):
        target = add_or_replace("here", url_of(database), password=CANARY)
        assert CANARY not in repr(targets.check(target))

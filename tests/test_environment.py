"""Tests config/environment.py, which reads the settings."""

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured
from kombu.utils.url import parse_url
from redis import Redis

from config.environment import (
    browser_address,
    env,
    private_folder,
    private_sqlite,
    server_options,
    server_url,
    signing_key,
    socket_path,
    store_address,
    stored_key,
    time_zone,
)
from config.telemetry.logs import logging_with
from tests.stack import ROOT


@pytest.mark.parametrize("length", range(60, 130))
def test_the_path_of_a_socket_is_short_enough_for_any_folder(length: int):
    path = socket_path(Path("/" + "x" * (length - 1)), "supervisor.sock")
    assert len(os.fsencode(path)) + len(".4194304") <= 107


def test_two_long_folders_have_different_sockets():
    first, second = Path("/" + "x" * 120), Path("/" + "x" * 121)
    assert socket_path(first, "redis.sock") != socket_path(second, "redis.sock")


def test_a_key_is_generated_once_and_readable_by_its_owner_only(tmp_path: Path):
    key = stored_key(tmp_path / "keys" / "one")
    assert key == stored_key(tmp_path / "keys" / "one")
    assert key != stored_key(tmp_path / "keys" / "two")
    assert (tmp_path / "keys" / "one").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("key", ["changeme", "secret" * 2, "x" * 80, "abab" * 20, "django-insecure-" + "k7Zq3mW9" * 8])
def test_a_signing_key_that_can_be_guessed_is_refused(key: str):
    with pytest.raises(ImproperlyConfigured, match="SECRET_KEY can be guessed") as refused:
        signing_key(key)
    assert key not in str(refused.value)


def test_nothing_starts_with_a_signing_key_that_can_be_guessed(tmp_path: Path):
    env = {"PATH": "/usr/bin:/bin", "VAR_DIR": str(tmp_path), "SECRET_KEY": "changeme"}
    done = subprocess.run([sys.executable, "-c", "from config import settings"], cwd=ROOT, env=env, capture_output=True)
    assert b"SECRET_KEY can be guessed" in done.stderr


def test_a_relative_path_is_one_folder_wherever_a_command_is_started(tmp_path: Path):
    relative = os.path.relpath(tmp_path / "var", ROOT)
    env = {
        "PATH": "/usr/bin:/bin",
        "PYTHONPATH": str(ROOT),
        "VAR_DIR": relative,
        "FILE_STORE_CA": "certificates/ca.pem",
    }
    env |= dict.fromkeys(("UPLOAD_DIR", "PLAIN_DIR", "REJECTS_DIR", "STATIC_DIR"), "elsewhere/files")
    env |= {"DATABASE_URL": f"sqlite:///{relative}/own.sqlite3"}
    code = (
        "from config.settings import *; print(VAR_DIR, UPLOAD_DIR, PLAIN_DIR, REJECTS_DIR, STATIC_ROOT, FILE_STORE_CA,"
        " Path(DATABASES['default']['NAME']).resolve(), sep='\\n')"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=env, capture_output=True, text=True)
    files, var_dir = str(ROOT / "elsewhere/files"), tmp_path / "var"
    expected = [str(var_dir), *[files] * 4, str(ROOT / "certificates/ca.pem"), str(var_dir / "own.sqlite3")]
    assert done.stdout.splitlines() == expected, done.stderr


@pytest.mark.parametrize("name", ["UTC", "Europe/Vienna", "America/Argentina/Buenos_Aires"])
def test_a_time_zone_is_accepted(name: str):
    assert time_zone(name) == name


@pytest.mark.parametrize("name", ["", "Europe", "Europe/Wien", "../etc/passwd", "/etc/localtime", "UTC+1"])
def test_a_name_that_is_no_time_zone_is_refused(name: str):
    with pytest.raises(ImproperlyConfigured, match=r"TIME_ZONE is .* no time zone"):
        time_zone(name)


@pytest.mark.parametrize("level", ["info", "Info", "INFO"])
def test_a_log_level_is_accepted_in_small_letters(level: str):
    assert logging_with("line", level)["root"]["level"] == "INFO"


def test_a_generated_signing_key_is_accepted(tmp_path: Path):
    key = stored_key(tmp_path / "keys" / "one")
    assert signing_key(key) == key


class TestPrivateFiles:
    def test_an_open_folder_that_was_there_before_is_closed_to_others(self, tmp_path: Path):
        folder = tmp_path / "var"
        folder.mkdir()
        folder.chmod(0o2775)
        private_folder(folder)
        assert folder.stat().st_mode & 0o7777 == 0o700

    def test_a_folder_of_everybody_is_refused_and_stays_as_it_is(self, tmp_path: Path):
        tmp_path.chmod(0o1777)
        with pytest.raises(ImproperlyConfigured, match="everybody"):
            private_folder(tmp_path)
        assert tmp_path.stat().st_mode & 0o7777 == 0o1777

    def test_a_new_database_and_its_log_are_readable_by_their_owner_only(self, tmp_path: Path):
        path = tmp_path / "millrace.sqlite3"
        private_sqlite(path)
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("CREATE TABLE t (a)")
            assert {each.stat().st_mode & 0o777 for each in tmp_path.iterdir()} == {0o600}
            assert len(list(tmp_path.iterdir())) == 3

    def test_a_database_and_a_log_that_were_there_before_are_closed_to_others(self, tmp_path: Path):
        for name in ("millrace.sqlite3", "millrace.sqlite3-wal"):
            (tmp_path / name).write_bytes(b"")
            (tmp_path / name).chmod(0o644)
        private_sqlite(tmp_path / "millrace.sqlite3")
        assert {each.stat().st_mode & 0o777 for each in tmp_path.iterdir()} == {0o600}

    def test_no_file_is_made_for_a_database_in_memory(self, tmp_path: Path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        private_sqlite(Path(":memory:"))
        assert list(tmp_path.iterdir()) == []

    def test_an_open_key_that_was_there_before_is_closed_to_others(self, tmp_path: Path):
        path = tmp_path / "keys" / "one"
        stored_key(path)
        path.chmod(0o644)
        path.parent.chmod(0o755)
        stored_key(path)
        assert path.stat().st_mode & 0o777 == 0o600
        assert path.parent.stat().st_mode & 0o777 == 0o700


def test_the_admin_password_is_read_once_and_given_to_no_child(tmp_path: Path):
    program = (
        "import os\nfrom config import settings\nprint(settings.ADMIN_PASSWORD)\nos.execv('/usr/bin/env', ['env'])"
    )
    env = {"PATH": "/usr/bin:/bin", "VAR_DIR": str(tmp_path), "ADMIN_PASSWORD": "canary-7f3a", "PYTHONUNBUFFERED": "1"}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, env=env, capture_output=True, text=True, check=True
    )
    assert done.stdout.count("canary-7f3a") == 1
    assert "VAR_DIR=" in done.stdout


class TestBrowserAddress:
    @pytest.mark.parametrize(
        "text", ["", "https://store.example.org", "http://10.0.0.1:8333/", "https://[fd12::1]:9000"]
    )
    def test_an_origin(self, text: str):
        assert browser_address(text, "s3://files") == text.rstrip("/")

    @pytest.mark.parametrize(
        "text", ["store", "s3://files", "https://host/files", "https://a b", "https://a;img-src *"]
    )
    def test_another_text_is_refused_with_what_to_write(self, text: str):
        with pytest.raises(ImproperlyConfigured, match=r"FILE_STORE_BROWSER_URL: write https://HOST"):
            browser_address(text, "s3://files")

    def test_it_needs_a_store(self):
        with pytest.raises(ImproperlyConfigured, match="FILE_STORE, which is not set"):
            browser_address("https://store.example.org", "")

    def test_pages_may_connect_to_it_and_to_nothing_else(self, tmp_path: Path):
        program = "from config import settings\nprint(settings.CONTENT_SECURITY_POLICY['DIRECTIVES']['connect-src'])"
        env = {"PATH": "/usr/bin:/bin", "VAR_DIR": str(tmp_path), "FILE_STORE": "s3://files"}
        env["FILE_STORE_BROWSER_URL"] = "https://store.example.org/"
        done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, env=env, capture_output=True, check=True)
        assert done.stdout.decode() == """["'self'", 'https://store.example.org']\n"""


class TestStoreAddress:
    @pytest.mark.parametrize("text", ["", "s3://files", "s3://files/", "s3://my.files/a/b-1_2/"])
    def test_a_bucket_with_or_without_a_prefix(self, text: str):
        assert store_address(text) == text.rstrip("/")

    @pytest.mark.parametrize(
        "text", ["files", "https://host/files", "s3://", "s3:///a", "s3://Files", "s3://files//a", "s3://f/ä"]
    )
    def test_another_text_is_refused_with_what_to_write(self, text: str):
        with pytest.raises(ImproperlyConfigured, match=r"FILE_STORE: write s3://BUCKET or"):
            store_address(text)


class TestServerUrl:
    @pytest.mark.parametrize("password", ["plain", "p@ss/w:rd#%?&= +é'\"\\$"])
    def test_a_password_apart_from_its_url_arrives_in_any_characters(self, password: str):
        database = server_url("DATABASE_URL", "mysql://me@db:3307/shop?ssl_mode=DISABLED", password)
        read = env.db_url_config(database)
        assert (read["PASSWORD"], read["USER"], read["HOST"], read["PORT"]) == (password, "me", "db", 3307)
        assert (read["NAME"], read["OPTIONS"]) == ("shop", {"ssl_mode": "DISABLED"})
        broker = server_url("REDIS_URL", "redis://redis:6379/0", password)
        assert Redis.from_url(str(broker)).get_connection_kwargs()["password"] == password
        assert parse_url(str(broker))["password"] == password

    @pytest.mark.parametrize("url", ["mysql://me:own%40@db/shop", "mysql://me:@db/shop", "sqlite:///a.sqlite3", None])
    def test_a_url_with_a_password_or_without_a_server_stays_as_it_is(self, url: str | None):
        assert server_url("DATABASE_URL", url, "another") == url
        assert server_url("DATABASE_URL", "mysql://me@db/shop", None) == "mysql://me@db/shop"

    @pytest.mark.parametrize("url", ["mysql://me:a/b@db/shop", "mysql://me:a#b@db/shop", "mysql://me@[db/shop"])
    def test_one_that_cannot_be_read_says_how_to_write_it(self, url: str):
        with pytest.raises(
            ImproperlyConfigured, match="set DATABASE_PASSWORD, or write @ / : # % in it as %40"
        ) as caught:
            server_url("DATABASE_URL", url, None)
        assert "a/b" not in str(caught.value)


class TestServerOptions:
    def test_they_have_the_tls_of_the_url(self, tmp_path: Path):
        authority = tmp_path / "ca.pem"
        authority.write_text("")
        options = server_options({"OPTIONS": {"ssl_mode": "VERIFY_IDENTITY", "ssl_ca": str(authority)}})
        assert (options["ssl_mode"], options["ssl"]) == ("VERIFY_IDENTITY", {"ca": str(authority)})
        assert options["isolation_level"] == server_options({})["isolation_level"] == "read committed"

    @pytest.mark.parametrize(
        ("of_url", "said"),
        [
            ({"sslmode": "VERIFY_IDENTITY"}, "sslmode is no option"),
            ({"ssl_mode": "REQUIRED"}, "ssl_mode is 'REQUIRED'. Write one of DISABLED, VERIFY_IDENTITY"),
            ({"ssl_ca": "/nowhere/ca.pem"}, "/nowhere/ca.pem, which is no file"),
        ],
    )
    def test_a_wrong_one_is_named(self, of_url: dict[str, str], said: str):
        with pytest.raises(ImproperlyConfigured, match=said):
            server_options({"OPTIONS": of_url})

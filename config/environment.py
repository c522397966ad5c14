"""Reads settings from the environment. A secret may also come from a file named by NAME_FILE (container secrets)."""

import hashlib
import os
import re
import secrets
import stat
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import ip_network
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit, urlunsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import environ
from django.core.exceptions import ImproperlyConfigured


class _NamedSettings(environ.Env):  # type: ignore[misc]
    """The environment, whose errors name the setting."""

    def get_value(self, var: str, *args: Any, **named: Any) -> Any:
        """The value of a setting. Raises ImproperlyConfigured for one of another type."""
        try:
            return super().get_value(var, *args, **named)
        except ValueError as error:
            raise ImproperlyConfigured(f"{var} is {os.environ.get(var)!r}: {error}.") from error


env = _NamedSettings()

SHORTEST_KEY = 32  # characters

# The path of a Unix socket has at most 108 bytes with a final NUL (unix(7)); supervisord appends a dot and its process
# id (at most 4194304) while it creates its socket.
LONGEST_SOCKET_PATH = 107 - len(".4194304")
MOST_DAYS = 36500
# Of the client library, without those that take a server without TLS as well (REQUIRED, docs/server-behaviour.md), and
# without VERIFY_CA, by which libmariadb checks the host, too.
TLS_MODES = ("DISABLED", "VERIFY_IDENTITY")


# A label of workers, and of the targets that they load into.
LABEL = "[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?"
LABEL_WORDS = "Use up to 32 small letters, digits and hyphens, such as eu-west."


def secret(name: str) -> str | None:
    """The value of NAME, or the contents of the file that NAME_FILE names; None if neither is set."""
    if path := os.environ.get(f"{name}_FILE"):
        try:
            return Path(path).read_text().strip()
        except OSError as error:
            raise ImproperlyConfigured(f"{name}_FILE: cannot read {path}: {error.strerror}") from error
    return os.environ.get(name) or None


def server_url(name: str, url: str | None, password: str | None) -> str | None:
    """The URL of a server in the setting `name`, with the password in any characters; None without a URL.

    `password`: from a setting of its own; it is put in if the URL has none. Raises ImproperlyConfigured for a URL that
    cannot be read, as one with a bare / or # in its password.
    """
    if not url:
        return None
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as error:
        own = name.replace("_URL", "_PASSWORD")
        raise ImproperlyConfigured(
            f"{name} has no valid host and port. Leave the password out of it and set {own}, or write @ / : # % in it"
            " as %40 %2F %3A %23 %25."
        ) from error
    if not password or parts.password is not None or not parts.hostname:
        return url
    place = f"{parts.username or ''}:{quote(password, safe='')}@{parts.netloc.rpartition('@')[2]}"
    return urlunsplit(parts._replace(netloc=place))


def signing_key(key: str) -> str:
    """The key, checked. Raises ImproperlyConfigured for one that can be guessed, with which anybody can forge links."""
    if len(key) < SHORTEST_KEY or len(set(key)) < SHORTEST_KEY // 4 or key.startswith("django-insecure-"):
        raise ImproperlyConfigured(
            f"SECRET_KEY can be guessed: use at least {SHORTEST_KEY} random characters, and no example."
            " Leave it out, and one is made in VAR_DIR/keys; or make one:"
            " python3 -c 'import secrets; print(secrets.token_urlsafe(48))'"
        )
    return key


@dataclass(frozen=True)
class DaysSetting:
    """How a setting in days was declared: its default, the fewest days, and whether the environment has set it."""

    default: int
    least: int
    stated: bool


# The settings that days() has read, by name.
days_settings: dict[str, DaysSetting] = {}


def days(name: str, default: int, least: int = 1) -> int | None:
    """A number of days; None for `keep`: for ever. Raises ImproperlyConfigured for anything else."""
    days_settings[name] = DaysSetting(default, least, stated=name in os.environ)
    text = env.str(name, default=str(default)).strip()
    if text == "keep":
        return None
    if not (text.isascii() and text.isdigit() and least <= int(text) <= MOST_DAYS):
        raise ImproperlyConfigured(f"{name}: write {least} to {MOST_DAYS} days, or keep; not “{text}”.")
    return int(text)


def networks(texts: list[str], name: str) -> list[str]:
    """The networks of the setting `name`, checked.

    Raises ImproperlyConfigured for a text such as 10.0.0.1/8, which is none.
    """
    try:
        return [str(ip_network(text.strip())) for text in texts]
    except ValueError as error:
        raise ImproperlyConfigured(f"{name}: {error}. Write them as 10.20.0.0/16,fd12::/16") from error


def time_zone(name: str) -> str:
    """The name of a time zone, checked. Raises ImproperlyConfigured for one that does not exist."""
    try:
        ZoneInfo(name)
    except (OSError, ValueError, ZoneInfoNotFoundError) as error:  # OSError: the name of a folder, such as Europe
        raise ImproperlyConfigured(
            f"TIME_ZONE is {name!r}, which is no time zone. Write UTC or Europe/Vienna."
        ) from error
    return name


def worker_labels(texts: list[str]) -> list[str]:
    """The labels in LOADS, checked. Raises ImproperlyConfigured for a text that is none."""
    labels = [text.strip() for text in texts if text.strip()]
    if wrong := [label for label in labels if not re.fullmatch(LABEL, label, re.ASCII)]:
        raise ImproperlyConfigured(f"LOADS: {wrong[0]} is no label. {LABEL_WORDS} Several are separated by commas.")
    return labels


def store_address(text: str) -> str:
    """The address of a store without a / at its end; "" for none. Raises ImproperlyConfigured for another text."""
    address = text.strip().rstrip("/")
    if address and not re.fullmatch(r"s3://[a-z0-9][a-z0-9.-]{1,62}(/[\w.=-]+)*", address, re.ASCII):
        raise ImproperlyConfigured(
            f"FILE_STORE: write s3://BUCKET or s3://BUCKET/PREFIX, with letters, digits and ._=- in the prefix; not"
            f" “{text}”. Another server than Amazon's is named by FILE_STORE_ENDPOINT."
        )
    return address


def browser_address(text: str, store: str) -> str:
    """The origin by which browsers reach the store, in FILE_STORE_BROWSER_URL; "" for none.

    Raises ImproperlyConfigured for a text that is no origin, and for one without a store.
    """
    origin = text.strip().rstrip("/")
    if origin and not re.fullmatch(r"https?://([a-z0-9.-]+|\[[0-9a-f:]+\])(:\d{1,5})?", origin, re.ASCII):
        raise ImproperlyConfigured(
            f"FILE_STORE_BROWSER_URL: write https://HOST or https://HOST:PORT in small letters; not “{text}”."
        )
    if origin and not store:
        raise ImproperlyConfigured("FILE_STORE_BROWSER_URL: it is an address of FILE_STORE, which is not set.")
    return origin


def server_options(of_url: dict[str, Any]) -> dict[str, Any]:
    """The options of connections to the application's tables in MySQL or MariaDB.

    `of_url`: Django's settings of the database in DATABASE_URL, with its own OPTIONS: `ssl_mode`, and `ssl_ca`, a file
    with certificates. Raises ImproperlyConfigured for another option or value: a misspelled one would leave the
    connection without TLS.
    """
    own = of_url.get("OPTIONS", {})
    if unknown := sorted(set(own) - {"ssl_mode", "ssl_ca"}):
        raise ImproperlyConfigured(f"DATABASE_URL: {unknown[0]} is no option of it. It has ssl_mode and ssl_ca.")
    # READ COMMITTED: a compare-and-set update must see the latest commits of other workers.
    options: dict[str, Any] = {"charset": "utf8mb4", "local_infile": 0, "isolation_level": "read committed"}
    # Django leaves out an empty one, and then the client library takes that of the variable MYSQL_PWD.
    options["password"] = of_url.get("PASSWORD", "")
    if mode := own.get("ssl_mode"):
        if mode not in TLS_MODES:
            raise ImproperlyConfigured(f"DATABASE_URL: ssl_mode is {mode!r}. Write one of {', '.join(TLS_MODES)}.")
        options["ssl_mode"] = mode
    if authority := own.get("ssl_ca"):
        if not Path(authority).is_file():
            raise ImproperlyConfigured(f"DATABASE_URL: ssl_ca names {authority}, which is no file.")
        options["ssl"] = {"ca": authority}
    return options


def fernet_key() -> str:
    """A new key for encrypting what is stored."""
    from cryptography.fernet import Fernet  # Imported on first use: importing it takes as long as 10 % of Django.

    return Fernet.generate_key().decode()


def stored_key(path: Path, make: Callable[[], str] = lambda: secrets.token_urlsafe(48)) -> str:
    """The key stored in `path` (mode 0600). It is made by `make` on first use, so that there is no default key."""
    private_folder(path.parent)
    if not path.exists():
        _write_once(path, make())
    close_to_others(path)
    return path.read_text().strip()


def data_folder(name: str) -> Path:
    """The folder for the data of a program of this name, below that of the person who runs it."""
    # An XDG_DATA_HOME that is no absolute path is ignored, as its specification wants.
    named = Path(os.environ.get("XDG_DATA_HOME", ""))
    return (named if named.is_absolute() else Path.home() / ".local" / "share") / name


def below(folder: Path, path: str) -> str:
    """The path, below the folder if it is relative; no file ("", or SQLite's :memory:) as it is."""
    return path if path in ("", ":memory:") else str(folder / path)


def python_path(folder: Path) -> str:
    """PYTHONPATH for a process that finds its modules in this folder, and then where PYTHONPATH says."""
    return os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH"))))


def private_folder(path: Path) -> Path:
    """Create the folder with mode 0700, or give an existing one that mode; see close_to_others()."""
    path.mkdir(parents=True, exist_ok=True, mode=0o700)
    close_to_others(path)
    return path


def sqlite_database(path: Path) -> dict[str, Any]:
    """Django's settings of the SQLite database in `path`."""
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": str(path),
        "OPTIONS": {
            # Writers queue for the lock instead of failing when they upgrade a read (sqlite.org/lang_transaction.html).
            "transaction_mode": "IMMEDIATE",
            "timeout": 30,
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
        },
        # Without an end: to open the file again is a fifth of the processor time of a light page. The last connection
        # that closes also writes the log into the database.
        "CONN_MAX_AGE": None,
    }


def private_sqlite(path: Path) -> None:
    """Create an empty SQLite database with mode 0600, or give an existing one and its log that mode.

    SQLite gives a new log the mode of the database. Without its folder, or for ":memory:", nothing happens.
    """
    if not path.is_absolute() or not path.parent.is_dir():
        return
    path.touch(mode=0o600)
    for suffix in ("", "-wal", "-shm"):
        with suppress(FileNotFoundError):  # The last connection removes the log.
            close_to_others(path.with_name(path.name + suffix))


def close_to_others(path: Path) -> None:
    """Take the rights of the group and of others from a file or a folder.

    Another account's folder keeps its group, which that account chose. Raises ImproperlyConfigured if others may use
    it, or for a folder such as /tmp, which belongs to everybody.
    """
    found = path.stat()
    mode = stat.S_IMODE(found.st_mode)
    if mode & stat.S_ISVTX:
        raise ImproperlyConfigured(f"{path}: everybody writes into this folder. Name one for Millrace alone.")
    if not mode & 0o077:
        return
    if os.geteuid() in (0, found.st_uid):
        path.chmod(mode & 0o700)
    elif mode & 0o007:
        raise ImproperlyConfigured(f"{path}: others may use it, and it is not ours. As its owner: chmod o= {path}")


def _write_once(path: Path, text: str) -> None:
    """Write the file unless it exists: of several processes that start at once, all use the key of the first."""
    fd, fresh = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(fd, "w") as out:
            out.write(text)
        with suppress(FileExistsError):
            os.link(fresh, path)
    except OSError as error:
        error.filename = str(path)  # A write names none.
        raise
    finally:
        Path(fresh).unlink()


def port_file(var_dir: Path) -> Path:
    """Has the port while `millrace serve` runs: other commands, which print links, may have another PORT."""
    return var_dir / "run" / "port"


def served_port(var_dir: Path) -> int | None:
    """The port of the web server that runs with this VAR_DIR; None without one."""
    try:
        return int(port_file(var_dir).read_text())
    except (OSError, ValueError):
        return None


def socket_path(var_dir: Path, name: str) -> Path:
    """The path of a private server's Unix socket: in VAR_DIR, or in a temporary folder if that path is too long."""
    path = var_dir / "run" / name
    if len(os.fsencode(path)) <= LONGEST_SOCKET_PATH:
        return path
    digest = hashlib.sha256(os.fsencode(var_dir)).hexdigest()[:12]
    return Path(tempfile.gettempdir()) / f"millrace-{os.getuid()}-{digest}" / name

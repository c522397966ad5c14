"""The target that a URL on the command line names: none that is registered, and its password stays in memory."""

import argparse
import getpass
import hashlib
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlsplit, urlunsplit

import MySQLdb
from MySQLdb.constants import ER

from importer import targets
from importer.access.policy import require_admin
from importer.engine.errors import Problem, TargetProblem
from importer.engine.mysql.addresses import is_socket
from importer.engine.mysql.connection import connect
from importer.engine.mysql.error_messages import CHECK_ACCOUNT
from importer.management.argument_types import from_environment
from importer.management.terminal.option_files import read_options
from importer.models import Target
from importer.security import held_passwords
from importer.targets import TargetUrl

SCHEMES = ("mysql://", "mariadb://")
OPTION_FILE = Path("~/.my.cnf")
# Read by the client programs of MySQL and MariaDB, too.
PASSWORD_VARIABLE = "MYSQL_PWD"  # noqa: S105 -- the name of a variable
# In the order in which they are looked at.
PASSWORD_PLACES = f"from the URL, --password-env, {PASSWORD_VARIABLE} or the option file, the first that has one"
LONGEST_NAME = 50  # characters of the readable part of a target's name


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how to reach and enter a server that is not registered."""
    group = parser.add_argument_group("a server that is named by mysql://USER@HOST:PORT/DATABASE.TABLE")
    add_password_flags(group)
    group.add_argument("--socket", metavar="PATH", help="the server's Unix socket on this machine")
    group.add_argument("--tls", choices=Target.Tls.values, help="default: off on this machine, elsewhere verify")
    group.add_argument("--tls-ca", metavar="FILE", default="", help="the certificate authorities of --tls verify")


def add_password_flags(parser: argparse._ActionsContainer) -> None:
    """Add the options that tell the password of a target that has none stored."""
    parser.add_argument("--password-env", metavar="VAR", help=f"variable with the password (else {PASSWORD_VARIABLE})")
    parser.add_argument(
        "--defaults-file", type=Path, metavar="FILE", help=f"option file with user and password (else {OPTION_FILE})"
    )


def split_url(named: Sequence[str]) -> tuple[list[str], str]:
    """The files among what stands before the options, and the URL of the target; "" without one.

    Raises Problem for two URLs.
    """
    urls = [each for each in named if each.startswith(SCHEMES)]
    files = [each for each in named if each not in urls]
    if len(urls) > 1:
        raise Problem("Two servers are named.", advice="An import loads into one table: name one mysql://...")
    return files, urls[0] if urls else ""


def target_of(url: str, options: Mapping[str, Any]) -> tuple[Target, str]:
    """The target and table of mysql://USER[:PASSWORD]@HOST[:PORT]/DATABASE[.TABLE], with its password held in memory.

    A new target is not saved yet: saved() does that. Raises Problem for a URL that says less or more, and if the server
    does not let the account in; Forbidden on behalf of a person who may not add targets.
    """
    require_admin("load into a server that is not registered")
    defaults = _defaults(options["defaults_file"])
    parsed, table = _parse(url, defaults, options["socket"])
    targets.refuse_forbidden(parsed.host)
    target = _of(parsed, options["tls"], options["tls_ca"] or "")
    hold_password(target, options, parsed.password, defaults)
    return target, table


def saved(new: Target) -> Target:
    """The target, saved if its server lets the account in; its password stays in memory.

    Raises TargetProblem otherwise. Without a password the server has been asked already.
    """
    if new.pk:
        return new
    password = held_passwords.held(new.key) or ""
    if password:
        with password_explained(new), connect(new.address):
            pass
    values = {each.name: getattr(new, each.name) for each in Target._meta.concrete_fields if not each.primary_key}
    # Another command may have named the same server at this moment.
    target, _ = Target.objects.get_or_create(name=new.name, defaults=values)
    _hold(target, password)
    return target


@contextmanager
def password_explained(target: Target) -> Iterator[None]:
    """A refused password ends the block with the places that it may be from, unless it is a stored one."""
    try:
        yield
    except TargetProblem as problem:
        if _is_denied(problem) and not target.password_ciphertext:
            places = f"Check the user, and the password: it is {PASSWORD_PLACES}."
            problem.advice = problem.advice.replace(CHECK_ACCOUNT, places)
        raise


def hold_password(
    target: Target, options: Mapping[str, Any], in_url: str = "", defaults: Mapping[str, str] | None = None
) -> None:
    """Hold the password that URL, variable or option file tell; ask for it on a terminal if the server wants one.

    Nothing happens for a target with a stored password. Raises Problem if the running workers are to use one: they
    cannot see it.
    """
    if target.password_ciphertext:
        return
    if in_url:
        sys.stderr.write("Warning: others see a password in a command line (process list, history).\n")
    known = in_url or _variable(options["password_env"])
    if not known:
        known = (_defaults(options["defaults_file"]) if defaults is None else defaults).get("password", "")
    password = known or _asked_for(target)
    if password and not (options["in_process"] or options.get("plan_only") or options.get("check_only")):
        save = "NAME URL" if target.by_url else f"{target.name} URL --replace"
        raise Problem(
            "The running workers do not have the password of this server, which is stored nowhere.",
            advice="Load in this process: --in-process instead of --workers. Or store the password: millrace target add"
            f" {save} --password-env VAR",
        )
    _hold(target, password)


def _hold(target: Target, password: str) -> None:
    """Hold the password in memory, and record that running workers do not have it."""
    held_passwords.hold(target.key, password)
    target.password_unstored = bool(password)
    Target.objects.filter(pk=target.pk).update(password_unstored=target.password_unstored)


def hold_password_again(target: Target, options: Mapping[str, Any]) -> None:
    """Hold the password as hold_password() does, for an import that exists, if its server wants one.

    A registered target may have none, and an option file that of another server. Raises TargetProblem if the server
    refuses the password.
    """
    if target.password_ciphertext:
        return
    if _denied(target):
        hold_password(target, options)
        with password_explained(target), connect(target.address):
            pass
    else:
        _hold(target, "")


def _parse(url: str, defaults: Mapping[str, str], socket: str | None) -> tuple[TargetUrl, str]:
    """The parts of the URL, and its table; what it leaves out comes from the option file."""
    parts = urlsplit(url)
    database, _, table = parts.path.removeprefix("/").partition(".")
    place = parts.netloc
    if "@" not in place:
        place = f"{quote(defaults.get('user') or getpass.getuser(), safe='')}@{place}"
    if place.endswith("@"):
        place += defaults.get("host", "localhost")
    parsed = targets.parse_url(urlunsplit(("mysql", place, f"/{database}", parts.query, parts.fragment)))
    if not is_socket(parsed.host) and socket:
        parsed = replace(parsed, host=socket)
    return parsed, unquote(table)


def _of(parsed: TargetUrl, tls: str | None, tls_ca: str) -> Target:
    """The row of the server and account, for the records of its imports; a new one is not saved yet."""
    tls = tls or targets.default_tls(parsed.host)
    where = (parsed.user, parsed.host, parsed.port, parsed.database, tls, tls_ca)
    digest = hashlib.sha256("\0".join(map(str, where)).encode()).hexdigest()[:8]
    readable = re.sub(r"[^\w.-]+", "-", f"{parsed.user}-{parsed.host}-{parsed.database}")[:LONGEST_NAME].strip("-")
    names = ("user", "host", "port", "database", "tls", "tls_ca")
    known = Target.objects.filter(name=f"{readable}-{digest}").first()
    return known or Target(name=f"{readable}-{digest}", by_url=True, **dict(zip(names, where, strict=True)))


def _defaults(path: Path | None) -> dict[str, str]:
    """The options of the named option file, or of the person's own, if there is one."""
    usual = OPTION_FILE.expanduser()
    return read_options(path or usual) if path or usual.is_file() else {}


def _variable(name: str | None) -> str:
    if name is not None:
        return from_environment(name, "password")
    return os.environ.get(PASSWORD_VARIABLE, "")


def _asked_for(target: Target) -> str:
    """ "" if the server needs no password; the one that is entered, on a terminal."""
    denied = _denied(target)
    if denied is None:
        return ""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        denied.advice = f"Give the password: --password-env VAR, {PASSWORD_VARIABLE} or an option file."
        raise denied
    return getpass.getpass(f"Password of {target.address_without_password}: ", sys.stderr)


def _denied(target: Target) -> TargetProblem | None:
    """How the server refuses the account without a password; None if it lets it in."""
    try:
        with connect(target.address_without_password):
            return None
    except TargetProblem as problem:
        if not _is_denied(problem):
            raise
        return problem


def _is_denied(problem: TargetProblem) -> bool:
    cause = problem.__cause__
    return isinstance(cause, MySQLdb.Error) and cause.args[:1] == (ER.ACCESS_DENIED_ERROR,)

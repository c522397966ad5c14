"""Targets: parses their URLs, saves and checks them, and restores their temporary changes."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, quote, unquote, urlsplit

from django.conf import settings
from django.db.models import F, ProtectedError, Q
from django.utils import timezone

from importer.access import audit
from importer.access.policy import sees_everything
from importer.engine.errors import Problem, TargetProblem
from importer.engine.load.finish import READ_TIMEOUT
from importer.engine.mysql.addresses import AddressRefused, checked_addresses, is_socket
from importer.engine.mysql.connection import Connection, connect
from importer.engine.mysql.server_info import is_loopback
from importer.engine.mysql.sign_in.reasons import REASON_HIDDEN, WHO_SEES_REASONS, without_reason
from importer.engine.schema import alter_table, foreign_keys
from importer.engine.target import global_settings, temporary_changes
from importer.engine.target.temporary_changes import ChangeRecord
from importer.models import ImportJob, Target
from importer.models.checked_save import save_checked

if TYPE_CHECKING:
    from importer.engine.preflight.finding import Finding

DEFAULT_PORT = 3306
# The fields that say where the tables are; and the imports that must go there again: they have not ended, or have left
# something there.
PLACE = ("host", "port", "database")
_CHANGED = (*ImportJob.UNRESTORED, ImportJob.Changes.LEFT)
_STAGED = (*ImportJob.LEFTOVER, ImportJob.Staging.KEPT)
BOUND = ~Q(status__in=ImportJob.ENDED) | Q(changes__in=_CHANGED) | Q(staging__in=_STAGED)
MOST_NAMED = 10
URL_SHAPE = (
    "Write it as mysql://USER@HOST:PORT/DATABASE, or mysql://USER@localhost/DATABASE?socket=PATH; % @ : / in a name as"
    " %25 %40 %3A %2F."
)


@dataclass(frozen=True)
class TargetUrl:
    """The parts of a target's URL. `password` is "" if the URL has none. `host` may be the path of a Unix socket."""

    host: str
    port: int
    user: str
    database: str
    password: str = field(default="", repr=False)


@dataclass(frozen=True)
class Protection:
    """How the password and the rows are protected on their way. `tls` None: the default for the host."""

    tls: str | None = None
    tls_ca: str = ""
    server_key: str = ""
    clear_password: bool = False


def parse_url(url: str) -> TargetUrl:
    """Parse mysql://USER[:PASSWORD]@HOST[:PORT]/DATABASE[?socket=PATH]; each part may be percent-encoded.

    Raises TargetProblem, whose text never contains the URL, since it may have a password.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        # urllib's message about a bad port or host repeats that part only if it contains no password.
        raise TargetProblem("The URL has no valid host and port.", advice=URL_SHAPE) from error
    database = unquote(parts.path.removeprefix("/"))
    socket, options = _socket_in(parts.query)
    for wrong, what in (
        (parts.scheme != "mysql", "The URL does not begin with mysql://, which is also right for MariaDB."),
        (
            bool(options or parts.fragment),
            "The URL has options after ? or # other than socket, which are not read: use --tls and such.",
        ),
        (bool(socket) and not is_socket(socket), "The URL's socket is no absolute path."),
        (not parts.username, "The URL names no user."),
        (not (host or socket), "The URL names no host."),
        (not database or "/" in database, "The URL does not end in one database's name."),
        (port == 0, "The URL's port is 0."),
    ):
        if wrong:
            raise TargetProblem(what, advice=URL_SHAPE)
    return TargetUrl(
        socket or unquote(host or ""),
        port or DEFAULT_PORT,
        unquote(parts.username or ""),
        database,
        unquote(parts.password or ""),
    )


def url_of(target: Target) -> str:
    """The URL of a target, without its password, as parse_url() reads it."""
    user, database = quote(target.user, safe=""), quote(target.database, safe="")
    if is_socket(target.host):
        port = "" if target.port == DEFAULT_PORT else f":{target.port}"
        return f"mysql://{user}@localhost{port}/{database}?socket={quote(target.host)}"
    host = f"[{target.host}]" if ":" in target.host else quote(target.host)
    return f"mysql://{user}@{host}:{target.port}/{database}"


def _socket_in(query: str) -> tuple[str, bool]:
    """The path of the socket in a URL's query, "" without one, and whether the query has anything else."""
    options = parse_qs(query, keep_blank_values=True)
    socket = options.pop("socket", [""])
    return socket[-1], bool(options) or len(socket) > 1


def default_tls(host: str) -> str:
    """OFF on the loopback interface, where nobody can intercept; for other hosts VERIFY, with a checked certificate."""
    return Target.Tls.OFF if is_loopback(host) else Target.Tls.VERIFY


def refuse_forbidden(host: str) -> None:
    """Raise TargetProblem if the host has an address that is not allowed, as connecting does."""
    # If it has none, the error of connecting is clearer.
    with suppress(OSError, UnicodeError):
        try:
            checked_addresses(host, settings.PRIVATE_NETWORKS)
        except AddressRefused as refused:
            raise without_reason(TargetProblem(refused.what)) or TargetProblem(
                refused.what, advice=refused.advice
            ) from refused


@dataclass(frozen=True)
class Terms:
    """What holds for all imports into a target: the fields of Target. None: what is stored, or the field's default."""

    ceiling: int | None = None
    label: str | None = None
    needs_approval: bool | None = None


def add_or_replace(
    name: str,
    url: TargetUrl,
    *,
    password: str | None = None,
    protection: Protection = Protection(),
    terms: Terms = Terms(),
    replace: bool = False,
    moved: bool = False,
) -> Target:
    """Save a target. With `replace` an existing target of that name is updated and keeps its imports.

    `moved`: the server itself has another address now, and unfinished imports continue there. `password` None keeps the
    stored password, but not for another server, account or way there: it was entered for the old one. Raises
    TargetProblem if it is needed again, the name is taken, the address is forbidden, or a value is invalid.
    """
    refuse_forbidden(url.host)
    target = Target.objects.filter(name=name).first() or Target(name=name)
    if target.pk and not replace:
        raise TargetProblem(f"There is a target {name} already.", advice="Choose another name, or add --replace.")
    before, known = {name: getattr(target, name) for name in audit.RECORDED}, bool(target.pk)
    target.host, target.port, target.user, target.database = url.host, url.port, url.user, url.database
    target.tls, target.tls_ca = protection.tls or default_tls(url.host), protection.tls_ca
    target.server_key, target.clear_password = protection.server_key, protection.clear_password
    for name_of_term, value in vars(terms).items():
        if value is not None:
            setattr(target, name_of_term, value)
    if password is not None:
        target.set_password(password)
    elif target.password_ciphertext:
        _require_password_again([each for each in Target.PASSWORD_GOES_TO if getattr(target, each) != before[each]])
    if (
        known
        and not moved
        and (why := why_it_stays(target, [each for each in PLACE if getattr(target, each) != before[each]]))
    ):
        raise why
    # The findings are about the old address.
    target.findings, target.checked_at, target.round_trip_ms, target.bytes_per_second = [], None, None, None
    save_checked(target, TargetProblem)
    audit.target_saved(target, before if known else {}, password is not None)
    return target


def why_it_stays(target: Target, changed: Iterable[str]) -> TargetProblem | None:
    """The problem if one of the `changed` fields says where the target's tables are, and imports must still go there.

    They would load, or put back what they have changed, on another server or in another database.
    """
    moved = [each for each in changed if each in PLACE]
    bound = target.jobs.filter(BOUND).order_by("pk").values_list("pk", flat=True) if moved and target.pk else ()
    if not bound:
        return None
    numbers = ", ".join(str(each) for each in bound[:MOST_NAMED]) + (" and others" if len(bound) > MOST_NAMED else "")
    return TargetProblem(
        f"The target's {' and '.join(moved)} cannot change now: imports still have work to do there: {numbers}.",
        advice="Let them end or cancel them, and put back what they have changed: millrace target restore"
        f" {target.name}. If the server itself has moved, with its tables: millrace target add {target.name} URL"
        " --replace --moved.",
    )


def _require_password_again(changed: list[str]) -> None:
    if changed:
        raise TargetProblem(
            f"The stored password is not sent to another server, account or way there. Changed: {', '.join(changed)}.",
            advice="Give the password again: --password-env VAR, the environment variable that holds it; in a file of"
            " millrace apply, password.",
        )


def check(target: Target) -> list[dict[str, Any]]:
    """Run the preflight checks, store the findings on the target, and return them as JSON."""
    findings = _findings(target)
    distance = next((each.distance for each in findings if each.distance), None)
    target.round_trip_ms = distance.round_trip_ms if distance else None
    target.bytes_per_second = distance.bytes_per_second if distance else None
    values = [finding.as_json() for finding in findings]
    target.findings, target.checked_at = values, timezone.now()
    if target.lacks_password and findings[0].status != "fail":
        target.password_unstored = False  # The account has none any more.
    target.save(update_fields=["findings", "checked_at", "round_trip_ms", "bytes_per_second", "password_unstored"])
    return values


def _findings(target: Target) -> "list[Finding]":
    from importer.engine.preflight.check import check as check_server
    from importer.engine.preflight.finding import Finding

    try:
        # Again, since the name may resolve to another address than when the target was added.
        refuse_forbidden(target.host)
    except TargetProblem as problem:
        return [Finding("address", "fail", problem.what, problem.advice)]
    return check_server(target.address, settings.SERVER_FILES_DIR)


def told_findings(findings: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The findings for people who do not see why a connection failed."""
    from importer.engine.preflight.finding import Finding

    if len(findings) != 1 or passed(findings):
        return findings
    return [Finding("sign_in", "fail", REASON_HIDDEN, WHO_SEES_REASONS).as_json()]


def document(target: Target) -> dict[str, Any]:
    """A target as the API and commands show it to the acting person, without its password."""
    findings = target.findings if sees_everything() else told_findings(target.findings)
    names = ("id", "name", *Target.PASSWORD_GOES_TO, "ceiling", "label", "needs_approval")
    return {
        **{name: getattr(target, name) for name in names},
        "checked_at": target.checked_at.isoformat() if target.checked_at else None,
        "passed": passed(target.findings) if target.checked_at else None,
        "findings": findings,
    }


def restore(target: Target) -> Iterator[str]:
    """Undo temporary changes on the target that ended or unknown imports have left. Yields a sentence for each import.

    Changes of imports that have not ended stay: those imports undo them. Raises Problem for an error of the server.
    """
    with connect(target.address, READ_TIMEOUT) as connection:
        alter_table.disable_statement_timeout(connection)
        for record in temporary_changes.list_records(connection):
            job = ImportJob.objects.filter(key=record.job).exclude(status__in=ImportJob.ENDED).first()
            if job:
                yield f"{record.table}: import {job.pk} has not ended, and puts it back itself."
                continue
            yield from _restore(connection, target, record)


def _restore(connection: Connection, target: Target, record: ChangeRecord) -> Iterator[str]:
    """Undo the changes of one import, and look for rows that its foreign keys would have refused."""
    changes = record.changes
    table_exists = temporary_changes.restore(connection, target.address, changes)
    global_settings.restore(connection, record.job)
    unchecked = changes.foreign_keys if table_exists else ()
    refused = foreign_keys.rows_refused(connection, changes.schema, changes.table, unchecked)
    temporary_changes.delete_record(connection, record.job)
    ended = ImportJob.objects.filter(key=record.job, status__in=ImportJob.ENDED)
    ended.filter(changes=ImportJob.Changes.LEFT).update(changes=ImportJob.Changes.SETTLED, version=F("version") + 1)
    gone = "" if table_exists else ", as far as that is possible without the table, which is gone"
    yield f"{record.table}: {changes.description} put back{gone}."
    if refused:
        yield str(refused)


def remove(target: Target) -> None:
    """Delete a target; nothing changes on its server. Raises Problem if imports or schedules refer to it."""
    try:
        target.delete()
    except ProtectedError as error:
        raise Problem(f"{target.name} stays: {usage(target)}.") from error


def usage(target: Target) -> str:
    """The number of imports and schedules that prevent the target's deletion, in words; "" without any."""
    imports, schedules = target.jobs.count(), target.schedules.count()
    uses = []
    if imports:
        went = "import went into it, and is" if imports == 1 else "imports went into it, and are"
        uses.append(f"{imports:,} {went} listed with it")
    if schedules:
        uses.append(f"{schedules:,} {'schedule loads' if schedules == 1 else 'schedules load'} into it")
    return "; ".join(uses)


def passed(findings: list[dict[str, Any]]) -> bool:
    """Whether no finding is a failure; warnings are allowed."""
    return all(finding["status"] != "fail" for finding in findings)

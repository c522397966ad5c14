"""`millrace target`: adds, checks, restores, lists and removes targets."""

from argparse import ArgumentParser
from collections.abc import Callable
from pathlib import Path
from typing import Any

from config.contracts.documents import TARGET_CHECK, TARGETS
from importer import targets
from importer.access.policy import seen
from importer.engine.errors import Problem
from importer.lab import release_unmarked
from importer.management.argument_types import from_environment
from importer.management.base_command import PreparedCommand
from importer.management.terminal.report_text import finding_lines
from importer.management.terminal.words import PROGRAM
from importer.models import Target


class Command(PreparedCommand):
    help = "Add, check, list and remove targets: the MySQL and MariaDB databases that imports go into."

    def add_arguments(self, parser: ArgumentParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True, metavar="add|check|restore|list|remove")
        add = verbs.add_parser("add", help="save a target under a name")
        add.add_argument("name", help="a name for it")
        add.add_argument("url", help="mysql://USER@HOST:PORT/DATABASE, or mysql://USER@localhost/DATABASE?socket=PATH")
        add.add_argument("--password-env", metavar="VAR", help="the environment variable that holds the password")
        add.add_argument("--tls", choices=Target.Tls.values, help="default: off on this machine, elsewhere verify")
        add.add_argument(
            "--tls-ca", metavar="FILE", default="", help="the certificate authorities that --tls verify trusts"
        )
        add.add_argument(
            "--server-key",
            metavar="FILE",
            help="the server's public RSA key (its public_key.pem): for a MySQL elsewhere with --tls off",
        )
        add.add_argument(
            "--clear-password",
            action="store_true",
            help="with --tls verify, let the server ask for the readable password (PAM, LDAP)",
        )
        add.add_argument("--ceiling", type=int, metavar="N", help="max. parallel chunks, over all imports (1 to 64)")
        add.add_argument("--label", help="only workers with this label in LOADS load into it; '' for those without one")
        add.add_argument(
            "--needs-approval",
            choices=("yes", "no"),
            help="whether another person must approve each import and lab before it writes anything",
        )
        add.add_argument("--replace", action="store_true", help="change the target of that name, if there is one")
        add.add_argument(
            "--moved",
            action="store_true",
            help="with --replace: the server has moved with its tables, and unfinished imports continue there",
        )
        check = verbs.add_parser("check", help="connect, and report what works, what does not, and the fix")
        check.add_argument("name", help="the target's name")
        restore = verbs.add_parser(
            "restore", help="undo temporary changes, such as dropped indexes, of imports that are unknown here"
        )
        restore.add_argument("name", help="the target's name")
        verbs.add_parser("list", help="all targets")
        removed = verbs.add_parser("remove", help="forget a target; nothing changes on the server")
        removed.add_argument("name", help="the target's name")

    def handle(self, *_args: Any, verb: str, **options: Any) -> None:
        """Run one verb."""
        VERBS[verb](self, **options)

    def _add(self, *, name: str, url: str, password_env: str | None, **options: Any) -> None:
        parsed = targets.parse_url(url)
        password = None if password_env is None else from_environment(password_env, "password")
        if parsed.password:
            self.stderr.write(
                "Warning: others see a password in a command line (process list, history). Use --password-env."
            )
        target = targets.add_or_replace(
            name,
            parsed,
            password=parsed.password or None if password is None else password,
            protection=targets.Protection(
                options["tls"], options["tls_ca"], _server_key(options["server_key"]), options["clear_password"]
            ),
            terms=targets.Terms(
                options["ceiling"],
                options["label"],
                None if options["needs_approval"] is None else options["needs_approval"] == "yes",
            ),
            replace=options["replace"],
            moved=options["moved"],
        )
        release_unmarked(target)
        self.stdout.write(f"{name}: {_where(target)}, TLS {target.tls}. Next: millrace target check {name}")

    def _check(self, *, name: str, as_json: bool, **_: Any) -> None:
        findings = targets.check(_target(name))
        ok = targets.passed(findings)
        if as_json:
            self.give(TARGET_CHECK, {"target": name, "ok": ok, "findings": findings})
        else:
            for finding in findings:
                for line in finding_lines(finding):
                    self.stdout.write(line)
        if not ok:
            raise SystemExit(1)

    def _restore(self, *, name: str, **_: Any) -> None:
        line = ""
        # At once, because an error for one import ends the command after others are done.
        for line in targets.restore(_target(name)):
            self.stdout.write(line)
        if not line:
            self.stdout.write("Nothing is to be restored.")

    def _list(self, *, as_json: bool, **_: Any) -> None:
        rows = seen(Target.objects.registered().order_by("name"))
        if as_json:
            self.give(TARGETS, {"targets": [_as_json(target) for target in rows]})
            return
        self.write_list(f"{each.name}: {_where(each)}, TLS {each.tls}, {_state(each)}" for each in rows)

    def _remove(self, *, name: str, **_: Any) -> None:
        targets.remove(_target(name))
        self.stdout.write(f"{name} is forgotten. Nothing was changed on the server.")


VERBS: dict[str, Callable[..., None]] = {
    "add": Command._add,
    "check": Command._check,
    "restore": Command._restore,
    "list": Command._list,
    "remove": Command._remove,
}


def _server_key(path: str | None) -> str:
    if path is None:
        return ""
    try:
        return Path(path).read_text().strip()
    except (OSError, UnicodeError) as error:
        what = f"--server-key: no key can be read from {path}."
        raise Problem(what, advice="Name a PEM file on this machine.") from error


def _target(name: str) -> Target:
    target = seen(Target.objects.filter(name=name)).first()
    if target is None and "://" in name:
        advice = f"Save it under a name first: {PROGRAM} target add NAME URL; then: {PROGRAM} target check NAME"
        raise Problem("A URL is given, and the name of a registered target is expected.", advice=advice)
    if target is None:
        known = (
            ", ".join(seen(Target.objects.registered().order_by("name")).values_list("name", flat=True)) or "none yet"
        )
        raise Problem(f"There is no target {name}.", advice=f"Targets: {known}.")
    return target


def _where(target: Target) -> str:
    return str(target.address_without_password)


def _state(target: Target) -> str:
    if target.checked_at is None:
        return "not checked yet"
    return f"{'ok' if targets.passed(target.findings) else 'fails its check'} ({target.checked_at:%Y-%m-%d %H:%M} UTC)"


def _as_json(target: Target) -> dict[str, Any]:
    fields = ("name", "host", "port", "user", "database", "tls", "tls_ca", "server_key", "clear_password")
    return {
        **{field: getattr(target, field) for field in (*fields, "ceiling", "label", "needs_approval")},
        "ok": targets.passed(target.findings) if target.checked_at else None,
        "checked_at": target.checked_at.isoformat() if target.checked_at else None,
    }

"""`millrace target`: lists and checks targets."""

from collections.abc import Mapping
from typing import Any

from config.contracts.documents import TARGET_CHECK, TARGETS
from config.contracts.outcomes import UNKNOWN
from importer.engine.errors import Problem
from importer.engine.mysql.addresses import is_socket
from importer.management.terminal.report_text import finding_lines
from importer.management.terminal.words import PROGRAM
from importer.management.verbs.verb import Context, Verb, Verbs, named

FIELDS = (
    *("name", "host", "port", "user", "database", "tls", "tls_ca", "server_key", "clear_password"),
    *("ceiling", "label", "needs_approval", "checked_at"),
)


def _list(context: Context) -> None:
    found = sorted(context.api.pages("list_targets"), key=lambda each: each["name"])
    rows = [{**{name: each[name] for name in FIELDS}, "ok": each["passed"]} for each in found]
    context.output.give(TARGETS, {"targets": rows})
    context.output.write_list(map(_line, rows))


def _line(target: Mapping[str, Any]) -> str:
    port = "" if is_socket(target["host"]) else f":{target['port']}"
    where = f"{target['user']}@{target['host']}{port}/{target['database']}"
    return f"{target['name']}: {where}, TLS {target['tls']}, {_state(target)}"


def _state(target: Mapping[str, Any]) -> str:
    at = target["checked_at"]
    if at is None:
        return "not checked yet"
    return f"{'ok' if target['ok'] else 'fails its check'} ({at[:16].replace('T', ' ')} UTC)"


def target_named(context: Context) -> Mapping[str, Any]:
    """The target of the name in the options. Raises Problem without one, and for a URL, which may have a password."""
    if "://" in context.options.name:
        advice = f"Save it under a name first: {PROGRAM} target add NAME URL; then: {PROGRAM} target check NAME"
        raise Problem("A URL is given, and the name of a registered target is expected.", advice=advice)
    return context.named("list_targets", "target")


def _check(context: Context) -> int:
    found = context.api.call("check_target", id=target_named(context)["id"])
    context.output.give(TARGET_CHECK, {"target": found["name"], "ok": found["passed"], "findings": found["findings"]})
    for each in found["findings"]:
        for line in finding_lines(each):
            context.output.say(line)
    return 0 if found["passed"] else UNKNOWN


VERBS: Verbs = {
    "list": Verb("all targets", _list),
    "check": Verb("connect, and report what works, what does not, and the fix", _check, (named("target"),)),
}

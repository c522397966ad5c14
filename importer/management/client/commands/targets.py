"""`millrace --server URL target`."""

from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any

from config.contracts.documents import TARGET_CHECK, TARGETS
from config.contracts.outcomes import UNKNOWN
from importer.management.client.commands.context import Command, CommandContext
from importer.management.terminal.report_text import finding_lines
from importer.management.terminal.verbs import add_verbs

ABOUT = "list and check targets"
FIELDS = (
    *("name", "host", "port", "user", "database", "tls", "tls_ca", "server_key", "clear_password"),
    *("ceiling", "label", "needs_approval", "checked_at"),
)


def add_arguments(parser: ArgumentParser) -> None:
    """Add the verbs and their options."""
    verbs = add_verbs(
        parser,
        {
            "list": "all targets that the token may see",
            "check": "connect, and report what works, what does not, and the fix",
        },
    )
    verbs["check"].add_argument("name", help="the target's name")


def run(context: CommandContext) -> int:
    """Run one verb."""
    return VERBS[context.options.verb](context)


def _list(context: CommandContext) -> int:
    found = sorted(context.millrace.pages("list_targets"), key=lambda each: each["name"])
    rows = [{**{name: each[name] for name in FIELDS}, "ok": each["passed"]} for each in found]
    context.output.give(TARGETS, {"targets": rows})
    context.output.write_list(map(_line, rows))
    return 0


def _line(target: Mapping[str, Any]) -> str:
    where = f"{target['user']}@{target['host']}:{target['port']}/{target['database']}"
    return f"{target['name']}: {where}, TLS {target['tls']}, {_state(target)}"


def _state(target: Mapping[str, Any]) -> str:
    if target["checked_at"] is None:
        return "not checked yet"
    return "ok" if target["ok"] else "fails its check"


def _check(context: CommandContext) -> int:
    found = context.millrace.call("check_target", id=context.named("list_targets", "target")["id"])
    context.output.give(TARGET_CHECK, {"target": found["name"], "ok": found["passed"], "findings": found["findings"]})
    for each in found["findings"]:
        for line in finding_lines(each):
            context.output.say(line)
    return 0 if found["passed"] else UNKNOWN


VERBS: Mapping[str, Command] = {"list": _list, "check": _check}

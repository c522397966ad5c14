"""`millrace retention`: shows and changes how long things are kept, and deletes what is kept no longer."""

from dataclasses import asdict
from typing import Any

from django.utils import timezone

from config.contracts.documents import RETENTION
from importer.access import audit
from importer.management.base_command import PreparedCommand
from importer.management.verbs.verb import Context, Verb, option
from importer.retention import policies
from importer.retention.policies import InForce
from importer.retention.run import run_to_the_end


def _show(context: Context) -> None:
    found = policies.all_in_force()
    context.output.give(RETENTION, {"policies": [_as_json(each) for each in found]})
    for each in found:
        context.output.say(f"{each.policy.name}: {each.words} ({each.source}). {each.policy.deletes}")


def _set(context: Context) -> None:
    policy, days = context.options.policy, context.options.days
    now = policies.change(policy, "" if days == "default" else days)
    context.output.say(f"{policy}: {now.words} ({now.source}).")


def _run(context: Context) -> None:
    deleted = {what: count for what, count in run_to_the_end(timezone.now()).items() if count}
    audit.note(deleted=deleted)
    for what, count in deleted.items():
        context.output.say(f"{count:,} {what}")
    if not deleted:
        context.output.say("Nothing is to be deleted.")


def _as_json(found: InForce) -> dict[str, Any]:
    about = asdict(found.policy)
    del about["group"]
    return {**about, "days": found.days, "least": found.policy.least, "source": found.source}


class Command(PreparedCommand):
    help = "Show and change how long files, imports and other things are kept; delete what is kept no longer."
    verbs = {
        "show": Verb("all policies, each with the days in force and where these come from", _show),
        "set": Verb(
            "change a policy; the pages and workers use it from now on",
            _set,
            (
                option("policy", choices=policies.POLICIES, help=f"one of {', '.join(policies.POLICIES)}"),
                option("days", help="a number of days, keep (delete none), or default (what the setting says)"),
            ),
        ),
        "run": Verb("delete all that is kept no longer now, instead of bit by bit", _run),
    }

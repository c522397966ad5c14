"""`millrace group`: lists, adds, renames and removes groups of people."""

from typing import Any

from django.contrib.auth.models import Group

from config.contracts.documents import GROUPS
from importer.access.groups import add_group, group_named, remove_group, rename_group
from importer.management.base_command import PreparedCommand
from importer.management.verbs.verb import Context, Verb, named, option


def _list(context: Context) -> None:
    rows = [_as_json(each) for each in Group.objects.prefetch_related("user_set").order_by("name")]
    context.output.give(GROUPS, {"groups": rows})
    context.output.write_list(line for each in rows for line in _lines(each))


def _add(context: Context) -> None:
    added = add_group(context.options.name)
    context.output.say(f"The group {added.name} is added. Next: millrace user groups USER {added.name}")


def _rename(context: Context) -> None:
    group = group_named(context.options.name)
    rename_group(group, context.options.new)
    context.output.say(f"{context.options.name} is called {group.name} now.")


def _remove(context: Context) -> None:
    name = context.options.name
    remove_group(group_named(name))
    context.output.say(f"The group {name} is removed, with its grants. Its members stay.")


def _lines(group: dict[str, Any]) -> list[str]:
    members = ", ".join(group["members"]) or "no members"
    return [f"{group['name']}: {members}", *(f"  {granted}" for granted in group["grants"])]


def _as_json(group: Group) -> dict[str, Any]:
    return {
        "name": group.name,
        "members": sorted(each.username for each in group.user_set.all()),
        "grants": [str(each) for each in group.grants.order_by("kind", "pk")],
    }


class Command(PreparedCommand):
    help = "List, add, rename and remove groups of people; `user groups` says who is a member (docs/people.md)."
    verbs = {
        "list": Verb("all groups, with their members and grants", _list),
        "add": Verb("add a group without members", _add, (option("name", help="a name for it"),)),
        "rename": Verb(
            "give a group another name",
            _rename,
            (named("group"), option("new", metavar="NEW_NAME", help="its new name")),
        ),
        "remove": Verb("delete a group and its grants; its members stay", _remove, (named("group"),)),
    }

"""`millrace group`: lists, adds, renames and removes groups of people."""

from argparse import ArgumentParser
from collections.abc import Callable
from typing import Any

from django.contrib.auth.models import Group

from config.contracts.documents import GROUPS
from importer.access.groups import add_group, group_named, remove_group, rename_group
from importer.management.base_command import PreparedCommand


class Command(PreparedCommand):
    help = "List, add, rename and remove groups of people; `user groups` says who is a member (docs/people.md)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True, metavar="|".join(VERBS))
        verbs.add_parser("list", help="all groups, with their members and grants")
        added = verbs.add_parser("add", help="add a group without members")
        added.add_argument("name", help="a name for it")
        rename = verbs.add_parser("rename", help="give a group another name")
        rename.add_argument("name", help="the group's name")
        rename.add_argument("new", metavar="NEW_NAME", help="its new name")
        removed = verbs.add_parser("remove", help="delete a group and its grants; its members stay")
        removed.add_argument("name", help="the group's name")

    def handle(self, *_args: Any, verb: str, **options: Any) -> None:
        """Run one verb."""
        VERBS[verb](self, **options)

    def _list(self, *, as_json: bool, **_: Any) -> None:
        rows = [_as_json(each) for each in Group.objects.prefetch_related("user_set").order_by("name")]
        if as_json:
            self.give(GROUPS, {"groups": rows})
            return
        self.write_list(line for each in rows for line in _lines(each))

    def _add(self, *, name: str, **_: Any) -> None:
        added = add_group(name)
        self.stdout.write(f"The group {added.name} is added. Next: millrace user groups USER {added.name}")

    def _rename(self, *, name: str, new: str, **_: Any) -> None:
        group = group_named(name)
        rename_group(group, new)
        self.stdout.write(f"{name} is called {group.name} now.")

    def _remove(self, *, name: str, **_: Any) -> None:
        remove_group(group_named(name))
        self.stdout.write(f"The group {name} is removed, with its grants. Its members stay.")


VERBS: dict[str, Callable[..., None]] = {
    "list": Command._list,
    "add": Command._add,
    "rename": Command._rename,
    "remove": Command._remove,
}


def _lines(group: dict[str, Any]) -> list[str]:
    members = ", ".join(group["members"]) or "no members"
    return [f"{group['name']}: {members}", *(f"  {granted}" for granted in group["grants"])]


def _as_json(group: Group) -> dict[str, Any]:
    return {
        "name": group.name,
        "members": sorted(each.username for each in group.user_set.all()),
        "grants": [str(each) for each in group.grants.order_by("kind", "pk")],
    }

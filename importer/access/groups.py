"""Adds groups of people, changes their members, and takes them away again. Grants of a group are its members'."""

from collections.abc import Iterable

from django.contrib.auth.models import Group, User
from django.core.exceptions import ValidationError
from django.db import transaction

from importer.access import audit
from importer.access.policy import require_admin
from importer.engine.errors import Problem


def group_named(name: str) -> Group:
    """The group of this name. Raises Problem, with the names of all groups, if there is none."""
    if found := Group.objects.filter(name=name).first():
        return found
    known = ", ".join(Group.objects.order_by("name").values_list("name", flat=True)) or "none yet"
    raise Problem(f"There is no group {name}.", advice=f"Groups: {known}.")


def add_group(name: str) -> Group:
    """Add a group without members. Raises Problem for a taken or invalid name, and Forbidden unless an admin acts."""
    require_admin("add groups")
    added = _saved(Group(name=name.strip()))
    audit.about(added)
    return added


def rename_group(group: Group, name: str) -> None:
    """Give a group another name. Raises Problem for a taken or invalid name, and Forbidden unless an admin acts."""
    require_admin("rename groups")
    audit.about(group)
    audit.note(name={"old": group.name, "new": name.strip()})
    _saved(Group(pk=group.pk, name=name.strip()))
    group.refresh_from_db()


def remove_group(group: Group) -> None:
    """Delete a group and its grants; its members stay. Raises Forbidden unless the acting person is an admin."""
    require_admin("delete groups")
    audit.about(group)
    group.delete()


def set_members(group: Group, members: Iterable[User]) -> None:
    """Make these people, and nobody else, the members of a group. Raises Forbidden unless an admin acts."""
    require_admin("change the members of groups")
    group.user_set.set(members)
    audit.about(group)
    audit.note(members=sorted(each.username for each in group.user_set.all()))


def set_groups(user: User, groups: Iterable[Group]) -> None:
    """Make a person a member of these groups, and of no other. Raises Forbidden unless an admin acts."""
    require_admin("change the members of groups")
    user.groups.set(groups)
    audit.about(user)
    audit.note(groups=sorted(each.name for each in user.groups.all()))


def _saved(group: Group) -> Group:
    taken = Group.objects.filter(name__iexact=group.name).exclude(pk=group.pk)
    try:
        group.full_clean(validate_unique=False)
    except ValidationError as error:
        raise Problem(" ".join(error.messages), advice="Choose another name for the group.") from error
    with transaction.atomic():
        if taken.exists():
            raise Problem(f"There is a group {group.name} already.", advice="Choose another name.")
        group.save()
    return group

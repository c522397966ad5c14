"""Adds people, changes their role and grants, and takes them out again."""

from collections.abc import Collection, Sequence

from allauth.mfa.models import Authenticator
from django.contrib.auth.models import Group, User
from django.contrib.auth.tokens import default_token_generator
from django.contrib.sessions.models import Session
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode

from importer.access import audit
from importer.access.policy import require_admin, stored_role
from importer.engine.errors import Problem
from importer.models import AccessToken, Channel, Grant, Level, Person, Role, SourceConnection, Target
from importer.models.person import TABLE_PATTERN

# What a grant can be on, by its kind.
THINGS: dict[str, type[Target] | type[SourceConnection] | type[Channel]] = {
    Grant.Kind.TARGET: Target,
    Grant.Kind.CONNECTION: SourceConnection,
    Grant.Kind.CHANNEL: Channel,
}
Granted = Target | SourceConnection | Channel | None
# Words of the audit log for whether somebody may sign in.
ACTIVE, DEACTIVATED = "active", "deactivated"
LONGEST_EMAIL = 254  # characters, as Django's table of users stores


def named(names: Collection[str]) -> list[User]:
    """The people of these names. Raises Problem, with the names of all, for a name that nobody has."""
    found = {each.username: each for each in User.objects.filter(username__in=set(names))}
    if unknown := [each for each in names if each not in found]:
        known = ", ".join(User.objects.order_by("username").values_list("username", flat=True)) or "none yet"
        raise Problem(f"There is no user {unknown[0]}.", advice=f"Users: {known}.")
    return list(found.values())


def add(name: str, role: Role, email: str = "") -> User:
    """Add a person without a password; invitation() creates the link that sets one.

    Raises Problem if the name is taken or invalid, and Forbidden unless the acting person is an admin.
    """
    require_admin("add people")
    user = User(username=name.strip(), email=email.strip())
    user.set_unusable_password()
    try:
        user.full_clean(exclude=["password"])
    except ValidationError as error:
        raise Problem(" ".join(error.messages), advice="Choose another name.") from error
    if other := User.objects.filter(username__iexact=user.username).first():
        raise Problem(f"{other} is there, and signing in takes both for one name.", advice="Choose another name.")
    with transaction.atomic():
        user.save()
        audit.about(user)
        _store_role(user, role)
    audit.note(role=role.value)
    return user


def set_role(user: User, role: Role) -> None:
    """Change the role of a person. Raises Problem for the last admin, and Forbidden unless an admin acts."""
    require_admin("change roles")
    audit.about(user)
    before = stored_role(user)
    with transaction.atomic():
        if role is not Role.ADMIN:
            _refuse_last_admin(user)
        _store_role(user, role)
    _note("role", before.value, role.value)


def set_email(user: User, email: str) -> None:
    """Change the mail address of a person. Raises Problem for an invalid one, and Forbidden unless an admin acts."""
    require_admin("change people")
    audit.about(user)
    if email:
        try:
            validate_email(email)
        except ValidationError as error:
            raise Problem(f"{email!r} is no mail address.", advice="Write it as name@example.org.") from error
    if len(email) > LONGEST_EMAIL:
        raise Problem(f"The mail address has more than {LONGEST_EMAIL} characters.", advice="Use a shorter one.")
    if email != user.email:
        audit.note(email={"old": user.email, "new": email})
    User.objects.filter(pk=user.pk).update(email=email)
    user.refresh_from_db()


def set_email_by_token(user: User, email: str) -> None:
    """Change the mail address as a program, as set_email() does.

    A program that has stolen a token must not take over an account that somebody uses: the link for a new password is
    sent to this address, and who comes from an identity provider with it gets the account. Raises Problem for another
    address of an account in use.
    """
    if email and email.lower() != user.email.lower() and (use := use_of(user)):
        what = f"{user.username} {use} already, and who has the mail address can get into the account."
        raise Problem(what, advice="An admin changes it on the person's page, or with millrace user email.")
    set_email(user, email)


def use_of(user: User) -> str:
    """How somebody uses the account, in words after the name; "" if nobody does yet."""
    if user.has_usable_password():
        return "has a password"
    return "has signed in" if user.last_login else ""


def deactivate(user: User) -> None:
    """Let a person sign in no more, and end the person's sessions and tokens. What the person made stays.

    Raises Problem for the last admin, and Forbidden unless the acting person is an admin.
    """
    require_admin("deactivate people")
    audit.about(user)
    _note("account", _state(user), DEACTIVATED)
    with transaction.atomic():
        _refuse_last_admin(user)
        User.objects.filter(pk=user.pk).update(is_active=False)
        AccessToken.objects.filter(user=user).delete()
    end_sessions(user)
    user.refresh_from_db()


def activate(user: User) -> None:
    """Let a person sign in again. Raises Forbidden unless the acting person is an admin."""
    require_admin("activate people")
    audit.about(user)
    _note("account", _state(user), ACTIVE)
    User.objects.filter(pk=user.pk).update(is_active=True)
    user.refresh_from_db()


def invitation(user: User) -> tuple[str, str]:
    """The two parts of the link by which a person sets a password: the person's, and a token that works once.

    Raises Problem for somebody who is not active, and Forbidden unless the acting person is an admin.
    """
    require_admin("invite people")
    audit.about(user)
    if not user.is_active:
        raise Problem(f"{user.username} is not active, and could not sign in.", advice="Activate the person first.")
    return urlsafe_base64_encode(force_bytes(user.pk)), default_token_generator.make_token(user)


def forget_factors(user: User) -> None:
    """Remove the passkeys, app and recovery codes of a person who has lost them, and end the person's sessions.

    Raises Forbidden unless the acting person is an admin.
    """
    require_admin("remove second factors")
    Authenticator.objects.filter(user=user).delete()
    end_sessions(user)


def end_sessions(user: User) -> None:
    """Sign a person out everywhere."""
    for session in Session.objects.iterator():
        if session.get_decoded().get("_auth_user_id") == str(user.pk):
            session.delete()


def grant(subject: User | Group, kind: str, level: Level, thing: Granted = None, tables: Sequence[str] = ()) -> Grant:
    """Grant a level on a thing, or on all things of the kind without one; replaces an earlier grant on it.

    `tables` limit it on a target. Raises Problem for an invalid limit, and Forbidden unless an admin acts.
    """
    require_admin("grant")
    _check_limits(kind, level, tables)
    who = {"user": subject} if isinstance(subject, User) else {"group": subject}
    with transaction.atomic():
        Grant.objects.filter(**who, kind=kind, **{kind: thing}).delete()
        granted = Grant.objects.create(**who, kind=kind, **{kind: thing}, level=level, tables=list(tables))
    audit.about(subject)
    audit.note(granted=str(granted), tables=granted.tables)
    return granted


def revoke(granted: Grant) -> None:
    """Take a grant back. Raises Forbidden unless the acting person is an admin."""
    require_admin("take grants back")
    audit.about(granted.user or granted.group)
    audit.note(taken_back=str(granted), tables=granted.tables)
    granted.delete()


def _check_limits(kind: str, level: Level, tables: Sequence[str]) -> None:
    if tables and kind != Grant.Kind.TARGET:
        raise Problem(f"A {kind} has no tables.", advice="Leave the limit to tables out.")
    if tables and level >= Level.ADMINISTER:
        # It would be about the target as a whole: its address and password, and its deletion.
        raise Problem("Administering cannot be limited to tables.", advice="Grant load, or leave the limit out.")
    for each in tables:
        try:
            TABLE_PATTERN(each)
        except ValidationError as error:
            raise Problem(f"{each!r} is no limit: {error.messages[0]}", advice="Give each limit by itself.") from error


def _store_role(user: User, role: Role) -> None:
    User.objects.filter(pk=user.pk).update(is_staff=role is Role.ADMIN, is_superuser=role is Role.ADMIN)
    Person.objects.update_or_create(user=user, defaults={"role": role})
    user.refresh_from_db()


def _state(user: User) -> str:
    return ACTIVE if user.is_active else DEACTIVATED


def _note(name: str, old: str, new: str) -> None:
    """Note a state in the audit log: old and new, or the one that stays."""
    audit.note(**{name: {"old": old, "new": new} if old != new else new})


def _refuse_last_admin(user: User) -> None:
    admins = User.objects.select_for_update().filter(is_active=True, is_staff=True)
    if user.is_staff and user.is_active and not admins.exclude(pk=user.pk).exists():
        raise Problem(f"{user.username} is the last admin.", advice="Make somebody else an admin first.")

"""`millrace user`: lists, adds and deactivates people, and changes their roles, groups and grants."""

from argparse import ArgumentParser
from collections.abc import Callable
from typing import Any

from django.contrib.auth.models import Group, User

from config.contracts.documents import INVITATION, TOKEN, USER, USERS
from importer.access import audit, people, tokens
from importer.access.groups import group_named, set_groups
from importer.access.policy import stored_role
from importer.engine.errors import Problem
from importer.management.base_command import PreparedCommand
from importer.models import AccessToken, Grant, Level, Role, Scope
from importer.notifications.invitations import send_invitation
from importer.notifications.page_addresses import link

LEVELS = {each.label: each for each in Level}
ABOUT_ROLE = "what the person may do at most"


class Command(PreparedCommand):
    help = "List, add and deactivate people, and change their roles, groups and grants (docs/people.md)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True, metavar="|".join(VERBS))
        verbs.add_parser("list", help="all people")
        _about_one(verbs, "show", "one person, with groups and grants")
        add = _about_one(verbs, "add", "add a person, and send or print the link that sets the password")
        add.add_argument("--role", choices=Role.values, required=True, help=ABOUT_ROLE)
        add.add_argument("--email", default="", metavar="ADDRESS", help="where mail to the person goes")
        _add_link_options(add)
        role = _about_one(verbs, "role", "change what the person may do at most")
        role.add_argument("role", choices=Role.values, help=ABOUT_ROLE)
        _about_one(verbs, "deactivate", "let the person sign in no more; what the person made stays")
        _about_one(verbs, "activate", "let the person sign in again")
        reset = _about_one(verbs, "reset", "send or print a new link that sets the password")
        _add_link_options(reset)
        email = _about_one(verbs, "email", "change the mail address")
        email.add_argument("address", help="'' for none")
        groups = _about_one(verbs, "groups", "make the person a member of these groups, and of no other")
        groups.add_argument("groups", nargs="*", metavar="GROUP", help="none: of no group")
        _about_one(verbs, "forget-factors", "remove passkeys, app and recovery codes of somebody who has lost them")
        token = _about_one(verbs, "token", "create a token for a program, and print it, once")
        token.add_argument("token", metavar="TOKEN_NAME", help="what will use it")
        token.add_argument("--days", type=int, default=90, metavar="N", help="until it expires (90)")
        token.add_argument(
            "--scope",
            dest="scopes",
            action="append",
            choices=Scope.values,
            help=f"what it is for; may be repeated ({' and '.join(tokens.USUAL)})",
        )
        ended = _about_one(verbs, "revoke-token", "end a token")
        ended.add_argument("token", metavar="TOKEN_NAME", help="its name, from `user show`")
        grant = _about_one(verbs, "grant", "grant a level on a thing, in place of an earlier grant on it")
        _add_thing(grant)
        grant.add_argument("--level", choices=LEVELS, required=True, help="what may be done with it (docs/people.md)")
        grant.add_argument(
            "--table",
            dest="tables",
            action="append",
            default=[],
            metavar="SCHEMA.TABLE",
            help="of a target, only this table; also SCHEMA.PREFIX* and SCHEMA.*; may be repeated",
        )
        _add_thing(_about_one(verbs, "revoke", "take the grant on a thing back"))

    def handle(self, *_args: Any, verb: str, **options: Any) -> None:
        """Run one verb."""
        VERBS[verb](self, **options)

    def _list(self, *, as_json: bool, **_: Any) -> None:
        rows = [_as_json(each) for each in User.objects.select_related("person").order_by("username")]
        if as_json:
            self.give(USERS, {"users": rows})
            return
        self.write_list(f"{each['name']}: {_state(each)}" for each in rows)

    def _show(self, *, name: str, as_json: bool, **_: Any) -> None:
        user = _user(name)
        values = _as_json(user) | {
            "groups": list(user.groups.order_by("name").values_list("name", flat=True)),
            "grants": [_grant_as_json(each) for each in _grants(user)],
            "tokens": [_token_as_json(each) for each in user.access_tokens.order_by("name")],
        }
        if as_json:
            self.give(USER, values)
            return
        self.stdout.write(f"{name}: {_state(values)}")
        if values["groups"]:
            self.stdout.write(f"groups: {', '.join(values['groups'])}")
        for each in values["grants"]:
            tables = f", only {', '.join(each['tables'])}" if each["tables"] else ""
            by = f" (by the group {each['group']})" if each["group"] else ""
            self.stdout.write(f"may {each['level']} {each['on']}{tables}{by}")
        for each in values["tokens"]:
            used = f"used {each['last_used'][:16]} UTC" if each["last_used"] else "never used"
            self.stdout.write(f"token {each['name']} ({', '.join(each['scopes'])}): until {each['until'][:10]}, {used}")

    def _add(self, *, name: str, role: str, email: str, as_json: bool, show_link: bool, **_: Any) -> None:
        user = people.add(name, Role(role), email)
        self._write_link(user, f"{user.username} is added as {role}.", as_json, show_link)

    def _role(self, *, name: str, role: str, **_: Any) -> None:
        people.set_role(_user(name), Role(role))
        self.stdout.write(f"{name} is {role} now.")

    def _deactivate(self, *, name: str, **_: Any) -> None:
        people.deactivate(_user(name))
        self.stdout.write(f"{name} is deactivated, and signed out everywhere. Schedules of {name} load nothing more.")

    def _activate(self, *, name: str, **_: Any) -> None:
        people.activate(_user(name))
        self.stdout.write(f"{name} may sign in again.")

    def _reset(self, *, name: str, as_json: bool, show_link: bool, **_: Any) -> None:
        self._write_link(_user(name), "The password stays until the link is used.", as_json, show_link)

    def _email(self, *, name: str, address: str, **_: Any) -> None:
        people.set_email(_user(name), address)
        self.stdout.write(f"{name} has the mail address {address}." if address else f"{name} has no mail address.")

    def _groups(self, *, name: str, groups: list[str], **_: Any) -> None:
        set_groups(_user(name), [group_named(each) for each in groups])
        self.stdout.write(f"Groups of {name}: {', '.join(groups) or 'none'}.")

    def _forget_factors(self, *, name: str, **_: Any) -> None:
        user = _user(name)
        people.forget_factors(user)
        audit.about(user)
        self.stdout.write(f"{name} signs in with the password alone now, until there is a new factor.")

    def _token(self, *, name: str, token: str, days: int, as_json: bool, scopes: list[str] | None, **_: Any) -> None:
        made, text = tokens.make(_user(name), token, days, scopes or tokens.USUAL)
        if as_json:
            self.give(TOKEN, {**_token_as_json(made), "token": text})
            return
        may = f"Until {made.expires_at:%Y-%m-%d} it may do what {name} may do, of: {', '.join(made.scopes)}."
        self.stdout.write(f"{text}\nShown only now. {may}")

    def _revoke_token(self, *, name: str, token: str, **_: Any) -> None:
        of = _user(name).access_tokens
        found = of.filter(name=token).first()
        if found is None:
            known = ", ".join(of.order_by("name").values_list("name", flat=True)) or "none"
            raise Problem(f"{name} has no token {token}.", advice=f"Tokens: {known}.")
        tokens.revoke(found)
        self.stdout.write(f"The token {token} of {name} is revoked.")

    def _grant(self, *, name: str, level: str, tables: list[str], **options: Any) -> None:
        kind, thing = _thing(options)
        granted = people.grant(_subject(name, options), kind, LEVELS[level], thing, tables)
        self.stdout.write(f"{granted}{', only ' + ', '.join(tables) if tables else ''}.")

    def _revoke(self, *, name: str, **options: Any) -> None:
        kind, thing = _thing(options)
        subject = _subject(name, options)
        granted = Grant.objects.filter(**{_kind_of(subject): subject}, kind=kind, **{kind: thing}).first()
        if granted is None:
            known = "; ".join(map(str, _grants(subject))) or "none"
            raise Problem(f"{name} has no grant on {thing or f'every {kind}'}.", advice=f"Grants: {known}.")
        people.revoke(granted)
        self.stdout.write(f"Revoked: {granted}.")

    def _write_link(self, user: User, sentence: str, as_json: bool, show: bool) -> None:
        """Send the link by mail, if that is set up; otherwise, or if it must be shown, print it."""
        address = link("invitation", *people.invitation(user))
        sent = False
        try:
            sent = not show and send_invitation(user, address)
        except Problem as problem:
            self.stderr.write(f"The link is not sent: {problem}")
        if as_json:
            told = {"sent_to": user.email} if sent else {"link": address}
            self.give(INVITATION, {"name": user.username, **told})
        elif sent:
            self.stdout.write(f"{sentence} The link to set a password is sent to {user.email}.")
        else:
            self.stdout.write(f"{sentence} The link to set a password, which works once: {address}")


VERBS: dict[str, Callable[..., None]] = {
    "list": Command._list,
    "show": Command._show,
    "add": Command._add,
    "role": Command._role,
    "deactivate": Command._deactivate,
    "activate": Command._activate,
    "reset": Command._reset,
    "email": Command._email,
    "groups": Command._groups,
    "forget-factors": Command._forget_factors,
    "token": Command._token,
    "revoke-token": Command._revoke_token,
    "grant": Command._grant,
    "revoke": Command._revoke,
}


def _about_one(verbs: Any, verb: str, about: str) -> ArgumentParser:
    parser: ArgumentParser = verbs.add_parser(verb, help=about)
    parser.add_argument("name", help="the name to sign in with")
    return parser


def _add_link_options(parser: ArgumentParser) -> None:
    parser.add_argument("--show-link", action="store_true", help="print the link, also if it could be sent by mail")


def _add_thing(parser: ArgumentParser) -> None:
    """Add the options that say what a grant is on."""
    thing = parser.add_mutually_exclusive_group(required=True)
    for kind in people.THINGS:
        thing.add_argument(f"--{kind}", metavar="NAME", help=f"the grant is on this {kind}")
    thing.add_argument("--every", choices=list(people.THINGS), help="all of this kind, also those to come")
    parser.add_argument("--group", action="store_true", help="the name is of a group of people")


def _thing(options: dict[str, Any]) -> tuple[str, people.Granted]:
    """The kind of the thing that the options name, and the thing; None for every thing of the kind."""
    if options["every"]:
        return options["every"], None
    kind = next(each for each in people.THINGS if options[each] is not None)
    things = people.THINGS[kind].objects.order_by("name")
    if thing := things.filter(name=options[kind]).first():
        return kind, thing
    known = ", ".join(things.values_list("name", flat=True)) or "none yet"
    raise Problem(f"There is no {kind} {options[kind]}.", advice=f"Known: {known}.")


def _subject(name: str, options: dict[str, Any]) -> User | Group:
    return group_named(name) if options["group"] else _user(name)


def _user(name: str) -> User:
    return people.named([name])[0]


def _kind_of(subject: User | Group) -> str:
    return "user" if isinstance(subject, User) else "group"


def _grants(subject: User | Group) -> list[Grant]:
    """The grants of a person and of the person's groups, or of a group."""
    found = Grant.objects.filter(**{_kind_of(subject): subject})
    if isinstance(subject, User):
        found = found | Grant.objects.filter(group__in=subject.groups.all())
    return list(found.order_by("kind", "pk"))


def _state(values: dict[str, Any]) -> str:
    mail = f", {values['email']}" if values["email"] else ""
    seen_last = f", signed in {values['last_login'][:16]} UTC" if values["last_login"] else ", never signed in"
    return f"{values['role']}{'' if values['active'] else ', deactivated'}{mail}{seen_last}"


def _as_json(user: User) -> dict[str, Any]:
    return {
        "name": user.username,
        "role": stored_role(user).value,
        "active": user.is_active,
        "email": user.email,
        "last_login": user.last_login.isoformat() if user.last_login else None,
    }


def _grant_as_json(grant: Grant) -> dict[str, Any]:
    return {
        "on": grant.object_name,
        "level": grant.get_level_display(),
        "tables": grant.tables,
        "group": grant.group.name if grant.group else None,
    }


def _token_as_json(token: AccessToken) -> dict[str, Any]:
    used = token.last_used_at.isoformat() if token.last_used_at else None
    return {"name": token.name, "scopes": token.scopes, "until": token.expires_at.isoformat(), "last_used": used}

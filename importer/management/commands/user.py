"""`millrace user`: lists, adds and deactivates people, and changes their roles, groups and grants."""

from argparse import ArgumentParser
from typing import Any

from django.contrib.auth.models import Group, User

from config.contracts.documents import INVITATION, TOKEN, USER, USERS
from importer.access import audit, people, tokens
from importer.access.groups import group_named, set_groups
from importer.access.policy import stored_role
from importer.engine.errors import Problem
from importer.management.base_command import PreparedCommand
from importer.management.verbs.verb import Context, Verb, option
from importer.models import AccessToken, Grant, Level, Role, Scope
from importer.notifications.invitations import send_invitation
from importer.notifications.page_addresses import link

LEVELS = {each.label: each for each in Level}
NAME = option("name", help="the name to sign in with")
SHOW_LINK = option("--show-link", action="store_true", help="print the link, also if it could be sent by mail")
FORGET_FACTORS = "remove passkeys, app and recovery codes of somebody who has lost them"
ABOUT_ROLE = "what the person may do at most"


def _add_thing(parser: ArgumentParser) -> None:
    """Add the options that say what a grant is on."""
    thing = parser.add_mutually_exclusive_group(required=True)
    for kind in people.THINGS:
        thing.add_argument(f"--{kind}", metavar="NAME", help=f"the grant is on this {kind}")
    thing.add_argument("--every", choices=list(people.THINGS), help="all of this kind, also those to come")
    parser.add_argument("--group", action="store_true", help="the name is of a group of people")


def _list(context: Context) -> None:
    rows = [_as_json(each) for each in User.objects.select_related("person").order_by("username")]
    context.output.give(USERS, {"users": rows})
    context.output.write_list(f"{each['name']}: {_state(each)}" for each in rows)


def _show(context: Context) -> None:
    name = context.options.name
    user = _user(name)
    values = _as_json(user) | {
        "groups": list(user.groups.order_by("name").values_list("name", flat=True)),
        "grants": [_grant_as_json(each) for each in _grants(user)],
        "tokens": [_token_as_json(each) for each in user.access_tokens.order_by("name")],
    }
    context.output.give(USER, values)
    context.output.say(f"{name}: {_state(values)}")
    if values["groups"]:
        context.output.say(f"groups: {', '.join(values['groups'])}")
    for each in values["grants"]:
        tables = f", only {', '.join(each['tables'])}" if each["tables"] else ""
        by = f" (by the group {each['group']})" if each["group"] else ""
        context.output.say(f"may {each['level']} {each['on']}{tables}{by}")
    for each in values["tokens"]:
        used = f"used {each['last_used'][:16]} UTC" if each["last_used"] else "never used"
        context.output.say(f"token {each['name']} ({', '.join(each['scopes'])}): until {each['until'][:10]}, {used}")


def _add(context: Context) -> None:
    options = context.options
    user = people.add(options.name, Role(options.role), options.email)
    _write_link(context, user, f"{user.username} is added as {options.role}.")


def _role(context: Context) -> None:
    name, role = context.options.name, context.options.role
    people.set_role(_user(name), Role(role))
    context.output.say(f"{name} is {role} now.")


def _deactivate(context: Context) -> None:
    name = context.options.name
    people.deactivate(_user(name))
    context.output.say(f"{name} is deactivated, and signed out everywhere. Schedules of {name} load nothing more.")


def _activate(context: Context) -> None:
    name = context.options.name
    people.activate(_user(name))
    context.output.say(f"{name} may sign in again.")


def _reset(context: Context) -> None:
    _write_link(context, _user(context.options.name), "The password stays until the link is used.")


def _email(context: Context) -> None:
    name, address = context.options.name, context.options.address
    people.set_email(_user(name), address)
    context.output.say(f"{name} has the mail address {address}." if address else f"{name} has no mail address.")


def _groups(context: Context) -> None:
    name, groups = context.options.name, context.options.groups
    set_groups(_user(name), [group_named(each) for each in groups])
    context.output.say(f"Groups of {name}: {', '.join(groups) or 'none'}.")


def _forget_factors(context: Context) -> None:
    name = context.options.name
    user = _user(name)
    people.forget_factors(user)
    audit.about(user)
    context.output.say(f"{name} signs in with the password alone now, until there is a new factor.")


def _token(context: Context) -> None:
    options = context.options
    made, text = tokens.make(_user(options.name), options.token, options.days, options.scopes or tokens.USUAL)
    context.output.give(TOKEN, {**_token_as_json(made), "token": text})
    may = f"Until {made.expires_at:%Y-%m-%d} it may do what {options.name} may do, of: {', '.join(made.scopes)}."
    context.output.say(f"{text}\nShown only now. {may}")


def _revoke_token(context: Context) -> None:
    name, token = context.options.name, context.options.token
    of = _user(name).access_tokens
    found = of.filter(name=token).first()
    if found is None:
        known = ", ".join(of.order_by("name").values_list("name", flat=True)) or "none"
        raise Problem(f"{name} has no token {token}.", advice=f"Tokens: {known}.")
    tokens.revoke(found)
    context.output.say(f"The token {token} of {name} is revoked.")


def _grant(context: Context) -> None:
    options, tables = vars(context.options), context.options.tables
    kind, thing = _thing(options)
    granted = people.grant(_subject(options), kind, LEVELS[options["level"]], thing, tables)
    context.output.say(f"{granted}{', only ' + ', '.join(tables) if tables else ''}.")


def _revoke(context: Context) -> None:
    options = vars(context.options)
    kind, thing = _thing(options)
    subject = _subject(options)
    granted = Grant.objects.filter(**{_kind_of(subject): subject}, kind=kind, **{kind: thing}).first()
    if granted is None:
        known = "; ".join(map(str, _grants(subject))) or "none"
        raise Problem(f"{context.options.name} has no grant on {thing or f'every {kind}'}.", advice=f"Grants: {known}.")
    people.revoke(granted)
    context.output.say(f"Revoked: {granted}.")


def _write_link(context: Context, user: User, sentence: str) -> None:
    """Send the link by mail, if that is set up; otherwise, or if it must be shown, print it."""
    address = link("invitation", *people.invitation(user))
    sent = False
    try:
        sent = not context.options.show_link and send_invitation(user, address)
    except Problem as problem:
        context.output.warn(f"The link is not sent: {problem}")
    told = {"sent_to": user.email} if sent else {"link": address}
    context.output.give(INVITATION, {"name": user.username, **told})
    if sent:
        context.output.say(f"{sentence} The link to set a password is sent to {user.email}.")
    else:
        context.output.say(f"{sentence} The link to set a password, which works once: {address}")


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


def _subject(options: dict[str, Any]) -> User | Group:
    return group_named(options["name"]) if options["group"] else _user(options["name"])


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


class Command(PreparedCommand):
    help = "List, add and deactivate people, and change their roles, groups and grants (docs/people.md)."
    verbs = {
        "list": Verb("all people", _list),
        "show": Verb("one person, with groups and grants", _show, (NAME,)),
        "add": Verb(
            "add a person, and send or print the link that sets the password",
            _add,
            (
                NAME,
                SHOW_LINK,
                option("--role", choices=Role.values, required=True, help=ABOUT_ROLE),
                option("--email", default="", metavar="ADDRESS", help="where mail to the person goes"),
            ),
        ),
        "role": Verb(
            "change what the person may do at most", _role, (NAME, option("role", choices=Role.values, help=ABOUT_ROLE))
        ),
        "deactivate": Verb("let the person sign in no more; what the person made stays", _deactivate, (NAME,)),
        "activate": Verb("let the person sign in again", _activate, (NAME,)),
        "reset": Verb("send or print a new link that sets the password", _reset, (NAME, SHOW_LINK)),
        "email": Verb("change the mail address", _email, (NAME, option("address", help="'' for none"))),
        "groups": Verb(
            "make the person a member of these groups, and of no other",
            _groups,
            (NAME, option("groups", nargs="*", metavar="GROUP", help="none: of no group")),
        ),
        "forget-factors": Verb(FORGET_FACTORS, _forget_factors, (NAME,)),
        "token": Verb(
            "create a token for a program, and print it, once",
            _token,
            (
                NAME,
                option("token", metavar="TOKEN_NAME", help="what will use it"),
                option("--days", type=int, default=90, metavar="N", help="until it expires (90)"),
                option(
                    "--scope",
                    dest="scopes",
                    action="append",
                    choices=Scope.values,
                    help=f"what it is for; may be repeated ({' and '.join(tokens.USUAL)})",
                ),
            ),
        ),
        "revoke-token": Verb(
            "end a token",
            _revoke_token,
            (NAME, option("token", metavar="TOKEN_NAME", help="its name, from `user show`")),
        ),
        "grant": Verb(
            "grant a level on a thing, in place of an earlier grant on it",
            _grant,
            (
                NAME,
                _add_thing,
                option("--level", choices=LEVELS, required=True, help="what may be done with it (docs/people.md)"),
                option(
                    "--table",
                    dest="tables",
                    action="append",
                    default=[],
                    metavar="SCHEMA.TABLE",
                    help="of a target, only this table; also SCHEMA.PREFIX* and SCHEMA.*; may be repeated",
                ),
            ),
        ),
        "revoke": Verb("take the grant on a thing back", _revoke, (NAME, _add_thing)),
    }

"""Pages of people: the list, a page to add one, and one person's page with role, link, groups and grants."""

from typing import Any

from allauth.mfa.models import Authenticator
from django.contrib import messages
from django.contrib.auth.models import User
from django.db import transaction
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from dashboard.access.told import told_on
from dashboard.people.form import GrantForm, GroupsForm, NewPersonForm, PersonForm
from importer.access import people as access
from importer.access.groups import set_groups
from importer.access.policy import stored_role
from importer.engine.errors import Problem
from importer.models import Grant
from importer.notifications.invitations import link_lasts_until, send_invitation
from importer.notifications.page_addresses import link

FACTORS = {
    Authenticator.Type.WEBAUTHN: "passkeys",
    Authenticator.Type.TOTP: "an app",
    Authenticator.Type.RECOVERY_CODES: "recovery codes",
}
WITH_THINGS = ("target", "connection", "channel")


@require_safe
def people(request: HttpRequest) -> HttpResponse:
    """All people by name: role, groups, last sign-in, and whether they may sign in."""
    everybody = User.objects.select_related("person").prefetch_related("groups").order_by("username")
    return render(request, "people/list.html", {"rows": [(user, stored_role(user)) for user in everybody]})


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def person_new(request: HttpRequest) -> HttpResponse:
    """The form of a new person; the answer shows the link, once, by which the person sets a password."""
    form = NewPersonForm(request.POST or None)
    if form.is_valid():
        try:
            added = access.add(form.cleaned_data["name"], form.cleaned_data["role"], form.cleaned_data["email"])
            return _show_link(request, added, is_new=True)
        except Problem as problem:
            form.add_error("name", str(problem))
    return render(request, "people/new.html", {"form": form}, status=422 if form.is_bound else 200)


@require_http_methods(["GET", "HEAD", "POST"])
def person(request: HttpRequest, pk: int) -> HttpResponse:
    """One person; the form on it changes role and mail address."""
    changed = get_object_or_404(User, pk=pk)
    if request.method != "POST":
        return person_page(request, changed)
    form = _person_form(changed, request.POST)
    if form.is_valid():
        try:
            with transaction.atomic():
                access.set_email(changed, form.cleaned_data["email"])
                access.set_role(changed, form.cleaned_data["role"])
        except Problem as problem:
            form.add_error("role", str(problem))
        else:
            messages.success(request, f"{changed.username} is saved.")
            # Who is an admin no more may see people no more.
            return redirect("person", pk) if request.user != changed or changed.is_staff else redirect("jobs")
    return person_page(request, get_object_or_404(User, pk=pk), form=form)


@require_POST
@told_on("person")
def person_active(request: HttpRequest, pk: int) -> HttpResponse:
    """Deactivate the person, or activate the person again, as the button says."""
    changed = get_object_or_404(User, pk=pk)
    if request.POST.get("active") == "yes":
        access.activate(changed)
        messages.success(request, f"{changed.username} may sign in again.")
    else:
        access.deactivate(changed)
        messages.success(request, f"{changed.username} may sign in no more, and is signed out everywhere.")
    return redirect("person", pk)


@never_cache
@require_POST
@told_on("person")
def person_link(request: HttpRequest, pk: int) -> HttpResponse:
    """Show, once, a new link by which the person sets a password."""
    invited = get_object_or_404(User, pk=pk)
    return _show_link(request, invited, is_new=False)


@require_POST
def person_factors(request: HttpRequest, pk: int) -> HttpResponse:
    """Remove the second factors of the person, who has lost them."""
    changed = get_object_or_404(User, pk=pk)
    access.forget_factors(changed)
    messages.success(request, f"{changed.username} signs in with the password alone now, until there is a new factor.")
    return redirect("person", pk)


@require_POST
def person_groups(request: HttpRequest, pk: int) -> HttpResponse:
    """Make the person a member of the ticked groups, and of no other."""
    changed = get_object_or_404(User, pk=pk)
    form = _groups_form(changed, request.POST)
    if not form.is_valid():
        return person_page(request, changed, groups_form=form)
    set_groups(changed, form.cleaned_data["groups"])
    messages.success(request, f"The groups of {changed.username} are saved.")
    return redirect("person", pk)


def _person_form(user: User, sent: QueryDict | None = None) -> PersonForm:
    return PersonForm(sent, initial={"email": user.email, "role": stored_role(user)})


def _groups_form(user: User, sent: QueryDict | None = None) -> GroupsForm:
    return GroupsForm(sent, initial={"groups": user.groups.all()})


def person_page(request: HttpRequest, user: User, **forms: Any) -> HttpResponse:
    """The page of a person. A form that was refused comes in `forms`, and stands in the place of its own."""
    role = stored_role(user)
    factors = set(Authenticator.objects.filter(user=user).values_list("type", flat=True))
    context = {
        "person": user,
        "role": role,
        "factors": [words for kind, words in FACTORS.items() if kind in factors],
        "form": _person_form(user),
        "groups_form": _groups_form(user),
        "grant_form": GrantForm(),
        "grant_url": reverse("person_grant", args=[user.pk]),
        "grants": Grant.objects.filter(user=user).select_related(*WITH_THINGS).order_by("kind", "pk"),
        "from_groups": Grant.objects.filter(group__user=user).select_related("group", *WITH_THINGS).order_by("group"),
    }
    return render(request, "people/person.html", context | forms, status=422 if forms else 200)


def _show_link(request: HttpRequest, invited: User, *, is_new: bool) -> HttpResponse:
    """Send the link by mail, if that is set up and not refused; otherwise show it, once."""
    parts = access.invitation(invited)
    sent = False
    if not request.POST.get("show"):
        try:
            sent = send_invitation(invited, link("invitation", *parts))
        except Problem as problem:
            messages.error(request, f"The link is not sent: {problem}")
    shown = "" if sent else request.build_absolute_uri(reverse("invitation", args=parts))
    context = {"person": invited, "link": shown, "until": link_lasts_until(), "is_new": is_new}
    return render(request, "people/link.html", context)

"""The page behind the link that an admin hands on: somebody new sets a password there, or somebody who forgot it."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.contrib.auth.views import PasswordResetConfirmView
from django.http import HttpResponse
from django.urls import reverse_lazy

from dashboard.sign_in.forms import InvitedForm
from importer.access import audit


class InvitationView(PasswordResetConfirmView):
    """Sets the password of the person in the link. The link's token fits the old password, so it works once."""

    template_name = "people/invitation.html"
    form_class = InvitedForm
    success_url = reverse_lazy("login")

    def get_user(self, uidb64: str) -> User | None:
        """The person in the link; None for nobody, or for somebody who is not active."""
        user: User | None = super().get_user(uidb64)
        return user if user and user.is_active else None

    def form_valid(self, form: Any) -> HttpResponse:
        """Set the password and lead to the sign-in."""
        messages.success(self.request, f"The password of {form.user.get_username()} is set. Sign in with it.")
        response = super().form_valid(form)
        audit.record("invitation", form.user, who=form.user)
        return response


invitation = InvitationView.as_view()

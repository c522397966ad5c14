"""The URLs of signing in and of one's own account.

Only these pages of allauth exist: there is none to sign up, and none that sends mail. allauth looks its pages up by
their `account_` names.
"""

from allauth.account import views as account
from django.contrib.auth.decorators import login_not_required
from django.urls import path, reverse_lazy
from django.views.decorators.http import require_POST
from django.views.generic import RedirectView

sign_in = account.LoginView.as_view(template_name="sign_in/login.html")
# Also for somebody who has given a password and not yet a code.
sign_out = require_POST(login_not_required(account.LogoutView.as_view()))
confirm = account.ReauthenticateView.as_view(template_name="sign_in/confirm.html")
inactive = account.AccountInactiveView.as_view(template_name="sign_in/inactive.html")
password = account.PasswordChangeView.as_view(
    template_name="sign_in/password.html", success_url=reverse_lazy("account_change_password")
)

urlpatterns = [
    path("login/", sign_in, name="login"),
    path("login/", sign_in, name="account_login"),
    path("login/inactive/", inactive, name="account_inactive"),
    path("logout/", sign_out, name="logout"),
    path("logout/", sign_out, name="account_logout"),
    path("account/confirm/", confirm, name="account_reauthenticate"),
    path("account/password/", password, name="account_change_password"),
    # Who comes from an identity provider has no password here.
    path("account/no-password/", RedirectView.as_view(pattern_name="jobs"), name="account_set_password"),
]

"""The URLs of signing in and of one's own account.

Only these pages of allauth exist: there is none to sign up, and none that sends mail. allauth looks its pages up by
their `account_`, `mfa_` and `openid_connect_` names.
"""

from allauth.account import views as account
from allauth.mfa.base import views as second_factor
from allauth.mfa.recovery_codes import views as codes
from allauth.mfa.totp import views as app
from allauth.mfa.webauthn import views as passkeys
from django.contrib.auth.decorators import login_not_required
from django.urls import path, reverse_lazy
from django.views.decorators.http import require_POST
from django.views.generic import RedirectView

from dashboard.access.caching import empties_cache
from dashboard.sign_in import provider
from dashboard.sign_in.views import PasskeySignInView, SecurityView, SessionsView, SignInView, signed_in

sign_in = SignInView.as_view()
# Also for somebody who has given a password and not yet a code.
sign_out = require_POST(login_not_required(empties_cache(account.LogoutView.as_view())))
confirm = account.ReauthenticateView.as_view(template_name="sign_in/confirm.html")
inactive = account.AccountInactiveView.as_view(template_name="sign_in/inactive.html")
password = account.PasswordChangeView.as_view(
    template_name="sign_in/password.html", success_url=reverse_lazy("mfa_index")
)

security = SecurityView.as_view()
code = second_factor.AuthenticateView.as_view(template_name="sign_in/code.html")
confirm_code = second_factor.ReauthenticateView.as_view(template_name="sign_in/confirm_code.html")
confirm_passkey = passkeys.ReauthenticateWebAuthnView.as_view(template_name="sign_in/confirm_passkey.html")
sign_in_passkey = login_not_required(PasskeySignInView.as_view())
app_new = app.ActivateTOTPView.as_view(template_name="sign_in/app_new.html")
app_remove = app.DeactivateTOTPView.as_view(template_name="sign_in/app_remove.html")
passkey_new = passkeys.AddWebAuthnView.as_view(template_name="sign_in/passkey_new.html")
passkey_remove = passkeys.RemoveWebAuthnView.as_view(
    template_name="sign_in/passkey_remove.html", success_url=reverse_lazy("mfa_index")
)
codes_view = codes.ViewRecoveryCodesView.as_view(template_name="sign_in/codes.html")
codes_new = codes.GenerateRecoveryCodesView.as_view(template_name="sign_in/codes_new.html")

urlpatterns = [
    path("login/", sign_in, name="login"),
    path("login/", sign_in, name="account_login"),
    path("login/code/", code, name="mfa_authenticate"),
    path("login/passkey/", sign_in_passkey, name="mfa_login_webauthn"),
    path("login/oidc/", provider.begin, {"provider_id": provider.PROVIDER}, name="openid_connect_login"),
    path(
        "login/oidc/callback/", provider.come_back, {"provider_id": provider.PROVIDER}, name="openid_connect_callback"
    ),
    path("login/inactive/", inactive, name="account_inactive"),
    path("logout/", sign_out, name="logout"),
    path("logout/", sign_out, name="account_logout"),
    path("account/confirm/", confirm, name="account_reauthenticate"),
    path("account/confirm/code/", confirm_code, name="mfa_reauthenticate"),
    path("account/confirm/passkey/", confirm_passkey, name="mfa_reauthenticate_webauthn"),
    path("account/signed-in/", signed_in, name="signed_in"),
    path("account/security/", security, name="mfa_index"),
    path("account/app/new/", app_new, name="mfa_activate_totp"),
    path("account/app/remove/", app_remove, name="mfa_deactivate_totp"),
    path("account/passkeys/new/", passkey_new, name="mfa_add_webauthn"),
    path("account/passkeys/<int:pk>/remove/", passkey_remove, name="mfa_remove_webauthn"),
    path("account/codes/", codes_view, name="mfa_view_recovery_codes"),
    path("account/codes/new/", codes_new, name="mfa_generate_recovery_codes"),
    path("account/password/", password, name="account_change_password"),
    path("account/sessions/", SessionsView.as_view(), name="usersessions_list"),
    # Who comes from an identity provider has no password here.
    path("account/no-password/", RedirectView.as_view(pattern_name="mfa_index"), name="account_set_password"),
]

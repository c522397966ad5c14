"""The authentication backend: allauth's, with the person read in the same query as the user."""

from allauth.account.auth_backends import AuthenticationBackend
from django.contrib.auth.models import User


class Backend(AuthenticationBackend):
    """Reads a signed-in user with role and time zone, which each request asks for."""

    def get_user(self, user_id: int) -> User | None:
        user = User._default_manager.select_related("person").filter(pk=user_id).first()
        return user if user and self.user_can_authenticate(user) else None

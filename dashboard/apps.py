from django.apps import AppConfig


class DashboardConfig(AppConfig):
    name = "dashboard"

    def ready(self) -> None:
        """Record signing in and out."""
        from dashboard.system.audit import sign_in  # noqa: F401 -- connects its receivers

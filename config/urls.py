"""The URLs, all of them in the dashboard."""

from django.urls import include, path

urlpatterns = [path("", include("dashboard.urls"))]
handler404 = "dashboard.system.addresses.not_found"
handler500 = "dashboard.system.failed.failed"

"""Every page lives in the dashboard."""

from django.urls import include, path

urlpatterns = [path("", include("dashboard.urls"))]

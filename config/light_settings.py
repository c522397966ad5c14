"""The settings of a command that needs no pages: with the applications that imports need, so that it starts sooner."""

from config.settings import *  # noqa: F403

INSTALLED_APPS = ["django.contrib.contenttypes", "django.contrib.auth", "importer"]

"""Templates and static files: every name that code or a template gives exists, and no file is unused."""

import re

import pytest
from django.conf import settings
from django.contrib.staticfiles.finders import AppDirectoriesFinder

from importer.models.outcomes.looks import LOOKS

TEMPLATES = settings.BASE_DIR / "templates"
STATIC = settings.BASE_DIR / "static"
# Django looks for these by itself.
BY_DJANGO = {"400.html", "403.html", "403_csrf.html", "404.html", "500.html"}
TEMPLATE_NAME = re.compile(r"""["']([\w/]+\.(?:html|txt))["']""")
STATIC_NAME = re.compile(r"""{%\s*static\s+['"]([^'"]+)['"]""")


@pytest.fixture(scope="module")
def templates():
    """Each template's text by its name."""
    return {str(path.relative_to(TEMPLATES)): path.read_text() for path in TEMPLATES.rglob("*.*")}


@pytest.fixture(scope="module")
def named(templates):
    """The names of templates in templates and code, without names of other files."""
    tags = [tag for text in templates.values() for tag in re.findall(r"{%\s*(?:include|extends)[^%]*%}", text)]
    code = [
        line
        for folder in ("dashboard", "importer/notifications")
        for path in (settings.BASE_DIR / folder).rglob("*.py")
        for line in path.read_text().splitlines()
    ]
    icons = {f"shared/icons/{each.icon}.html" for each in LOOKS.values() if each.icon}
    return icons | {name for text in [*tags, *code] for name in TEMPLATE_NAME.findall(text)}


def test_every_named_template_exists_and_every_template_is_named(templates, named):
    assert named | BY_DJANGO == set(templates)


def test_every_static_file_is_loaded_by_a_template(templates):
    loaded = {name for text in templates.values() for name in STATIC_NAME.findall(text)}
    ours = {str(path.relative_to(STATIC)) for path in STATIC.rglob("*.*")}
    assert {name for name in ours if not name.startswith("vendor/")} == {
        name for name in loaded if not name.startswith("vendor/")
    }


def test_of_packages_only_allauth_brings_static_files():
    """Each one is copied, hashed and compressed when Millrace starts, though no page loads it."""
    assert {name.partition("/")[0] for name, _ in AppDirectoriesFinder().list([])} == {"account", "mfa"}


def test_templates_and_static_files_lie_in_the_folders_of_the_code():
    folders = {path.name for path in (settings.BASE_DIR / "dashboard").iterdir() if path.is_dir()}
    folders |= {"shared", "notifications", "vendor"}
    for root in (TEMPLATES, STATIC):
        assert {path.name for path in root.iterdir() if path.is_dir()} <= folders

"""The vendored libraries are what vendor.json says, and pages load nothing else."""

import json
import re
from pathlib import Path

import pytest
from django.conf import settings

from scripts.vendor import LIBRARIES, VENDOR, sha384

RECORD = json.loads((VENDOR / "vendor.json").read_text())
# Of pages: a mail has nowhere else to keep its looks.
TEMPLATES = sorted(
    path for path in (settings.BASE_DIR / "templates").rglob("*.html") if path.parent.name != "notifications"
)


def test_every_file_is_as_it_was_recorded():
    recorded = {name: digest for each in RECORD for name, digest in each["files"].items()}
    there = {str(path.relative_to(VENDOR)): sha384(path) for path in VENDOR.rglob("*") if path.is_file()}
    del there["vendor.json"]
    assert there == recorded


def test_the_record_is_of_the_versions_that_the_script_names():
    assert [(each["name"], each["version"]) for each in RECORD] == [(each.name, each.version) for each in LIBRARIES]
    assert all(each["tarball"].startswith("sha512-") and each["licence"] for each in RECORD)


def test_no_source_map_is_referred_to():
    for path in [*VENDOR.rglob("*.js"), *VENDOR.rglob("*.css")]:
        assert b"sourceMappingURL" not in path.read_bytes(), path


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.name)
def test_templates_load_only_files_that_are_there(template: Path):
    text = template.read_text()
    for name in re.findall(r"{%\s*static\s+['\"]([^'\"]+)['\"]", text):
        assert (settings.BASE_DIR / "static" / name).is_file(), name
    assert not re.search(r"""(?:src|href)=["'](?:https?:)?//""", text)
    assert not re.search(r"<style|\sstyle=|\son[a-z]+=", text)

"""One place for each decision: no other file spells the names that a registry declares."""

import ast
import os
import re
import subprocess
import sys
from collections.abc import Collection, Iterator
from pathlib import Path

import pytest

from importer.connections.connection_kinds import KINDS as CONNECTION_KINDS
from importer.engine.errors import Problem
from importer.engine.plan.methods import METHODS
from importer.engine.plan.option_kinds import Number, Switch
from importer.engine.plan.option_specs import AS_PLANNED, OPTIONS, SPEED
from importer.engine.plan.options import Options, check_options
from importer.notifications.channel_kinds import KINDS as CHANNEL_KINDS

ROOT = Path(__file__).resolve().parent.parent


def nodes_of(path: Path, names: Collection[str]) -> Iterator[ast.AST]:
    """All nodes of a file that has one of the names anywhere; nothing of others: to parse all takes seconds."""
    text = path.read_text()
    return ast.walk(ast.parse(text)) if any(each in text for each in names) else iter(())


def spelled(names: Collection[str], *, but: Collection[str]) -> list[str]:
    """Where a product file, other than those of `but`, has one of the names as a literal."""
    places = []
    for folder in ("importer", "dashboard"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            name = str(path.relative_to(ROOT))
            if name.startswith(tuple(but)) or "/migrations/" in name:
                continue
            for node in nodes_of(path, names):
                if isinstance(node, ast.Constant) and node.value in names:
                    places.append(f"{name}:{node.lineno} {node.value!r}")
    return places


def test_methods_are_named_in_their_declaration_and_their_registry_only():
    registries = ("importer/engine/plan/methods.py", "importer/engine/load/methods/registry.py")
    # "insert" is an ordinary word elsewhere: a phase of an ALTER TABLE, say.
    assert spelled(set(METHODS) - {"insert"}, but=registries) == []
    assert len(spelled(set(METHODS), but=registries[1:])) > len(METHODS)


def compared(names: Collection[str], *, but: Collection[str]) -> list[str]:
    """Where a product file, other than those of `but`, compares something with one of the names.

    Templates too: there each `{% if %}` and `{% elif %}` with a name in quotes counts.
    """
    places = []
    for path in (each for folder in ("importer", "dashboard") for each in sorted((ROOT / folder).rglob("*.py"))):
        name = str(path.relative_to(ROOT))
        if name in but or "/migrations/" in name:
            continue
        for node in nodes_of(path, names):
            if isinstance(node, ast.Compare | ast.match_case):
                for each in ast.walk(node if isinstance(node, ast.Compare) else node.pattern):
                    if isinstance(each, ast.Constant) and each.value in names:
                        places.append(f"{name}:{each.lineno} {each.value!r}")
    for path in sorted((ROOT / "templates").rglob("*.html")):
        for test in re.findall(r"{% (?:el)?if (.*?) %}", path.read_text()):
            places += [f"{path.relative_to(ROOT)} {test}" for each in names if f'"{each}"' in test]
    return places


def test_kinds_of_channels_are_compared_nowhere():
    assert compared({kind.name for kind in CHANNEL_KINDS}, but=()) == []


# Schemes of URLs and of FTP's addresses, not kinds of connections: each file decides on the encryption by them.
SCHEMES = (
    "importer/security/outbound_addresses.py",
    "importer/connections/protocols/ftp.py",
    "millrace_client/http.py",
)


def test_kinds_of_connections_are_compared_nowhere():
    names = {name for kind in CONNECTION_KINDS for name in (kind.name, *filter(None, kind.schemes))}
    assert compared(names, but=SCHEMES) == []
    assert compared(names, but=()) != []


def test_listing_the_kinds_of_connections_imports_no_library_of_a_protocol():
    check = (
        "import django; django.setup(); import sys; from importer.connections.connection_address import parse_base;"
        "import importer.management.commands.connection, dashboard.connections.form;"
        "print([name for name in ('botocore', 'paramiko') if name in sys.modules])"
    )
    env = {**os.environ, "DJANGO_SETTINGS_MODULE": "tests.settings"}
    done = subprocess.run([sys.executable, "-c", check], cwd=ROOT, env=env, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def rows_of_settings() -> dict[str, str]:
    """Each row of docs/settings.md by the option or variable that it is about."""
    rows = re.findall(r"^\| `(--[\w-]+)` \|(.*)$", (ROOT / "docs" / "settings.md").read_text(), re.MULTILINE)
    return dict(rows)


@pytest.mark.parametrize("option", SPEED, ids=lambda option: option.name)
def test_the_settings_page_has_each_option_with_its_choices_and_default(option):
    default = getattr(Options(), option.name)
    if option.kind.is_list:
        assert f"`{option.flag}`" in (ROOT / "docs" / "settings.md").read_text()
        return
    # A switch that is on is shown by the flag that turns it off.
    flag = option.flag.replace("--", "--no-", 1) if default is True else option.flag
    row = rows_of_settings()[flag]
    assert [each for each in option.kind.flag.get("choices", ()) if each not in row] == []
    if isinstance(option.kind, Switch):
        assert row.rstrip(" |").endswith("on" if default else "off")
    elif default is None:
        assert row.split(" | ")[-1].startswith("planned" if option.unset == AS_PLANNED else "none")
    elif isinstance(default, str) and default:
        assert f"| `{default}`" in row


ROW_OPTIONS = [option for option in OPTIONS if option.flag and option not in SPEED]


@pytest.mark.parametrize("option", ROW_OPTIONS, ids=lambda option: option.name)
def test_the_importing_page_has_each_option_for_rows_with_its_choices(option):
    page = (ROOT / "docs" / "importing.md").read_text()
    assert f"`{option.flag}" in page
    default = getattr(Options(), option.name)
    others = [each for each in option.kind.flag.get("choices", ()) if each != default]
    assert [each for each in others if not re.search(rf"`(?:[^`]*\W)?{each}\b[^`]*`", page)] == []


@pytest.mark.parametrize(
    "option", [each for each in OPTIONS if isinstance(each.kind, Number)], ids=lambda option: option.name
)
def test_default_of_a_bounded_option_is_within_its_bounds_and_beyond_them_is_refused(option):
    least, most = option.kind.least, option.kind.most
    default = getattr(Options(), option.name)
    assert default is None or least <= default <= most
    for value in (least - 1, most + 1):
        with pytest.raises(Problem) as refused:
            check_options(Options(**{option.name: value}))
        assert refused.value.option == option.name


def test_the_settings_page_has_no_option_that_is_not_declared():
    flags = {option.flag for option in SPEED}
    assert {flag.replace("--no-", "--") for flag in rows_of_settings()} <= flags

"""docs/servers.md has each declared kind with its rules, and no other."""

import re
from pathlib import Path

from importer.engine.mysql.servers import kinds
from importer.engine.mysql.servers.kinds import Kind

PAGE = (Path(__file__).parents[4] / "docs" / "servers.md").read_text()


def section(kind: Kind) -> str:
    """The section of a kind on the page, with one space between its words."""
    path = " The safe path." if kind.careful else "" if kind.takes_local else " No LOAD DATA LOCAL."
    oldest = f" From {'.'.join(map(str, kind.oldest))} on." if kind.role == "server" and any(kind.oldest) else ""
    rules = "".join(f" - {rule.what} *{rule.source}*" for rule in kind.rules)
    return f"### {kind.name}{oldest}{path}{rules}"


def test_the_page_has_every_kind_with_its_rules():
    text = " ".join(PAGE.split())
    assert [each.name for each in kinds.KINDS.values() if section(each) not in text] == []


def test_the_page_has_no_other_kind():
    assert re.findall(r"^### (.+)$", PAGE, re.MULTILINE) == list(kinds.KINDS)


def test_the_page_has_the_safe_path():
    assert kinds.SAFE_PATH in " ".join(PAGE.split())

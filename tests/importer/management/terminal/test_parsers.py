"""Values and files that begin with dashes, on this machine's command line and on that of `--server`."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import load_command_class

from importer.management.command_line.remote.main import REMOTE, options_of
from importer.management.terminal.parsers import with_files_as_paths


def local(*words: str) -> dict[str, Any]:
    parser = load_command_class("importer", "import_csv").create_parser("millrace", "load")
    return vars(parser.parse_args(with_files_as_paths(words)))


def remote(*words: str) -> dict[str, Any]:
    return vars(options_of("load", REMOTE["load"], words))


parse = pytest.mark.parametrize("parse", [local, remote])
Parse = Callable[..., dict[str, Any]]


@parse
def test_a_value_may_be_two_dashes(parse: Parse):
    options = parse("a.csv", "--to", "w", "--table", "t", "--null=--", "--null=-", "--comment=--")
    assert (options["null"], options["comment"]) == (["--", "-"], "--")


@parse
def test_words_behind_two_dashes_are_files(parse: Parse):
    options = parse("a.csv", "--to", "w", "--table", "t", "--", "-b.csv", "--json", "c.csv")
    assert [str(each) for each in options["file"]] == ["a.csv", "./-b.csv", "./--json", "c.csv"]
    assert not options["as_json"]


@pytest.mark.parametrize("flag", ["--null", "--comment"])
def test_a_value_taken_for_an_option_is_explained(flag: str, capsys):
    with pytest.raises(SystemExit):
        load_command_class("importer", "import_csv").run_from_argv(["millrace", "load", "a.csv", flag, "--"])
    said = capsys.readouterr().err
    assert f"argument {flag}: expected one argument. A value that begins with a dash is written {flag}=VALUE." in said


def test_a_file_whose_name_begins_with_a_dash_is_checked(tmp_path: Path, monkeypatch, capsys, db):
    monkeypatch.chdir(tmp_path)
    Path("-a.csv").write_text("id,name\n-- a remark\n1,--\n")
    line = ["millrace", "check", "--check-only", "--null=--", "--comment=--", "--", "-a.csv"]
    load_command_class("importer", "import_csv").run_from_argv(line)
    assert "1 row" in capsys.readouterr().out

"""The words of `millrace --server URL` before there is a server: options, refusals, and the document that is sent."""

import argparse
import json
import subprocess
import sys
from typing import Any

import pytest

from config.contracts.documents import REPORT
from config.contracts.outcomes import REFUSED
from config.serving.refusals import problem_of
from dashboard.api.wanted import ImportIn
from importer.engine.mapping.columns import FieldOverride
from importer.engine.plan.options import Options
from importer.engine.schema.new_table import NewColumn
from importer.management.command_line.remote import files
from importer.management.command_line.remote.load import LOCAL_ONLY, add_arguments
from importer.management.command_line.remote.main import REMOTE, _Parser, main
from importer.management.command_line.remote.output import RemoteOutput
from importer.management.command_line.remote.tokens import token_from
from importer.management.command_line.start import command_of
from importer.management.import_options import wish_of
from importer.management.terminal.words import PROGRAM, WORDS
from importer.management.verbs.verb import add_options
from importer.preparation.request import ImportRequest, NewTableRequest
from millrace_client.problems import ServerProblem
from tests.documents import read
from tests.stack import ROOT

TO = ("--to", "warehouse", "--table", "orders")


def test_no_django_and_no_token_is_needed_for_help_and_refusals(tmp_path):
    program = "from importer.management.command_line.main import main\ntry:\n main()\nfinally:\n import sys\n"
    program += " print('django' in sys.modules, file=sys.stderr)"
    line = [sys.executable, "-c", program, "--server", "https://millrace.example.org", "job", "list", "--json"]
    env = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(line, cwd=tmp_path, env=env, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert read(done.stdout)["problem"]["what"] == "There is no token."
    assert (done.returncode, done.stderr.splitlines()[-1]) == (REFUSED.exit_code, "False")
    assert list(tmp_path.iterdir()) == []


def test_output_that_nobody_reads_is_no_error(capsys):
    def unread() -> int:
        raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        RemoteOutput("job list", as_json=False).run(unread)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("status", "kind", "code"), [(409, "NotAnsweredYet", 1), (409, "SourceInUse", 4), (500, "", 1), (401, "", 4)]
)
def test_the_exit_code_says_whether_something_may_be_written(capsys, status, kind, code):
    def refused() -> int:
        raise ServerProblem(status, problem_of(status) | {"kind": kind})

    assert RemoteOutput("load", as_json=True, of_problems=REPORT).run(refused) == code
    assert read(capsys.readouterr().out)["outcome"] == ("refused" if code == 4 else None)


def test_a_word_of_the_machine_itself_is_refused(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--server", "https://millrace.example.org", "user", "list", "--json"])
    assert ended.value.code == 2
    said = read(capsys.readouterr().out)["problem"]
    assert "millrace user" in said["advice"]
    assert said["kind"] == "WrongUsage"


def test_a_file_with_the_token_is_readable_by_nobody_else(tmp_path):
    path = tmp_path / "token"
    path.write_text("millrace_x\n")
    path.chmod(0o644)
    with pytest.raises(Exception, match="Others may read"):
        token_from(path)
    path.chmod(0o600)
    assert token_from(path) == "millrace_x"


def test_every_option_of_the_local_command_is_taken_or_refused_with_a_reason():
    local = command_of(WORDS["load"]).create_parser(PROGRAM, "load")
    known = {flag for action in local._actions for flag in action.option_strings}
    there = remote_parser()
    taken = {flag for action in there._actions for flag in action.option_strings} | {"--json"}
    shown = {flag for flag in known if local._option_string_actions[flag].help != argparse.SUPPRESS}
    assert shown - taken == {"--help-all"}
    assert set(LOCAL_ONLY) <= known


def test_options_become_a_body_that_the_api_takes():
    line = (
        "a.csv --to t --table s.t --mode create --on-error reject --max-rejects none --chunk-size 2M --parallel 3"
        " --delimiter \\t --quote ' --encoding utf8 --no-header --line-end crlf --skip-rows 2 --comment # --null NA"
        " --map price=amount:null=-,date=%d.%m.%Y --map #2= --set origin=@file --set note=x --type amount=int"
        " --primary-key id --no-widen --keep-blank-lines --widths 5,20 --format fixed --session sort_buffer_size=1"
        " --match name --ignore-fields --accept-guesses --add-column town=text --like 7"
    )
    body = wish_of(vars(remote_parser().parse_intermixed_args(line.split())))
    assert ImportIn(**body).wish() == json.loads(json.dumps(body))
    request = ImportRequest.of(body)
    assert request.known_format["delimiter"] == "\t"
    assert request.known_format["blank_lines"] == "keep"
    assert [each.column for each in request.overrides] == ["amount", ""]
    assert request.overrides[0] == FieldOverride("price", "amount", None, ("-",), "%d.%m.%Y")
    assert [each.source for each in request.fillings] == ["file", "text"]
    assert request.new_table == NewTableRequest({"amount": "int"}, ("id",), widen=False)
    assert request.added_columns == (NewColumn("town", "text"),)
    options = Options("create", "reject", chunk_bytes=2 * 2**20, parallelism=3, session={"sort_buffer_size": "1"})
    assert request.options == options.without_limit()


def test_no_option_is_ignored():
    options = Recorded(vars(remote_parser().parse_intermixed_args(["a.csv", "--to", "t"])))
    wish_of(options)
    # Which files are meant is another part of the request, and --plan-only is another request.
    elsewhere = {"file", "from_connection", "server_file", "plan_only"}
    assert set(options) - options.read - elsewhere == {action.dest for action in refused()}


def test_with_a_preset_nothing_is_stated_that_was_not_given():
    line = ["a.csv", "--preset", "orders"]
    assert wish_of(vars(remote_parser().parse_intermixed_args(line))) == {"preset": "orders"}


def test_files_of_the_server_are_named():
    assert files.named_files(["2026-*.csv"], "incoming") == {"connection": "incoming", "paths": ["2026-*.csv"]}
    assert files.named_files(["https://h/a.csv"], "") == {"address": "https://h/a.csv"}
    assert files.named_files(["a.csv", "-"], "") == {}
    assert files.named_files([], "", "/there/a.csv") == {"server_file": "/there/a.csv"}
    with pytest.raises(Exception, match="An address stands with other files"):
        files.named_files(["https://h/a.csv", "b.csv"], "")


class Recorded(dict):
    """Options that record which of them are read."""

    def __init__(self, values: dict[str, Any]) -> None:
        super().__init__(values)
        self.read: set[str] = set()

    def __getitem__(self, name: str) -> Any:
        self.read.add(name)
        return super().__getitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        self.read.add(name)
        return super().get(name, default)


def refused() -> list[argparse.Action]:
    """The options that the parser refuses."""
    known = remote_parser()._option_string_actions
    return [known[flag] for flag in LOCAL_ONLY]


def remote_parser() -> _Parser:
    parser = _Parser(prog="millrace load")
    add_arguments(parser, "load")
    return parser


def test_every_word_has_options_that_argparse_takes():
    for word in REMOTE.values():
        add_options(_Parser(prog="x"), word.verbs)

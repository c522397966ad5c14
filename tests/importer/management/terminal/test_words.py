"""`millrace` and its words: help without Django, the nearest word for a mistyped one, and no word without a command."""

import json
import subprocess
import sys

import pytest
from django.core.management import get_commands
from django.urls import reverse

from config.version import VERSION
from importer.management.command_line.help.help_page import help_page
from importer.management.command_line.remote.main import REMOTE, parser_of
from importer.management.command_line.start import command_of
from importer.management.rules import RULES
from importer.management.terminal.parsers import parsers
from importer.management.terminal.words import AGENT, PROGRAM, WORDS, sentence
from importer.models.outcomes import WRONG_USAGE
from importer.models.outcomes.exit_codes import exit_codes_text
from importer.notifications import page_addresses
from tests.documents import read
from tests.stack import ROOT

# Management commands that no word is for: they are parts of others.
WITHOUT_A_WORD = {"ensure_admin"}
LINE, SCREEN = 80, 50  # characters, lines


def run(*words: str, code: str = "") -> subprocess.CompletedProcess[str]:
    """Run `millrace` as its installed script does, then `code`."""
    program = (
        f"from importer.management.command_line.main import main\ntry:\n    main()\nfinally:\n    pass\n    {code}"
    )
    return subprocess.run(
        [sys.executable, "-c", program, *words], cwd=ROOT, capture_output=True, text=True, timeout=120
    )


@pytest.mark.parametrize("words", [[], ["--help"], ["help"], ["--version"]])
def test_help_and_version_import_no_django(words):
    done = run(*words, code="import sys; print('django' in sys.modules, file=sys.stderr)")
    assert (done.returncode, done.stderr) == (0, "False\n")
    assert VERSION in done.stdout or help_page() in done.stdout


def test_the_help_fits_a_screen_and_names_every_word():
    lines = help_page().splitlines()
    assert len(lines) <= SCREEN
    assert max(map(len, lines)) <= LINE
    assert {line.split()[0] for line in lines if line.strip()} >= set(WORDS)


def test_a_mistyped_word_is_wrong_usage_and_the_nearest_one_is_offered():
    done = run("laod", "x.csv")
    assert done.returncode == 2
    assert "There is no command laod. Did you mean millrace load?" in done.stderr
    assert "Traceback" not in done.stderr


def test_with_json_a_mistyped_word_is_a_document():
    for words in (("laod", "x.csv", "--json"), ("--json",), ("help", "laod", "--json")):
        done = run(*words)
        assert (done.returncode, json.loads(done.stdout)["problem"]["kind"]) == (2, "WrongUsage"), words


def test_the_word_for_agents_needs_a_server():
    assert "Did you mean millrace --server URL mcp?" in run("mcp").stderr


def test_every_management_command_has_a_word():
    ours = {name for name, application in get_commands().items() if application.split(".")[0] == "importer"}
    assert ours - {word.command for word in WORDS.values()} == WITHOUT_A_WORD


@pytest.mark.parametrize("word", WORDS.values(), ids=lambda word: word.name)
def test_the_help_of_a_word_has_no_options_of_django_and_its_examples_are_right(word):
    command = command_of(word)
    parser = command.create_parser(PROGRAM, word.name)
    text = parser.format_help()
    for option in ("--settings", "--pythonpath", "--traceback", "--no-color", "--skip-checks", "--verbosity"):
        assert option not in text
    for example in word.examples:
        first, *arguments = example.split()
        assert first == word.name
        parser.parse_args([*word.given, *arguments])


def test_the_exit_codes_are_a_page_of_help():
    done = run("help", "exit-codes")
    assert (done.returncode, done.stdout) == (0, f"{exit_codes_text()}\n")


@pytest.mark.parametrize(("name", "table"), [("load", "table"), ("plan", "table"), ("check", "[table]")])
def test_the_help_of_words_about_files_says_what_each_does(name, table):
    """A check needs no table."""
    word = WORDS[name]
    here = command_of(word).create_parser(PROGRAM, name)
    assert here.description == sentence(word.about)
    both = {
        here: "mysql://USER@HOST:PORT/DATABASE.TABLE | --to TARGET --table TABLE",
        parser_of(name, REMOTE[name]): "--to TARGET --table TABLE",
    }
    for parser, how in both.items():
        assert parser.usage == f"%(prog)s FILE... {table.replace('table', how)} [options]"


@pytest.mark.parametrize("name", ["load", "plan", "check"])
def test_the_short_help_fits_a_screen_and_all_options_are_in_the_long_one(name, capsys):
    word = WORDS[name]
    parser = command_of(word).create_parser(PROGRAM, word.name)
    with pytest.raises(SystemExit):
        parser.parse_args(["--help"])
    short = capsys.readouterr().out
    assert len(short.splitlines()) <= SCREEN
    assert f"millrace {word.examples[0]}" in short
    assert "--chunk-size" not in short
    assert ("--check-only" in short) == (name == "load")
    with pytest.raises(SystemExit):
        parser.parse_args(["--help-all"])
    assert "--chunk-size" in capsys.readouterr().out


@pytest.mark.parametrize("name", [*WORDS, AGENT])
def test_every_option_of_every_verb_has_a_help(name):
    """Here, and with --server."""
    here = [command_of(WORDS[name]).create_parser(PROGRAM, name)] if name in WORDS else []
    there = [parser_of(name, REMOTE[name])] if name in REMOTE else []
    options = [(each.prog, action) for whole in (*here, *there) for each in parsers(whole) for action in each._actions]
    assert options
    assert [(prog, each.dest) for prog, each in options if not (each.help or each.dest == "verb")] == []


@pytest.mark.parametrize(("program", "name"), [(PROGRAM, "load"), ("manage.py", "import_csv")])
def test_a_load_is_in_this_process_unless_workers_are_asked_for(program, name):
    parser = command_of(WORDS["load"]).create_parser(program, name)
    line = ["x.csv", "--to", "t", "--table", "t"]
    assert [parser.parse_args([*line, *more]).in_process for more in ((), ("--workers",))] == [True, False]


def test_every_verb_has_a_rule():
    for word in WORDS.values():
        parser = command_of(word).create_parser(PROGRAM, word.name)
        verbs = [action.choices for action in parser._actions if action.dest == "verb"]
        names = [f"{word.command} {verb}" for choices in verbs for verb in choices] or [word.command]
        assert set(names) <= set(RULES)


@pytest.mark.parametrize("name", page_addresses.PAGES)
def test_links_in_messages_lead_to_their_pages(name, settings):
    settings.SITE_URL = "https://millrace.example/"
    args = ["MQ", "abc-123"] if name == "invitation" else [17]
    assert page_addresses.link(name, *args) == f"https://millrace.example{reverse(name, args=args)}"


@pytest.mark.parametrize(
    ("setting", "value", "said", "line", "schema"),
    [
        ("PORT", "abc", "PORT is 'abc'", ["load", "x.csv", "--json"], "report"),
        ("FILE_STORE", "foo", "FILE_STORE: write s3://BUCKET", ["target", "list", "--json"], "problem"),
        ("LOG_LEVEL", "LOUD", "LOG_LEVEL is 'LOUD'. Write one of DEBUG, INFO", ["completion", "bash"], None),
        ("TIME_ZONE", "Europe/Wien", "TIME_ZONE is 'Europe/Wien', which is no time", ["help", "exit-codes"], None),
    ],
)
def test_a_wrong_setting_is_named_without_a_traceback(setting, value, said, line, schema, tmp_path):
    env = {"PATH": "/usr/bin:/bin", "VAR_DIR": str(tmp_path), setting: value}
    code = "from importer.management.command_line.main import main; main()"
    done = subprocess.run([sys.executable, "-c", code, *line], cwd=ROOT, env=env, capture_output=True, text=True)
    assert done.returncode == WRONG_USAGE.exit_code
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    if schema is None:
        assert done.stdout == ""
        return
    document = read(done.stdout)
    assert document["schema"].startswith(f"millrace.{schema}/")
    assert said in document["problem"]["what"]

"""`millrace apply`: a file with targets, connections, channels, presets and schedules, and what is made of it."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.management import CommandError, call_command

from importer import schedules, targets
from importer.models import (
    AuditEvent,
    Channel,
    Level,
    MappingPreset,
    Schedule,
    SourceConnection,
    Subscription,
    Target,
)
from importer.notifications import channels
from tests.documents import read
from tests.people import operator
from tests.stack import ROOT

pytestmark = pytest.mark.django_db

EXAMPLE = re.search(r"```yaml\n(.*?)```", (ROOT / "docs" / "apply.md").read_text(), re.DOTALL)[1]
SECRETS = {"DB_PASSWORD": "db-sesame", "PARTNER_TOKEN": "token-sesame", "HOOK_SECRET": "a-long-enough-sesame"}
KINDS = (Target, SourceConnection, Channel, MappingPreset, Schedule)
Apply = Callable[..., str]


@pytest.fixture
def file(tmp_path: Path, settings, monkeypatch) -> Path:
    """The example of docs/apply.md, its file with a secret below the test's own folder."""
    settings.EMAIL_BACKEND = "importer.notifications.smtp.Backend"
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)
    (tmp_path / "sftp").write_text("sftp-sesame\n")
    path = tmp_path / "millrace.yaml"
    path.write_text(EXAMPLE.replace("/run/secrets/sftp", str(tmp_path / "sftp")))
    return path


@contextmanager
def without_secrets() -> Iterator[None]:
    try:
        yield
    except CommandError as error:
        if "sesame" in str(error):
            raise AssertionError("a secret is in the message") from error
        raise


@pytest.fixture
def apply(file: Path, capsys) -> Apply:
    """Applies the file with these options; the answer is what it prints, in which no secret ever is."""

    def applied(*options: str) -> str:
        capsys.readouterr()
        with without_secrets():
            call_command("apply", "-f", str(file), *options)
        out, err = capsys.readouterr()
        assert "sesame" not in out + err
        return out

    return applied


def changed(file: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    values = yaml.safe_load(file.read_text())
    change(values)
    file.write_text(yaml.safe_dump(values, sort_keys=False))


def everything() -> list[Any]:
    return [list(kind.objects.order_by("pk").values()) for kind in (*KINDS, Subscription)]


def counts() -> list[int]:
    return [kind.objects.count() for kind in KINDS]


def test_the_example_of_the_page_is_made_and_a_second_run_changes_nothing(apply: Apply):
    assert "  password: set\n" in apply("--yes")
    assert counts() == [1, 2, 2, 1, 1]
    target, (sftp, web) = Target.objects.get(), SourceConnection.objects.order_by("name")
    assert (target.address.password, target.ceiling) == ("db-sesame", 16)
    assert (sftp.secrets, web.secrets) == ({"password": "sftp-sesame"}, {"password": "token-sesame"})
    schedule, preset = Schedule.objects.get(), MappingPreset.objects.get()
    assert (schedule.cron, schedule.table, schedule.next_due_at is None) == ("30 2 * * 1-5", "sales.orders", False)
    assert (schedule.mapping, preset.mapping[2].datetime_format) == (preset.mapping, "%d.%m.%Y")
    assert (Subscription.objects.get().channel.name, Channel.objects.get(name="pipeline").secret) == (
        "team", "a-long-enough-sesame",
    )  # fmt: skip
    before = everything()
    assert apply() == "no change: 7 as in the file\n"
    assert everything() == before


def test_each_change_is_shown_field_by_field_and_made_only_after_a_yes(apply: Apply, file: Path, monkeypatch):
    apply("--yes")
    schedules.pause(Schedule.objects.get())
    monkeypatch.setenv("DB_PASSWORD", "another-sesame")

    def change(values: dict[str, Any]) -> None:
        values["targets"]["warehouse"]["ceiling"] = 4
        values["connections"]["partner"]["place"] = "https://partner.example.org/hourly/"
        del values["channels"]["team"]["events"]
        values["presets"]["orders"]["mapping"][1]["column"] = "amount"
        del values["schedules"]["orders nightly"]["zone"]
        values["schedules"]["orders nightly"]["subscriptions"] = {"pipeline": ["late"]}

    changed(file, change)
    before = everything()
    shown = apply("--dry-run")
    with pytest.raises(CommandError, match="Add --yes to do it") as refused:
        apply()
    assert (refused.value.returncode, everything()) == (2, before)
    for line in (
        "change target warehouse\n  ceiling: 16 -> 4\n  password: changed\n",
        "  place: https://partner.example.org/daily/ -> https://partner.example.org/hourly/\n",
        '  events: ["failed", "recovered", "late"] -> ["failed", "recovered", "rejects", "late", "no_fi',
        "change preset orders\n  mapping.2.column: price -> amount\n",
        "  zone: Europe/Vienna -> UTC\n",
        "  recipe.mapping.2.column: price -> amount\n",
        '  subscriptions.team: ["no_file"] -> none\n  subscriptions.pipeline: none -> ["late"]\n',
        "Nothing is done: 5 to change, 2 as in the file\n",
    ):
        assert line in shown
    document = read(apply("--yes", "--json"))
    assert document["done"]
    password = {"field": "password", "old": None, "new": None, "secret": True}
    assert document["changes"][0]["fields"] == [{"field": "ceiling", "old": 16, "new": 4, "secret": False}, password]
    assert (Target.objects.get().address.password, Schedule.objects.get().paused) == ("another-sesame", True)
    assert apply() == "no change: 7 as in the file\n"


@pytest.mark.parametrize(("answer", "code", "targets_after"), [("n\n", 8, 0), ("", 8, 0), ("y\n", 0, 1)])
def test_a_terminal_is_asked(apply: Apply, monkeypatch, answer: str, code: int, targets_after: int):
    terminal = StringIO(answer)
    terminal.isatty = lambda: True
    monkeypatch.setattr("sys.stdin", terminal)
    if code:
        with pytest.raises(CommandError, match="Nothing is done") as refused:
            apply()
        assert refused.value.returncode == code
    else:
        assert "7 to add, 0 as in the file. Do it? [y/N] Done" in apply()
    assert Target.objects.count() == targets_after


def test_what_is_exported_changes_nothing_when_it_is_applied(apply: Apply, file: Path, capsys, monkeypatch):
    apply("--yes")
    schedule = Schedule.objects.get()
    # As one that was made from an import: no preset has its recipe, and it has no limit of rejected rows.
    schedule.options_json |= {"max_reject_percent": 100, "priority": "low"}
    schedule.save()
    SourceConnection.objects.filter(name="incoming").update(
        settings=SourceConnection.objects.get(name="incoming").settings | {"host_key": "SHA256:abc"}
    )
    Channel.objects.update(on=False)
    call_command("apply", "--export")
    text = capsys.readouterr().out
    assert "sesame" not in text
    file.write_text(text)
    for name, secret in (
        ("TARGET_WAREHOUSE_PASSWORD", "db-sesame"),
        ("CONNECTION_INCOMING_PASSWORD", "sftp-sesame"),
        ("CONNECTION_PARTNER_PASSWORD", "token-sesame"),
        ("CHANNEL_PIPELINE_SECRET", "a-long-enough-sesame"),
    ):
        monkeypatch.setenv(name, secret)
    assert apply() == "no change: 7 as in the file\n"
    for kind in reversed(KINDS):
        kind.objects.all().delete()
    apply("--yes")
    assert Schedule.objects.get().options_json == schedule.options_json
    assert SourceConnection.objects.get(name="incoming").settings["host_key"] == "SHA256:abc"
    assert apply() == "no change: 7 as in the file\n"


def test_only_prune_deletes_and_only_kinds_that_the_file_has(apply: Apply, file: Path):
    apply("--yes")
    changed(file, lambda values: [values.pop(each) for each in ("targets", "connections", "channels", "presets")])
    changed(file, lambda values: values.update(schedules={}))
    assert "leave schedule orders nightly, which is not in the file" in apply()
    assert counts() == [1, 2, 2, 1, 1]
    assert "delete schedule orders nightly\n" in apply("--prune", "--yes")
    assert counts() == [1, 2, 2, 1, 0]
    file.write_text("targets: {}\n")
    with pytest.raises(CommandError, match="warehouse stays: the presets orders load into it"):
        apply("--prune", "--yes")
    file.write_text("targets:\npresets:\nchannels:\n")
    apply("--prune", "--yes")
    assert counts() == [0, 2, 0, 0, 0]


def test_an_error_in_the_middle_leaves_nothing_half_done(apply: Apply, file: Path, monkeypatch):
    apply("--yes")
    apply()
    before, events = everything(), AuditEvent.objects.count()

    def change(values: dict[str, Any]) -> None:
        values["targets"]["warehouse"]["ceiling"] = 4
        values["targets"]["another"] = {"url": "mysql://me@db.example.org/shop"}
        values["channels"]["team"]["events"] = []

    changed(file, change)

    save, saved = channels.save, []

    def fail_at_last(*args: Any) -> Channel:
        saved.append(args)
        if len(saved) > 1:  # The first time the differences are found.
            raise RuntimeError("the disk is full")
        return save(*args)

    monkeypatch.setattr("importer.notifications.channels.save", fail_at_last)
    with pytest.raises(RuntimeError):
        apply("--yes")
    assert everything() == before
    monkeypatch.undo()
    assert AuditEvent.objects.count() == events + 1, "of the command as a whole, which failed"


def test_what_changes_between_the_question_and_the_answer_is_not_overwritten(apply: Apply, monkeypatch):
    from importer.management.commands import apply as command

    carry_out = command.carry_out

    def after_another_change(*args: Any, **options: Any) -> None:
        targets.add_or_replace("warehouse", targets.parse_url("mysql://loader@db.example.org/sales"))
        carry_out(*args, **options)

    monkeypatch.setattr(command, "carry_out", after_another_change)
    with pytest.raises(CommandError, match="Something has changed since the differences were found"):
        apply("--yes")
    assert counts() == [1, 0, 0, 0, 0]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("targets:", "target:", "line 1, column 1, target: The file has no key 'target'. Did you mean targets?"),
        ("ceiling: 16", "cieling: 16", "line 6, column 5, targets.warehouse.cieling: A target has no key 'cieling'."
         " Did you mean ceiling?"),
        ("ceiling: 16", "ceiling: many", "line 6, column 14, targets.warehouse.ceiling: A whole number is expected,"
         " and there is 'many'."),
        ("ceiling: 16", "ceiling: 99", "line 6, column 14, targets.warehouse.ceiling: ceiling: Ensure this value is"),
        ("tls: verify", "tls: maybe", "line 5, column 10, targets.warehouse.tls: tls: Value 'maybe' is not a valid"),
        ("tls: verify", "tls: verify\n    tls: off", "line 6, column 5, targets.warehouse.tls: The key tls is there"),
        ("{env: DB_PASSWORD}", "plain-sesame", "line 4, column 15, targets.warehouse.password: A secret does not"),
        ("DB_PASSWORD", "NO_SUCH", "line 4, column 15, targets.warehouse.password: There is no environment variable"),
        ("/sftp}", "/none}", "connections.incoming.password: The secret cannot be read from "),
        ("loader@db", "loader:sesame@db", "line 3, column 10, targets.warehouse.url: The URL has a password."),
        ("    url: mysql", "    uri: mysql", "line 2, column 3, targets.warehouse: The target warehouse has no url."),
        ("place: sftp", "place: gopher", "line 9, column 12, connections.incoming.place: That is no place of a kind"),
        ("auth: bearer", "auth: magic", "connections.partner.auth: The setting auth cannot be magic."),
        ("[succeeded]", "[won]", "channels.pipeline: There is no event won."),
        ("target: warehouse", "target: nowhere", "line 25, column 13, presets.orders.target: There is no target"),
        ("{delimiter:", "{delimeter:", "presets.orders.dialect.delimeter: dialect has no key 'delimeter'."
         " Did you mean delimiter?"),
        ("mode: upsert", "mode: upset", "presets.orders.options.mode: mode is 'upset'. Give one of append"),
        ("[decimal-comma]", "[decimal-coma]", "presets.orders.mapping.2.transforms: There is no transform"),
        ("preset: orders", "preset: ordres", "schedules.orders nightly.preset: There is no preset named ordres."),
        ("cron: 30 2 * * 1-5", "cron: 30 2", "schedules.orders nightly.cron: '30 2' has 2 fields, and not five."),
        ("team: [no_file]", "crew: [no_file]", "schedules.orders nightly.subscriptions.crew: There is no channel crew"),
        (EXAMPLE.partition("connections:")[0], "targets: {a: mysql://me:sesame@db/shop}\n", "line 1, column 14,"
         " targets.a: Keys with values are expected, and there is a text."),
        ("    mail: [ann", "    mail: [[ann", "That is no YAML: "),
    ],
)  # fmt: skip
def test_a_mistake_is_named_with_its_place_and_nothing_is_made(apply: Apply, file: Path, old, new, said):
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))
    with pytest.raises(CommandError) as refused:
        apply("--yes")
    assert f"{file}, line " in str(refused.value)
    assert said in str(refused.value)
    assert counts() == [0, 0, 0, 0, 0]


def test_a_person_needs_the_rights_of_each_change(apply: Apply, file: Path):
    apply("--yes")
    ann = operator("ann", Level.ADMINISTER)
    changed(file, lambda values: values["targets"]["warehouse"].update(ceiling=4))
    apply("--yes", "--as", "ann")
    assert Target.objects.get().ceiling == 4
    operator("bob", Level.LOAD)
    changed(file, lambda values: values["targets"]["warehouse"].update(ceiling=5))
    with pytest.raises(CommandError, match=r"targets\.warehouse: ") as refused:
        apply("--yes", "--as", "bob")
    assert refused.value.returncode == 4
    with pytest.raises(CommandError, match="Only admins may export everything"):
        call_command("apply", "--export", "--as", ann.username)
    assert AuditEvent.objects.filter(details__command="apply", object_name="warehouse", actor_name="ann").exists()

"""The messages of real imports, and how receivers verify their signature."""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from email.header import decode_header, make_header
from pathlib import Path

import pytest
from django.utils import timezone

from importer.engine.errors import Problem, TargetUnreachable
from importer.engine.plan.options import Options
from importer.jobs.actions import commands
from importer.models import Channel, DiscoveredFile, ImportJob, Notification, ScheduleRun, Subscription, Target
from importer.models.channel import Event
from importer.notifications import channels, delivery, import_events, outbox, rendering
from importer.notifications.channel_kinds import kind_of
from importer.notifications.payload import test_payload as payload_of_test
from importer.notifications.webhook import standard_signature
from importer.schedules.events import record_event
from tests.dashboard.job_data import REFUSED, Status, make_job
from tests.documents import read
from tests.importer.notifications.conftest import SECRET
from tests.importer.notifications.receivers import Hook, Inbox
from tests.importer.notifications.runs import run_of
from tests.importer.steps import import_of, run
from tests.stack import ROOT, Stack

pytestmark = pytest.mark.usefixtures("no_workers")

DOCS = (ROOT / "docs" / "notifications.md").read_text()
TABLES = ("CREATE TABLE orders (n INT PRIMARY KEY, price DECIMAL(6,2) NOT NULL)",)


def imported(target: Target, folder: Path, *lines: str, **options) -> ImportJob:
    path = folder / "orders.csv"
    path.write_text("n,price\n" + "".join(f"{line}\n" for line in lines))
    return run(import_of(path, target, "orders", options=Options(**options)))


def send_all() -> None:
    for notice in Notification.objects.order_by("pk"):
        delivery.send(notice.pk)


def example(language: str) -> str:
    """The example of docs/notifications.md in this language."""
    return re.search(rf"```{language}\n(.*?)```", DOCS, re.DOTALL)[1]


def receiver() -> Callable[..., bool]:
    """The function with which receivers verify a message, from docs/notifications.md."""
    names: dict = {}
    exec(example("python"), names)
    return names["is_genuine"]


def test_failure_recovery_and_rejects_of_real_imports_reach_mail_and_webhook(
    target: Target, tmp_path: Path, mail: Channel, inbox: Inbox, webhook: Channel, hook: Hook
):
    failed = imported(target, tmp_path, "1,9.50", "2,<b>cheap</b>")
    rejecting = imported(target, tmp_path, "1,9.50", "2,cheap", on_error="reject")
    good = imported(target, tmp_path, "3,9.50")
    assert (failed.status, rejecting.status, good.status) == ("failed", "succeeded", "succeeded")
    send_all()
    payloads = [read(body) for _, body in hook.came]
    assert [(each["event"], each["job"]["job"]) for each in payloads] == [
        ("failed", failed.pk), ("rejects", rejecting.pk), ("recovered", rejecting.pk),
    ]  # fmt: skip
    assert payloads[0]["problem"]["rows"] == [
        {"line": 3, "column": "price", "value": "<b>cheap</b>", "reason": failed.problem["rows"][0]["reason"]}
    ]
    rows = {
        "source": 2,
        "loaded": 1,
        "replaced": 0,
        "unchanged": 0,
        "skipped": 0,
        "rejected": 1,
        "deleted": 0,
        "marked": 0,
    }
    assert payloads[1]["job"]["rows"] == rows
    assert [each["job"]["outcome"] for each in payloads] == [
        "failed",
        "completed with rejects",
        "completed with rejects",
    ]
    assert payloads[1]["job"]["rejects_url"] == f"http://127.0.0.1:8000/jobs/{rejecting.pk}/rejects/"
    assert inbox.subjects == [
        f"Millrace: Import {failed.pk} into orders failed: {failed.problem['what']}",
        f"Millrace: Import {rejecting.pk} into orders rejected rows: 1 of 2 rows were rejected.",
        f"Millrace: Import {rejecting.pk} into orders works again: 1 row loaded.",
    ]
    text, html = (part.get_payload(decode=True).decode() for part in inbox.came[0].get_payload())
    assert 'line 3, column price, "<b>cheap</b>"' in text
    assert "<b>cheap" not in html
    assert f"http://127.0.0.1:8000/jobs/{failed.pk}/" in text
    assert inbox.came[0]["X-RcptTo"] == "ann@example.org, bob@example.org"
    equation = inbox.came[1].get_payload()[0].get_payload(decode=True).decode()
    assert "2 rows = 1 loaded + 0 replaced + 0 unchanged + 0 skipped + 1 rejected" in equation


@pytest.mark.parametrize(
    ("name", "shown"),
    [("a\r\nBcc: eve@example.org", "a Bcc: eve@example.org"), ("a\x1b[2J\0b", "a [2J b"), ("é" * 3000, "é" * 100)],
)
def test_a_name_adds_no_header_and_its_mail_arrives(mail: Channel, inbox: Inbox, name: str, shown: str):
    assert kind_of(mail).send(mail, "key", {**payload_of_test(), "what": f"{name} is empty."}) == ""
    (came,) = inbox.came
    assert (came["Bcc"], came["X-RcptTo"]) == (None, "ann@example.org, bob@example.org")
    subject = str(make_header(decode_header(" ".join(came["Subject"].split()))))
    assert subject.startswith(f"Millrace: this is a test: {shown}")
    assert name.replace("\r\n", "\n") in came.get_payload()[0].get_payload(decode=True).decode().replace("\r\n", "\n")


def test_an_unreachable_target_is_an_outcome_of_its_own(webhook: Channel):
    silent = TargetUnreachable("The server does not answer.")
    job = make_job(Status.FAILED, table="orders", problem=silent)
    import_events.import_ended(job)
    run = run_of(job)
    run.status = "failed"
    run.save()
    Subscription.objects.create(schedule=run.schedule, channel=webhook, events=["failed"])
    import_events.run_event(run.pk, Event.FAILED)
    of_job, of_run = (notice.payload for notice in Notification.objects.order_by("pk"))
    assert (of_job["job"]["outcome"], of_job["job"]["status"]) == ("target unreachable", "failed")
    assert (of_run["run"]["outcome"], of_run["run"]["status"]) == ("target unreachable", "failed")


def test_limits_and_events_are_the_channels_own(target: Target, tmp_path: Path, webhook: Channel, mail: Channel):
    Channel.objects.filter(pk=webhook.pk).update(most_rejects=1)
    Channel.objects.filter(pk=mail.pk).update(events=["failed"])
    imported(target, tmp_path, "1,9.50", "2,cheap", on_error="reject")
    assert not Notification.objects.exists()


@pytest.mark.parametrize(("own", "most", "sent"), [(10, 1000, 1), (None, 1000, 0), (None, 10, 1)])
@pytest.mark.parametrize("subscribed", [False, True])
def test_the_limit_of_a_schedule_comes_before_that_of_a_channel(webhook: Channel, own, most, sent, subscribed):
    """The first import of a run rejects 100 rows, its last one none. Without a limit, the import sends the message."""
    first = make_job(Status.SUCCEEDED, table="orders", rejected_rows=100)
    run = run_of(first, rejects_limit=own)
    last = make_job(Status.SUCCEEDED, table="orders")
    DiscoveredFile.objects.create(run=run, schedule=run.schedule, name="orders-2.csv", job=last)
    Channel.objects.update(events=[] if subscribed else ["rejects"], most_rejects=most)
    if subscribed:
        Subscription.objects.create(schedule=run.schedule, channel=webhook, events=["rejects"])
    for job in (first, last):
        import_events.import_ended(job)
    if own is not None:
        import_events.run_event(run.pk, Event.REJECTS)
    assert Notification.objects.filter(event=Event.REJECTS).count() == Notification.objects.count() == sent


def test_success_is_sent_to_channels_that_ask_for_it(target: Target, tmp_path: Path, webhook: Channel, mail: Channel):
    Channel.objects.filter(pk=webhook.pk).update(events=[*Event.usual(), "succeeded"])
    done = imported(target, tmp_path, "1,9.50")
    imported(target, tmp_path, "2,cheap")
    notices = Notification.objects.filter(event=Event.SUCCEEDED).values_list("channel__name", "job")
    assert list(notices) == [(webhook.name, done.pk)]
    ended = run_of(done)
    Subscription.objects.create(schedule=ended.schedule, channel=mail, events=["succeeded"])
    record_event(ended, Event.SUCCEEDED)
    payload = Notification.objects.get(channel=mail, event=Event.SUCCEEDED).payload
    assert (payload["title"], payload["what"]) == ("orders nightly succeeded", "1 row loaded.")


def test_a_successful_retry_sends_recovered(target: Target, tmp_path: Path, webhook: Channel):
    failed = imported(target, tmp_path, "1,9.50", "2,cheap")
    commands.retry(failed.pk, leave_out=True)
    assert run(failed).status == "succeeded"
    notices = {notice.event: notice.payload["job"] for notice in Notification.objects.all()}
    assert set(notices) == {"failed", "rejects", "recovered"}
    assert notices["failed"]["rows_per_second"] is None
    assert notices["recovered"]["rows_per_second"] > 0


def test_events_of_scheduled_imports_are_those_of_their_runs(webhook: Channel, mail: Channel):
    job = make_job(Status.FAILED, table="orders", problem=REFUSED)
    run = run_of(job)
    page = f"http://127.0.0.1:8000/schedules/{run.schedule_id}/"
    Channel.objects.update(events=[])
    Subscription.objects.create(schedule=run.schedule, channel=mail, events=["failed", "late", "no_file"])
    import_events.import_ended(job)
    assert not Notification.objects.exists(), "told by the import as well as by its run"
    for event in (Event.FAILED, Event.FAILED, Event.LATE, Event.NO_FILE, Event.RECOVERED):
        import_events.run_event(run.pk, event)
    payloads = [notice.payload for notice in Notification.objects.filter(channel=mail, run=run, schedule=run.schedule)]
    assert [(each["title"], each["what"]) for each in payloads] == [
        ("orders nightly failed", REFUSED.what),
        ("orders nightly is late", "It was due at 2026-11-20 03:00 (Europe/Vienna) and has not ended in time."),
        ("orders nightly found no file", "No new file on drop matches orders-*.csv."),
    ]
    assert {(each["job"]["outcome"], each["run"]["outcome"]) for each in payloads} == {("failed", None)}, (
        "the run continues"
    )
    assert Notification.objects.count() == 3
    assert {each["run"]["schedule"]["url"] for each in payloads} == {page}
    assert f"The schedule: {page}" in rendering.bodies(payloads[0], "team")[0]


def test_a_scheduled_import_that_is_retried_after_its_run_reports_itself(
    target: Target, tmp_path: Path, webhook: Channel
):
    job = imported(target, tmp_path, "1,9.50", "2,cheap")
    ended = run_of(job, rejects_limit=0)
    ScheduleRun.objects.filter(pk=ended.pk).update(status="failed", finished_at=timezone.now())
    Notification.objects.all().delete()
    Channel.objects.update(events=[])
    Subscription.objects.create(schedule=ended.schedule, channel=webhook, events=["failed", "recovered", "rejects"])
    commands.retry(job.pk)
    assert run(job).status == "failed"
    commands.retry(job.pk, leave_out=True)
    assert run(job).status == "succeeded"
    notices = Notification.objects.filter(job=job, schedule=ended.schedule).order_by("pk")
    assert [(each.payload["title"], each.payload["run"]) for each in notices] == [
        (f"Import {job.pk} into orders failed", None),
        (f"Import {job.pk} into orders rejected rows", None),
        (f"Import {job.pk} into orders works again", None),
    ]


def test_a_receiver_can_tell_what_is_ours_as_the_page_says(webhook: Channel, hook: Hook, tmp_path: Path):
    channels.test(webhook)
    headers, body = hook.came[0]
    genuine = receiver()
    assert genuine(SECRET, headers, body)
    assert not genuine(SECRET, headers, body + b" ")
    assert not genuine("another secret", headers, body)
    earlier = {**headers, "X-Millrace-Timestamp": str(int(headers["X-Millrace-Timestamp"]) - 3600)}
    assert not genuine(SECRET, earlier, body)
    (tmp_path / "body.json").write_bytes(body)
    given = {"SECRET": SECRET, "TIMESTAMP": headers["X-Millrace-Timestamp"], "BODY": str(tmp_path / "body.json")}
    for signature, said in ((headers["X-Millrace-Signature"], "genuine\n"), ("sha256=0", "")):
        env = {"PATH": "/usr/bin:/bin", **given, "SIGNATURE": signature}
        assert subprocess.run(["sh", "-c", example("sh")], env=env, capture_output=True, text=True).stdout == said


def test_libraries_of_standard_webhooks_can_tell_it_too(webhook: Channel, hook: Hook):
    """The example is that of the specification's own libraries."""
    example_key, body = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", b'{"test": 2432232314}'
    signed = standard_signature(example_key, "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", body)
    assert signed == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
    channels.test(webhook)
    headers, body = hook.came[0]
    sent = [headers[name] for name in ("webhook-id", "webhook-timestamp")]
    assert sent == [headers["X-Millrace-Id"], headers["X-Millrace-Timestamp"]]
    assert headers["webhook-signature"] == standard_signature(SECRET, *sent, body)


def test_every_name_in_a_body_is_on_the_page(target: Target, tmp_path: Path, webhook: Channel):
    failed = imported(target, tmp_path, "1,cheap")
    Notification.objects.all().delete()
    import_events.run_event(run_of(failed).pk, Event.FAILED)
    shown = json.loads(example("json"))
    sent = {"id": "", **Notification.objects.get().payload}
    for path in ((), ("job",), ("job", "rows"), ("problem",), ("run",), ("run", "schedule"), ("run", "rows")):
        one, other = shown, sent
        for name in path:
            one, other = one[name], other[name]
        assert one.keys() == other.keys()


def test_without_a_mail_server_the_test_says_what_to_set(mail: Channel, settings):
    settings.EMAIL_BACKEND = ""
    with pytest.raises(Problem, match="Set EMAIL_URL"):
        channels.test(mail)


def test_another_worker_sends_the_notification_of_a_killed_one(
    transactional_db, webhook: Channel, hook: Hook, stack_env: Stack
):
    outbox.enqueue(Event.LATE, "schedule 1", "It was due at 2 o'clock.")
    notice = Notification.objects.get()
    hook.answers = [0, 200]
    code = f"import django; django.setup(); from importer.notifications import delivery; delivery.send({notice.pk})"
    worker = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, env=stack_env.env)
    try:
        assert hook.arrived.acquire(timeout=60)
    finally:
        worker.kill()
        worker.wait()
    delivery.send(notice.pk)
    assert len(hook.came) == 1, "sent while the dead worker had its lease"
    notice.refresh_from_db()
    assert (notice.status, notice.attempts, notice.problem) == (Notification.Status.WAITING, 1, delivery.NO_WORD)
    for model, field in ((Notification, "next_at"), (Channel, "free_at")):
        model.objects.update(**{field: timezone.now()})  # its lease is over
    delivery.send(notice.pk)
    notice.refresh_from_db()
    assert notice.status == Notification.Status.SENT
    assert len({body for _, body in hook.came}) == 1

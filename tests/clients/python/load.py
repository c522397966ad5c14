"""Uploads a file, plans, imports and waits, with the client that openapi-python-client has made."""

import base64
import json
import os
import time
import uuid
from io import BytesIO
from pathlib import Path

from millrace_api import AuthenticatedClient
from millrace_api.api.imports import plan, show_import, start_import
from millrace_api.api.uploads import begin_an_upload, send_a_part
from millrace_api.models import BeginAnUploadTusResumable, ImportIn, Problem, Report, SendAPartTusResumable
from millrace_api.types import File

client = AuthenticatedClient(base_url=os.environ["MILLRACE"], token=os.environ["TOKEN"])
content = Path(os.environ["FILE"]).read_bytes()


def reported(answer: Report | Problem | None) -> Report:
    if isinstance(answer, Report):
        return answer
    raise SystemExit(str(answer))


begun = begin_an_upload.sync_detailed(
    client=client,
    tus_resumable=BeginAnUploadTusResumable("1.0.0"),
    upload_length=len(content),
    upload_metadata="filename " + base64.b64encode(b"orders.csv").decode(),
)
file = uuid.UUID(begun.headers["Location"].rpartition("/")[2])
sent = send_a_part.sync_detailed(
    file, client=client, body=File(BytesIO(content)), tus_resumable=SendAPartTusResumable("1.0.0"), upload_offset=0
)
assert sent.status_code == 204, sent

refused = plan.sync(client=client, body=ImportIn(file=file, target="warehouse", table="order"))
assert isinstance(refused, Problem), refused
wanted = ImportIn(file=file, target="warehouse", table="orders")
planned = reported(plan.sync(client=client, body=wanted))
report = reported(start_import.sync(client=client, body=wanted, idempotency_key=str(uuid.uuid4())))
assert report.job
until = time.monotonic() + 90
while report.outcome is None and time.monotonic() < until:
    time.sleep(0.2)
    report = reported(show_import.sync(report.job, client=client))
print(json.dumps([refused.code, planned.outcome, report.outcome, report.balanced]))

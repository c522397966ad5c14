"""`millrace job why` and the words of `import_csv`, with a real lock."""

import threading
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command

from importer.engine.load import ledger
from importer.engine.mysql.connection import Address, connect, execute
from importer.models import Chunk
from tests.dashboard.job_data import make_job
from tests.documents import read
from tests.engine.mysql.diagnosis.scene import scene
from tests.people import operator, viewer
from tests.stack import wait_until
from tests.targets import saved_target


@pytest.mark.django_db
def test_why_names_the_holder_and_the_statement_only_to_who_may_administer_the_target(mariadb: Address):
    with scene(mariadb) as made:
        holder = made.other("LOCK TABLES t WRITE").thread_id()
        job = make_job(table="t", target=saved_target(mariadb, "shop"), schema_name=mariadb.database)
        own = made.waiting("INSERT INTO t VALUES (7, 8)")
        job.chunks.filter(status=Chunk.Status.LOADING).update(connection_id=own)
        (first,) = _json(job.pk, as_user=operator("ann").username)
        (shown,) = _json(job.pk, as_user=viewer("vic").username)
        out = StringIO()
        call_command("job", "why", str(job.pk), stdout=out)
    assert (first["cause"], first["holder"], first["sql"]) == ("table_lock", holder, f"KILL {holder};")
    assert (shown["holder"], shown["sql"]) == (holder, "")
    assert f"probably by connection {holder} (root@127.0.0.1), with LOCK TABLES." in out.getvalue()


def _json(number: int, as_user: str) -> list[dict]:
    out = StringIO()
    call_command("job", "why", str(number), "--json", "--as", as_user, stdout=out)
    told = read(out.getvalue())
    assert told["job"] == number
    causes: list[dict] = [each for each in told["causes"] if each["cause"] == "table_lock"]
    return causes


@pytest.mark.django_db(transaction=True)
def test_import_csv_says_why_it_waits(mariadb: Address, tmp_path: Path):
    said = StringIO()
    with connect(mariadb) as connection:
        ledger.create(connection)
        execute(connection, "CREATE TABLE t (n INT PRIMARY KEY)")
    saved_target(mariadb, "shop")
    path = tmp_path / "t.csv"
    path.write_text("n\n1\n2\n")
    with connect(mariadb) as other, redirect_stderr(said):
        execute(other, "LOCK TABLES t READ")  # The plan, which reads the table, is made under this lock.
        number = other.thread_id()

        def release() -> None:
            wait_until(lambda: f"connection {number}" in said.getvalue(), 60)
            execute(other, "UNLOCK TABLES")

        released = threading.Thread(target=release)
        released.start()
        call_command("import_csv", str(path), "--target", "shop", "--table", "t", "--in-process", stdout=StringIO())
        released.join()
    assert said.getvalue().count("t is locked probably by connection") == 1

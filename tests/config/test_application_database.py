"""The application's own tables on MariaDB and MySQL: migrate, sign in, import, and what these servers ignore."""

from pathlib import Path

import pytest
from django.apps import apps
from django.db.models import UniqueConstraint

from importer.engine.mysql.connection import Address, connect, execute, fetch_all
from tests.importer.management.installation import Installation
from tests.targets import TestServer
from tests.web_site import own_database

pytestmark = pytest.mark.both_servers

PASSWORD = "mill-race-9"
SIGN_IN = """
from django.test import Client
from django.urls import reverse
browser = Client()
signed_in = browser.post(reverse("login"), {"login": "admin", "password": "%s"})
pages = [reverse("jobs"), reverse("job", args=[1])]
answer = [signed_in.status_code, *(browser.get(page).status_code for page in pages)]
counted = browser.get(reverse("metrics")).content.decode()
answer += [line for line in counted.splitlines() if line.startswith("millrace_rows_total") and "loaded" in line]

from allauth.mfa.models import Authenticator
from django.contrib.auth.models import User
from django.db import IntegrityError
admin = User.objects.get(username="admin")
codes = []
for kind in ("webauthn", "webauthn", "totp", "recovery_codes", "totp", "recovery_codes"):
    try:
        Authenticator.objects.create(user=admin, type=kind, data={})
        codes.append(kind)
    except IntegrityError:
        codes.append("refused")
answer = [answer, codes]
"""
# The values of the generated column of second factors are not in a backup.
BACKUP = """

from io import StringIO
from pathlib import Path
from django.core.management import call_command
from importer.management.backup import rows

path = Path({folder!r}) / "rows"
rows.write_rows(path)
rows.replace_rows(path)
answer.append(sorted(Authenticator.objects.values_list("type", flat=True)))
checked = StringIO()
call_command("check", databases=["default"], stdout=checked)
answer.append(checked.getvalue())
"""


@pytest.mark.one_of("server")
def test_it_migrates_imports_signs_in_and_takes_one_app_for_codes(
    database: Address, server: TestServer, tmp_path: Path
):
    # A URL without a password means none, although the client library would take that of the variable.
    others = {"MYSQL_PWD": "of another server"}
    url = own_database(database)
    installation = Installation(tmp_path, url, ADMIN_PASSWORD=PASSWORD, ALLOWED_HOSTS="testserver", **others)
    installation.manage("prepare")
    with server.fresh_database() as shop:
        with connect(shop) as connection:
            execute(connection, "CREATE TABLE t (n INT PRIMARY KEY, word VARCHAR(20), KEY (word))")
        file = tmp_path / "words.csv"
        file.write_text("n,word\n" + "".join(f"{n},word {n}\n" for n in range(2000)))
        with installation.shell() as shell:
            shell.manage("target", "add", "shop", own_database(shop), "--tls", "off")
            words = ("--target", "shop", "--table", "t", "--in-process", "--chunk-size", "8K")
            assert "2,000 = 2,000 + 0" in shell.manage("import_csv", str(file), *words)
            assert "shop" in shell.manage("history")
        with connect(shop) as connection:
            assert fetch_all(connection, "SELECT COUNT(*) FROM t") == [(2000,)]
    counted = 'millrace_rows_total{outcome="loaded",target="shop"} 2000.0'
    program = SIGN_IN % PASSWORD + BACKUP.format(folder=str(tmp_path))
    signed_in, codes, restored, checked = installation.python(program)
    assert signed_in == [302, 200, 200, counted]
    assert codes == ["webauthn", "webauthn", "totp", "recovery_codes", "refused", "refused"]
    assert restored == sorted(codes[:4])
    assert "no issues" in checked


def test_the_url_s_tls_keeps_it_from_a_server_that_cannot_be_verified(database: Address, tmp_path: Path):
    """MariaDB has no certificate here, and that of MySQL is of no known authority."""
    installation = Installation(tmp_path, f"{own_database(database)}?ssl_mode=VERIFY_IDENTITY")
    assert "TLS/SSL error" in installation.refused("user", "list")


def test_no_other_promise_rests_on_a_condition_that_these_servers_ignore():
    """config/settings.py silences Django's warning: addresses of mail play no part in signing in."""
    conditional = {
        (model._meta.label, constraint.name)
        for model in apps.get_models()
        for constraint in model._meta.constraints
        if isinstance(constraint, UniqueConstraint) and constraint.condition
    }
    assert conditional == {
        ("account.EmailAddress", "unique_verified_email"),
        ("account.EmailAddress", "unique_primary_email"),
        ("mfa.Authenticator", "unique_authenticator_type"),
    }

"""`millrace target`: adds, checks, lists and removes targets."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from importer.models import ImportJob, SourceFile, Target
from tests.documents import read

CANARY = "CANARY-7f3a"
pytestmark = pytest.mark.django_db


def run(*args):
    """Run the command; returns its standard output and standard error."""
    out, err = StringIO(), StringIO()
    call_command("target", *args, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def url_of(address):
    return f"mysql://{address.user}@{address.host}:{address.port}/{address.database}"


class TestAdd:
    def test_target_add_stores_the_target_and_names_the_next_step(self):
        out, err = run("add", "shop", "mysql://me@127.0.0.1:3307/shop", "--ceiling", "4", "--label", "eu-west")
        target = Target.objects.get()
        assert (target.host, target.port, target.user, target.database) == ("127.0.0.1", 3307, "me", "shop")
        assert (target.tls, target.ceiling, target.label) == ("off", 4, "eu-west")
        assert "target check shop" in out
        assert err == ""

    def test_target_add_takes_the_password_from_the_environment(self, monkeypatch):
        monkeypatch.setenv("SHOP_PASSWORD", CANARY)
        out, err = run("add", "shop", "mysql://me@127.0.0.1/shop", "--password-env", "SHOP_PASSWORD")
        assert Target.objects.get().address.password == CANARY
        assert CANARY not in out + err

    def test_a_password_in_the_url_is_accepted_with_a_warning(self):
        out, err = run("add", "shop", f"mysql://me:{CANARY}@127.0.0.1/shop")
        assert Target.objects.get().address.password == CANARY
        assert "--password-env" in err
        assert CANARY not in out + err

    def test_a_missing_environment_variable_is_refused(self):
        with pytest.raises(CommandError, match="no environment variable NO_SUCH_VARIABLE"):
            run("add", "shop", "mysql://me@127.0.0.1/shop", "--password-env", "NO_SUCH_VARIABLE")
        assert not Target.objects.exists()

    def test_a_name_that_exists_is_replaced_only_with_replace(self):
        run("add", "shop", "mysql://me@127.0.0.1/shop")
        with pytest.raises(CommandError, match="--replace"):
            run("add", "shop", "mysql://me@127.0.0.1/other")
        run("add", "shop", "mysql://me@127.0.0.1/other", "--replace")
        assert Target.objects.get().database == "other"

    @pytest.mark.parametrize(
        "url", ["postgres://me@h/x", "mysql://me@169.254.169.254/x", "mysql://me@h/x?ssl=0", "mysql://me@h:0/x", "h"]
    )
    def test_a_wrong_url_is_refused_in_one_line(self, url):
        with pytest.raises(CommandError) as caught:
            run("add", "shop", url)
        assert "\n" not in str(caught.value)
        assert not Target.objects.exists()

    def test_an_unknown_tls_mode_is_refused(self):
        with pytest.raises(CommandError, match="invalid choice"):
            run("add", "shop", "mysql://me@h/x", "--tls", "maybe")


class TestCheck:
    def test_check_of_a_working_target_shows_no_failure(self, database):
        run("add", "here", url_of(database))
        out, _ = run("check", "here")
        assert "ok    rollback: 3 rows were loaded by LOAD DATA LOCAL and rolled back" in out
        assert "FAIL" not in out

    def test_check_of_a_working_target_as_json(self, database):
        run("add", "here", url_of(database))
        report = read(run("check", "here", "--json")[0])
        assert (report["target"], report["ok"]) == ("here", True)
        assert {"name", "status", "message", "fix"} == set(report["findings"][0])

    def test_check_exits_with_1_and_shows_the_fix_if_anything_fails(self, database, capsys):
        run("add", "here", f"{url_of(database)}_2")
        with pytest.raises(SystemExit) as caught:
            call_command("target", "check", "here")
        assert caught.value.code == 1
        out = capsys.readouterr().out
        assert "FAIL  sign_in" in out
        assert "CREATE DATABASE IF NOT EXISTS" in out

    def test_check_of_a_failing_target_as_json(self, database, capsys):
        run("add", "here", f"{url_of(database)}_2")
        with pytest.raises(SystemExit):
            call_command("target", "check", "here", "--json")
        assert read(capsys.readouterr().out)["ok"] is False

    def test_check_refuses_a_password_that_no_key_decrypts(self, settings):
        run("add", "here", f"mysql://me:{CANARY}@127.0.0.1/shop")
        settings.ENCRYPTION_KEYS = ["MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="]
        with pytest.raises(CommandError, match="enter the password again"):
            run("check", "here")

    def test_check_of_an_unknown_target_lists_the_known_ones(self):
        run("add", "shop", "mysql://me@127.0.0.1/shop")
        with pytest.raises(CommandError, match=r"no target named shp\. Known: shop\."):
            run("check", "shp")

    def test_check_of_a_url_says_how_to_save_it_and_shows_no_password(self):
        with pytest.raises(CommandError, match="millrace target add NAME URL") as caught:
            run("check", "mysql://me:hidden@127.0.0.1/shop")
        assert "hidden" not in str(caught.value)


class TestList:
    def test_list_shows_address_and_state_of_each_target(self, database):
        run("add", "here", url_of(database))
        run("add", "shop", "mysql://me@127.0.0.1:3306/shop")
        run("check", "here")
        here, shop = run("list")[0].splitlines()
        assert here.startswith(f"here: root@127.0.0.1:{database.port}/{database.database}, TLS off, ok (")
        assert shop == "shop: me@127.0.0.1:3306/shop, TLS off, not checked yet"

    def test_list_as_json_has_no_password(self):
        run("add", "shop", f"mysql://me:{CANARY}@127.0.0.1/shop")
        out, _ = run("list", "--json")
        (shop,) = read(out)["targets"]
        assert (shop["name"], shop["database"], shop["ok"]) == ("shop", "shop", None)
        assert not {"password", "password_ciphertext"} & set(shop)
        assert CANARY not in out


class TestRemove:
    def test_remove_deletes_the_target(self):
        run("add", "shop", "mysql://me@127.0.0.1/shop")
        run("remove", "shop")
        assert not Target.objects.exists()

    def test_a_target_with_imports_is_not_removed(self):
        run("add", "shop", "mysql://me@127.0.0.1/shop")
        source = SourceFile.objects.create(name="a.csv", path="/nowhere/a.csv", size=1)
        ImportJob.objects.create(
            target=Target.objects.get(), source=source, dialect_json={}, mapping_json=[], plan_json={}
        )
        with pytest.raises(CommandError, match="shop stays: 1 import went into it"):
            run("remove", "shop")
        assert Target.objects.exists()

import pytest
from cryptography.fernet import Fernet
from django.core.management import CommandError, call_command

from importer.engine.errors import Problem
from importer.models import Target
from importer.security import encryption
from importer.targets import TargetUrl, add_or_replace

OLD, NEW = (Fernet.generate_key().decode() for _ in range(2))


@pytest.fixture(autouse=True)
def old_key(settings):
    settings.ENCRYPTION_KEYS = [OLD]


class TestSecrets:
    @pytest.mark.parametrize("text", ["secret", "two\nlines", "", "pass:wörd%@/", "x" * 1000])
    def test_a_secret_is_decrypted_unchanged(self, text):
        assert encryption.decrypt(encryption.encrypt(text, bound_to="a"), bound_to="a") == text

    def test_the_text_is_not_in_the_ciphertext_and_no_two_are_alike(self):
        first, second = (encryption.encrypt("secret", bound_to="a") for _ in range(2))
        assert "secret" not in first
        assert first != second

    def test_a_ciphertext_moved_to_another_row_is_refused(self):
        with pytest.raises(Problem, match="cannot be read"):
            encryption.decrypt(encryption.encrypt("secret", bound_to="a"), bound_to="b")

    def test_another_key_does_not_decrypt_a_secret(self, settings):
        ciphertext = encryption.encrypt("secret", bound_to="a")
        settings.ENCRYPTION_KEYS = [NEW]
        with pytest.raises(Problem, match="ENCRYPTION_KEYS"):
            encryption.decrypt(ciphertext, bound_to="a")

    def test_the_old_key_after_the_new_one_decrypts_a_secret(self, settings):
        ciphertext = encryption.encrypt("secret", bound_to="a")
        settings.ENCRYPTION_KEYS = [NEW, OLD]
        assert encryption.decrypt(ciphertext, bound_to="a") == "secret"


@pytest.mark.django_db
class TestRotateKeys:
    def add(self, name, password):
        return add_or_replace(name, TargetUrl("127.0.0.1", 3306, "me", "shop"), password=password)

    def test_afterwards_the_new_key_alone_is_enough(self, settings, capsys):
        self.add("shop", "secret")
        self.add("open", None)
        settings.ENCRYPTION_KEYS = [NEW, OLD]
        call_command("rotate_keys")
        settings.ENCRYPTION_KEYS = [NEW]
        assert Target.objects.get(name="shop").address.password == "secret"
        assert Target.objects.get(name="open").address.password == ""
        output = capsys.readouterr().out
        assert "newest key: 1." in output
        assert "secret" not in output

    def test_one_that_no_key_fits_is_named_and_the_others_are_done(self, settings):
        lost = self.add("lost", "gone")
        settings.ENCRYPTION_KEYS = [NEW]
        self.add("shop", "secret")
        newest = Fernet.generate_key().decode()
        settings.ENCRYPTION_KEYS = [newest, NEW]
        with pytest.raises(CommandError, match="No key fits the password of lost"):
            call_command("rotate_keys")
        settings.ENCRYPTION_KEYS = [newest]
        assert Target.objects.get(name="shop").address.password == "secret"
        assert Target.objects.get(name="lost").password_ciphertext == lost.password_ciphertext

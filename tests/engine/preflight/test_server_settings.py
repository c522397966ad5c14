"""Findings about settings that the shared test servers do not have."""

import datetime
import ipaddress
from dataclasses import replace

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from importer.engine.mysql.connection import Address, connect, connect_loader, execute
from importer.engine.mysql.server_info import Server
from importer.engine.mysql.servers.kinds import SAFE_PATH
from importer.engine.mysql.sign_in.encryption import NotEncrypted
from importer.engine.plan.methods import METHODS
from importer.engine.preflight import server_settings, transactions
from importer.engine.preflight.check import _where_changed, check
from importer.engine.preflight.finding import Subject
from tests.engine.loads import run_sql
from tests.targets import PreparedMariaDB

FAR = Address("db.example.org", 3306, "loader", "", "shop", tls="verify")
NO_LIMIT = "18446744073709547520"


def judge(step, flavour="MySQL", version="8.4.2", local=False, **variables):
    return step(Subject(None, FAR, Server(flavour, version, variables, local=local, cores=2)))


class TestVersion:
    @pytest.mark.parametrize(
        ("flavour", "version", "status"),
        [
            ("MySQL", "8.0.11", "ok"),
            ("MySQL", "9.7.4", "ok"),
            ("MySQL", "5.7.44-log", "fail"),
            ("MariaDB", "10.5.0-MariaDB", "ok"),
            ("MariaDB", "11.8.2-MariaDB", "ok"),
            ("MariaDB", "10.4.34-MariaDB", "fail"),
            ("Percona Server", "8.0.36-28", "ok"),
            ("Aurora MySQL", "8.0.39", "ok"),
            ("TiDB", "8.0.11-TiDB-v8.5.0", "warn"),
            ("Vitess", "8.0.30-Vitess", "warn"),
            ("MySQL", "26.7.0", "ok"),
            ("MariaDB", "12.3.2-MariaDB", "ok"),
            ("Unknown server", "1.0", "warn"),
        ],
    )
    def test_version_is_supported_or_not(self, flavour, version, status):
        finding = judge(server_settings.version, flavour, version)
        assert finding.status == status
        assert flavour in finding.message
        assert version in finding.message

    def test_a_proxy_that_refuses_local_is_named_with_the_method_instead(self):
        server = Server("MySQL", "8.4.2", {"local_infile": "ON"}, local=False, cores=2, also=("ProxySQL",))
        finding = server_settings.version(Subject(None, FAR, server))
        assert finding.status == "warn"
        assert finding.message.startswith("MySQL 8.4.2, behind ProxySQL. LOAD DATA LOCAL is refused")
        assert finding.message.endswith(
            "Imports take Prepared INSERT of many rows instead: " + METHODS["insert_prepared"].cost + "."
        )
        assert finding.fix == "Use the address of the server behind it, which is faster."

    def test_a_kind_that_nobody_has_tried_is_warned_of_with_the_safe_path(self):
        finding = judge(server_settings.version, "TiDB", "8.0.11-TiDB-v8.5.1")
        assert SAFE_PATH in finding.message
        assert "txn-total-size-limit" in finding.message

    def test_the_fix_names_the_place_where_a_host_has_its_settings(self):
        host = Server("MySQL", "8.4.2", {}, local=False, cores=2, also=("Amazon RDS",))
        finding = _where_changed(server_settings.local_infile(Subject(None, FAR, host)), host)
        assert finding.fix.endswith("On this host: in the DB parameter group.")


class TestAutoIncrement:
    @pytest.mark.parametrize(("mode", "status"), [("0", "warn"), ("1", "warn"), ("2", "ok")])
    def test_only_auto_increment_mode_2_loads_in_parallel(self, mode, status):
        assert judge(server_settings.auto_increment, innodb_autoinc_lock_mode=mode).status == status

    def test_mode_2_with_statement_logging_is_advised_with_a_caution(self):
        finding = judge(server_settings.auto_increment, innodb_autoinc_lock_mode="1", binlog_format="STATEMENT")
        assert "binlog_format = ROW first" in finding.fix


class TestBinaryLog:
    def test_binary_log_without_a_limit_is_fine(self):
        finding = judge(server_settings.binary_log, log_bin="ON", binlog_format="ROW", max_binlog_cache_size=NO_LIMIT)
        assert finding.status == "ok"
        assert "no limit" in finding.message

    def test_small_binary_log_cache_names_a_chunk_size_that_fits(self):
        finding = judge(
            server_settings.binary_log, log_bin="ON", binlog_format="ROW", max_binlog_cache_size=str(16 * 2**20)
        )
        assert finding.status == "warn"
        assert "16 MiB" in finding.message
        assert "at most 4 MiB" in finding.fix

    def test_binary_log_off_is_fine(self):
        assert judge(server_settings.binary_log, log_bin="OFF", max_binlog_cache_size="4096").status == "ok"


class TestSizes:
    def test_large_buffer_pool_and_redo_log_are_fine(self):
        sizes = {"innodb_buffer_pool_size": str(4 * 2**30), "innodb_redo_log_capacity": str(2 * 2**30)}
        assert judge(server_settings.buffer_pool, **sizes).message == "innodb_buffer_pool_size is 4 GiB."
        assert judge(server_settings.redo_log, **sizes).message == "The redo log has 2 GiB."

    def test_advised_buffer_pool_of_a_local_server_fits_this_machine(self):
        finding = judge(server_settings.buffer_pool, local=True, innodb_buffer_pool_size="134217728")
        assert finding.status == "warn"
        assert "this machine's memory" in finding.fix

    @pytest.mark.parametrize(
        ("flavour", "variables", "fix"),
        [
            ("MySQL", {"innodb_redo_log_capacity": "104857600"}, "SET PERSIST innodb_redo_log_capacity = 2147483648;"),
            ("MariaDB", {"innodb_log_file_size": "100663296"}, "innodb_log_file_size = 2G; then restart it."),
        ],
    )
    def test_small_redo_log_gets_the_fix_of_its_flavour(self, flavour, variables, fix):
        finding = judge(server_settings.redo_log, flavour, **variables)
        assert finding.status == "warn"
        assert finding.fix.endswith(fix)

    def test_unknown_sizes_are_fine(self):
        assert {judge(step).status for step in (server_settings.buffer_pool, server_settings.redo_log)} == {"ok"}


class TestSqlMode:
    @pytest.mark.parametrize(("mode", "words"), [("STRICT_TRANS_TABLES", "is strict."), ("", "is not strict:")])
    def test_sql_mode_is_reported_and_never_a_failure(self, mode, words):
        finding = judge(server_settings.sql_mode, sql_mode=mode)
        assert finding.status == "ok"
        assert words in finding.message


class TestCluster:
    def test_cluster_that_splits_a_load_is_a_failure(self):
        finding = judge(transactions.cluster, "MariaDB", wsrep_on="ON", wsrep_load_data_splitting="ON")
        assert finding.status == "fail"
        assert "wsrep_load_data_splitting = OFF" in finding.fix

    def test_cluster_that_does_not_split_a_load_is_a_warning(self):
        assert judge(transactions.cluster, "MariaDB", wsrep_on="ON", wsrep_load_data_splitting="OFF").status == "warn"

    def test_splitting_is_ignored_without_a_cluster(self):
        assert judge(transactions.cluster, "MariaDB", wsrep_on="OFF", wsrep_load_data_splitting="ON").status == "ok"


class TestWritable:
    def test_replica_names_the_variables_that_make_it_read_only(self):
        finding = judge(transactions.writable, read_only="ON", super_read_only="ON")
        assert finding.status == "fail"
        assert finding.fix.endswith("SET GLOBAL super_read_only = OFF; SET GLOBAL read_only = OFF;")


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """A self-signed certificate for 127.0.0.1: (certificate file, key file)."""
    folder = tmp_path_factory.mktemp("tls")
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.datetime.now(datetime.UTC)
    signed = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    (folder / "cert.pem").write_bytes(signed.public_bytes(serialization.Encoding.PEM))
    (folder / "key.pem").write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return folder / "cert.pem", folder / "key.pem"


@pytest.fixture(scope="module")
def unusual(certificate, tmp_path_factory):
    """A MariaDB with TLS and a statement-based binary log; the address has TLS off."""
    options = (f"--ssl-cert={certificate[0]}", f"--ssl-key={certificate[1]}", "--log-bin", "--binlog-format=STATEMENT")
    server = PreparedMariaDB(tmp_path_factory.mktemp("unusual"), options=options)
    server.start()
    address = Address("127.0.0.1", server.port, "root", "", "shop")
    run_sql(replace(address, database="mysql"), "CREATE DATABASE shop")
    yield address
    server.stop()


class TestUnusualServer:
    def test_statement_based_logging_fails_by_its_setting_and_by_the_load_probe(self, unusual):
        findings = {finding.name: finding for finding in check(unusual)}
        assert findings["binary_log"].status == "fail"
        assert findings["rollback"].status == "fail"
        with connect(unusual) as connection:
            execute(connection, findings["binary_log"].fix.split(";")[0])
            fixed = {finding.name: finding.status for finding in check(unusual)}
            execute(connection, "SET GLOBAL binlog_format = STATEMENT")
        assert fixed["binary_log"] == fixed["rollback"] == "ok"


class TestTls:
    def tls(self, address):
        return next(finding for finding in check(address) if finding.name == "tls")

    def test_tls_off_is_fine_on_this_machine(self, unusual):
        assert self.tls(unusual).message.startswith("Off, which is fine")

    def test_tls_encrypt_names_the_cipher_and_the_missing_check(self, unusual):
        finding = self.tls(replace(unusual, tls="encrypt"))
        assert finding.status == "ok"
        assert "TLSv1." in finding.message
        assert "the certificate is not checked" in finding.message

    def test_tls_verify_accepts_the_file_of_the_authority(self, unusual, certificate):
        finding = self.tls(replace(unusual, tls="verify", tls_ca=str(certificate[0])))
        assert finding.status == "ok"
        assert "certificate and host name are checked" in finding.message

    def test_tls_verify_refuses_an_untrusted_certificate(self, unusual):
        (finding,) = check(replace(unusual, tls="verify"))
        assert (finding.name, finding.status, finding.tls_to_offer) == ("tls", "fail", "encrypt")
        assert "cannot be verified: self-signed certificate" in finding.message
        assert "--tls-ca" in finding.fix

    @pytest.mark.parametrize("open_connection", [connect, connect_loader])
    def test_tls_encrypt_never_connects_unencrypted(self, servers, open_connection):
        """The client library alone would connect (server-behaviour.md): the shared MariaDB has no certificate."""
        address = replace(servers["mariadb"].address, tls="encrypt")
        with pytest.raises(NotEncrypted), open_connection(address):
            pass
        (finding,) = check(address)
        assert (finding.name, finding.status, finding.tls_to_offer) == ("tls", "fail", "off")
        assert "ssl_cert" in finding.fix

    def test_tls_verify_refuses_a_server_without_a_certificate(self, servers):
        (finding,) = check(replace(servers["mariadb"].address, tls="verify"))
        assert (finding.name, finding.status, finding.tls_to_offer) == ("tls", "fail", "off")

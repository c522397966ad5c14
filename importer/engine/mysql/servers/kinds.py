"""Each known kind of server, and of what may stand before it, declared once with the rules that follow for imports.

docs/servers.md lists them (tests/engine/mysql/servers/test_page.py). To add one, add a Kind here and a row there.
"""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Rule:
    """What follows from a kind of server for imports, in a sentence, and where its vendor says so."""

    what: str
    source: str


@dataclass(frozen=True)
class Kind:
    """A kind of server, or of what may stand before a server or spans several.

    `role`: "server", "cluster", "proxy" or "host" (who runs the server). `words`: one of them in the version or its
    comment, in lower case, tells this kind. `oldest`: the first release that is supported. `careful`: nobody has tried
    imports into it, so they take the safe path (`SAFE_PATH`). `takes_local`: whether it accepts LOAD DATA LOCAL.
    `advice`: what makes imports faster or safer, "" for nothing. `settings_in`: where its settings are changed, "" for
    SET GLOBAL and my.cnf.
    """

    name: str
    role: str = "server"
    words: tuple[str, ...] = ()
    oldest: tuple[int, ...] = (8, 0)
    careful: bool = False
    takes_local: bool = True
    advice: str = ""
    settings_in: str = ""
    rules: tuple[Rule, ...] = ()

    @property
    def preposition(self) -> str:
        """The word between a server and this kind: behind ProxySQL, in Galera Cluster, on Amazon RDS."""
        return {"cluster": "in", "proxy": "behind", "host": "on"}[self.role]


# What imports do on a server that nobody has tried them on. Each part is safe on any server whose transactions hold.
SAFE_PATH = (
    "rows go in by INSERT, with one transaction for each chunk of at most 1 MiB; only mode append, with duplicates as"
    " errors; no key is dropped and no variable of the server is changed. Before the plan, two sessions prove that a"
    " rollback leaves nothing and that a chunk cannot go in twice"
)
SAFEST_CHUNK = 1024 * 1024  # bytes

OWN_SERVER = "docs/server-behaviour.md"

MYSQL = Kind(
    "MySQL",
    words=("mysql",),
    rules=(
        Rule("LOAD DATA LOCAL is off until local_infile is set.", "MySQL Reference Manual, LOAD DATA LOCAL security"),
        Rule("MySQL 5.7 and older are refused: end of life in October 2023.", "MySQL 5.7 Release Notes"),
        Rule("Releases by calendar, such as 26.7, follow 9.7 and count as newer.", "MySQL Release Notes"),
    ),
)
MARIADB = Kind(
    "MariaDB",
    words=("mariadb",),
    oldest=(10, 5),
    rules=(
        Rule("LOAD DATA LOCAL is on by default.", "MariaDB Documentation, local_infile"),
        Rule("unique_checks and foreign_key_checks are never both off: rows would be lost.", OWN_SERVER),
        Rule(
            "Before 11.8.9 (of 10.11: 10.11.19) LOAD DATA leaves a stored generated column as it was before a BEFORE"
            " INSERT trigger changed its base column, unless the statement has a SET. It gets one then, and the plan"
            " warns.",
            "MDEV-40480",
        ),
    ),
)
PERCONA = Kind(
    "Percona Server",
    words=("percona",),
    rules=(
        Rule("As MySQL of the same release, whose code it has.", "Percona Server Documentation, Feature comparison"),
    ),
)
AURORA = Kind(
    "Aurora MySQL",
    settings_in="the DB cluster parameter group",
    rules=(
        Rule("As MySQL of the same release.", "Aurora User Guide, Aurora MySQL"),
        Rule("Connect to the cluster endpoint: a reader endpoint is read-only.", "Aurora User Guide, Endpoints"),
    ),
)
TIDB = Kind(
    "TiDB",
    words=("tidb",),
    oldest=(5, 7),
    careful=True,
    takes_local=False,
    rules=(
        Rule(
            "Before 7.6 ROLLBACK does not undo LOAD DATA, and its character set is ignored in all releases, so rows go"
            " in by INSERT.",
            "TiDB Documentation, LOAD DATA, MySQL compatibility",
        ),
        Rule(
            "A transaction has at most 100 MB by default (txn-total-size-limit), and a row 6 MB.",
            "TiDB Documentation, TiDB configuration file, txn-total-size-limit",
        ),
        Rule(
            "LOCK IN SHARE MODE is refused unless tidb_enable_noop_functions is on, so no mode stages.",
            "TiDB Documentation, System variables, tidb_enable_noop_functions",
        ),
        Rule(
            "In the optimistic mode a second session does not wait for the ledger's key. The check finds that.",
            "TiDB Documentation, Constraints, Optimistic transactions",
        ),
    ),
    advice="If the check says that a second session does not wait: SET GLOBAL tidb_txn_mode = 'pessimistic';",
)
VITESS = Kind(
    "Vitess",
    words=("vitess", "planetscale"),
    oldest=(5, 7),
    careful=True,
    takes_local=False,
    rules=(
        Rule("vtgate does not take LOAD DATA LOCAL INFILE.", "vitessio/vitess, issues 2976 and 7427"),
        Rule(
            "A transaction over several shards is not atomic by default: use an unsharded keyspace, in which rows and"
            " ledger are on one server.",
            "Vitess Documentation, Distributed transaction",
        ),
        Rule(
            "vttablet ends a transaction after 30 s by default.",
            "Vitess Documentation, vttablet, queryserver-config-transaction-timeout",
        ),
    ),
    advice="Use the address of the MySQL server behind it, which is faster.",
)
OCEANBASE = Kind(
    "OceanBase",
    words=("oceanbase", "seekdb"),
    oldest=(5, 7),
    careful=True,
    takes_local=False,
    rules=(
        Rule(
            "LOAD DATA has ways of its own (parallel, direct load); none has been tried. Rows go in by INSERT.",
            "OceanBase Documentation, LOAD DATA",
        ),
    ),
)
SINGLESTORE = Kind(
    "SingleStore",
    words=("singlestore", "memsql"),
    oldest=(5, 7),
    careful=True,
    takes_local=False,
    rules=(
        Rule(
            "A unique key must contain the shard key, and columnstore tables check it by hash; its LOAD DATA is not"
            " MySQL's.",
            "SingleStore Documentation, LOAD DATA and Unique keys",
        ),
    ),
)
DOLT = Kind(
    "Dolt",
    words=("dolt",),
    oldest=(5, 7),
    careful=True,
    takes_local=False,
    rules=(
        Rule(
            "Of two sessions that write the same row, one is rolled back at COMMIT; none waits before. The check"
            " refuses that.",
            "Dolt Documentation, Transactions",
        ),
    ),
)
ANALYTIC = Kind(
    "Analytic server",
    words=("starrocks", "doris", "clickhouse", "matrixone", "databend"),
    oldest=(0,),
    careful=True,
    takes_local=False,
    rules=(
        Rule(
            "It speaks MySQL's protocol, without transactions over several statements. The check refuses that.",
            "StarRocks, Apache Doris, ClickHouse, MatrixOne, Databend: their documentation of transactions",
        ),
    ),
)
UNKNOWN = Kind(
    "Unknown server",
    oldest=(0,),
    careful=True,
    takes_local=False,
    rules=(Rule("Neither its version nor its variables are those of a known kind.", "this page, The safe path"),),
)

GALERA = Kind(
    "Galera Cluster",
    role="cluster",
    rules=(
        Rule(
            "Each chunk is certified on all nodes at COMMIT. A conflict is error 1213: nothing of the chunk is kept,"
            " and it is tried again.",
            "Galera Cluster Documentation, Certification-based replication",
        ),
        Rule(
            "wsrep_load_data_splitting must be off: it commits every 10,000 rows.",
            "MariaDB Documentation, Galera Cluster system variables",
        ),
        Rule(
            "A transaction has at most wsrep_max_ws_size bytes (2 GiB) and wsrep_max_ws_rows rows. Chunks are"
            " planned to fit.",
            "MariaDB Documentation, Galera Cluster system variables",
        ),
        Rule(
            "LOCK TABLES and GET_LOCK() hold on one node only: lock_table and global variables are refused.",
            "MariaDB Documentation, MariaDB Galera Cluster, Known limitations",
        ),
        Rule("Only InnoDB tables reach the other nodes.", "MariaDB Galera Cluster, Known limitations"),
        Rule(
            "A node applies the commits of others a little later. The verification waits for them (wsrep_sync_wait).",
            "MariaDB Documentation, Galera Cluster system variables",
        ),
        Rule(
            "A node that has left the cluster answers every statement with error 1047. The chunk waits and is tried"
            " again.",
            "Galera Cluster Documentation, wsrep_ready",
        ),
    ),
    advice="Load through one node only, with chunks far below wsrep_max_ws_size.",
)
PROXYSQL = Kind(
    "ProxySQL",
    role="proxy",
    words=("proxysql",),
    takes_local=False,
    rules=(
        Rule(
            "LOAD DATA LOCAL is refused (error 1047); with mysql-enable_load_data_local_infile it would read a file of"
            " the proxy's own machine.",
            "ProxySQL Documentation, MySQL variables, mysql-enable_load_data_local_infile",
        ),
        Rule("A transaction stays on one server.", "ProxySQL Documentation, Multiplexing"),
        Rule(
            "SELECT outside a transaction may go to a replica that lags. All tables of an import must be read from the"
            " primary.",
            "ProxySQL Documentation, Query rules",
        ),
    ),
    advice="Use the address of the server behind it, which is faster.",
)
MAXSCALE = Kind(
    "MaxScale",
    role="proxy",
    words=("maxscale",),
    rules=(
        Rule(
            "readwritesplit may read from a replica that lags. Set causal_reads, or use the address of the primary.",
            "MariaDB Documentation, MaxScale Readwritesplit",
        ),
    ),
    advice="Use the address of the primary itself.",
)
ROUTER = Kind(
    "MySQL Router",
    role="proxy",
    words=("-router",),
    rules=(Rule("Use its read-write port: the other one leads to replicas.", "MySQL Router Documentation, Routing"),),
)
OTHER_PROXY = Kind(
    "Proxy",
    role="proxy",
    rules=(
        Rule(
            "Version or connection id at sign-in are not those of the server behind. KILL may reach another connection,"
            " and reads may go to a replica.",
            "MySQL Reference Manual, CONNECTION_ID() and KILL",
        ),
    ),
    advice="Use the address of the server behind it.",
)
RDS = Kind(
    "Amazon RDS",
    role="host",
    settings_in="the DB parameter group",
    rules=(
        Rule("No account has SUPER or FILE: the server reads no files itself.", "Amazon RDS User Guide, MySQL"),
        Rule("Variables are changed in the DB parameter group.", "Amazon RDS User Guide, Parameter groups"),
    ),
)
CLOUD_SQL = Kind(
    "Google Cloud SQL",
    role="host",
    words=("-google", "(google)"),
    settings_in="the flags of the instance",
    rules=(Rule("Variables are changed as flags of the instance.", "Cloud SQL Documentation, Database flags"),),
)
AZURE = Kind(
    "Azure Database",
    role="host",
    words=("-azure",),
    settings_in="the server parameters in the portal",
    rules=(Rule("Variables are changed as server parameters.", "Azure Database for MySQL, Server parameters"),),
)

# In the order to look for their words: comments of compatible servers also name MySQL, Percona's and Vitess's are
# MySQL's own otherwise.
SERVERS = (
    MARIADB, TIDB, VITESS, OCEANBASE, SINGLESTORE, DOLT, ANALYTIC, PERCONA, AURORA, MYSQL, UNKNOWN,
)  # fmt: skip
IN_BETWEEN = (GALERA, PROXYSQL, MAXSCALE, ROUTER, OTHER_PROXY, RDS, CLOUD_SQL, AZURE)
KINDS = {each.name: each for each in (*SERVERS, *IN_BETWEEN)}


def named(names: Iterable[str]) -> tuple[Kind, ...]:
    """The kinds with these names; an unknown server for one that this release does not know."""
    return tuple(KINDS.get(each, UNKNOWN) for each in names)

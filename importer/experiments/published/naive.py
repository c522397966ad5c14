"""(c) From naive to parallel: single rows, a commit each, 100 rows, LOAD DATA, MyISAM, MyISAM converted, sessions."""

from importer.engine.plan.options import Options
from importer.experiments.experiment import Claim, Experiment, ImportAction, RawAction, Way, WayTable
from importer.experiments.raw import inserts
from importer.experiments.workloads import NODES
from importer.experiments.workloads.table import MYISAM

ROWS = NODES.full_rows
(_TABLE,) = NODES.tables
_ONE = (WayTable(_TABLE),)
TUNED = "the article's server had a larger log and buffer pool for it, and no doublewrite"


def _sessions(count: int, seconds: float) -> Way:
    do = ImportAction(Options(method="load_data_local", parallelism=count))
    return Way(f"LOAD DATA, {count} sessions", do, _ONE, 350_000, ROWS / seconds, TUNED)


NAIVE = Experiment(
    name="naive",
    article="Testing the Fastest Way to Import a Table into MySQL",
    asks="what each step from single INSERTs to parallel LOAD DATA is worth, and whether MyISAM is a shortcut",
    conditions="MySQL 5.7 (of 5.1 to 5.7), four cores with hyper-threading, magnetic disk",
    workload=NODES,
    small_rows=300_000,
    baseline="single INSERTs",
    ways=(
        Way("single INSERTs", ImportAction(Options(method="insert", rows_per_statement=1, parallelism=1)), _ONE, 7_000,
            ROWS / 6940, most_rows=50_000),
        Way("single INSERTs, commit each", RawAction(inserts.insert(1, 1)), _ONE, 700, 111_533 / 8340, most_rows=2_000),
        Way("100 rows an INSERT", ImportAction(Options(method="insert", rows_per_statement=100, parallelism=1)), _ONE,
            70_000, ROWS / 6940 * 3),
        Way("LOAD DATA", ImportAction(Options(method="load_data_local", parallelism=1)), _ONE, 250_000, ROWS / 1008),
        Way("LOAD DATA into MyISAM", ImportAction(Options(method="load_data_local", mode="replace")),
            (WayTable(_TABLE, form=MYISAM),), 250_000, ROWS / 160),
        Way("LOAD DATA as MyISAM, then to InnoDB",
            ImportAction(Options(method="load_data_local", mode="replace", load_as="myisam")), _ONE, 150_000,
            ROWS / 1600),
        _sessions(4, 246),
        _sessions(8, 244),
    ),
    claims=(
        Claim("LOAD DATA takes a seventh of the time of single INSERTs", "LOAD DATA", "single INSERTs", 6940 / 1008),
        Claim("MyISAM, then converted, is never faster", "LOAD DATA as MyISAM, then to InnoDB", "LOAD DATA", most=1.0),
        Claim("eight sessions against one, on its tuned server", "LOAD DATA, 8 sessions", "LOAD DATA", 468 / 290),
        Claim("four sessions do what eight do", "LOAD DATA, 4 sessions", "LOAD DATA, 8 sessions", 244 / 246),
    ),
    notes=(
        "In the article 100 rows an INSERT were 171 to 229 % faster than single rows; three times is used here.",
        "MyISAM is loaded by mode replace. The time includes the swap of the staging table at the end.",
    ),
)  # fmt: skip

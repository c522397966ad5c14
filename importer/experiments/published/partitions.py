"""(d) One hash partition and eight, loaded by one to eight sessions."""

from importer.engine.plan.options import Options
from importer.experiments.experiment import Claim, Experiment, ImportAction, Way, WayTable
from importer.experiments.workloads import partitioned

PARTITIONS, SESSIONS = (1, 8), (1, 2, 4, 8)
_WORKLOADS = {count: partitioned(count) for count in PARTITIONS}


def _name(partitions: int, sessions: int) -> str:
    return f"{partitions} partition{'s' * (partitions > 1)}, {sessions} session{'s' * (sessions > 1)}"


def _way(partitions: int, sessions: int) -> Way:
    options = Options(method="load_data_local", parallelism=sessions, indexes="keep")
    return Way(
        _name(partitions, sessions), ImportAction(options), (WayTable(_WORKLOADS[partitions].tables[0]),), 130_000
    )


PARTITIONED = Experiment(
    name="partitions",
    article="High Rate insertion with MySQL and Innodb",
    asks="whether hash partitions let more sessions load in parallel",
    conditions="MySQL 5.5.8, eight-core Opteron, data in memory: 275,000 rows/s at best, from 8 sessions",
    workload=_WORKLOADS[1],
    small_rows=300_000,
    baseline=_name(1, 1),
    ways=tuple(_way(partitions, sessions) for partitions in PARTITIONS for sessions in SESSIONS),
    claims=(
        Claim("8 partitions more than double the rate of 8 sessions", _name(8, 8), _name(1, 8), least=2.0),
        Claim("with partitions, 8 sessions are ahead of one", _name(8, 8), _name(8, 1), least=1.0),
    ),
    notes=(
        "The article gives one rate only, of 8 sessions; the other ratios are this server's.",
        "MySQL 5.5 had one lock for each index; later versions do not (manual, InnoDB index locking).",
    ),
)

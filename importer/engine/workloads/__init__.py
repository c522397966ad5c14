"""What is loaded: files made from a seed, and the tables they go into."""

from importer.engine.workloads.events import events
from importer.engine.workloads.indexed import INDEXED
from importer.engine.workloads.mixed import MIXED
from importer.engine.workloads.nodes import NODES
from importer.engine.workloads.partitioned import partitioned
from importer.engine.workloads.table import Workload

__all__ = ["INDEXED", "MIXED", "NODES", "USUAL", "WORKLOADS", "Workload", "partitioned"]

WORKLOADS: dict[str, Workload] = {
    each.name: each
    for each in (NODES, MIXED, INDEXED, partitioned(1), partitioned(8), events(linked=False), events(linked=True))
}
# What is loaded unless somebody chooses: the five workloads of the measurements that are repeated here.
USUAL = ("nodes", "mixed", "indexed", "partitioned-1", "partitioned-8", "events")

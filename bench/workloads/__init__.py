"""What is loaded: files made from a seed, and the tables they go into."""

from bench.workloads.events import events
from bench.workloads.indexed import INDEXED
from bench.workloads.mixed import MIXED
from bench.workloads.nodes import NODES
from bench.workloads.partitioned import partitioned
from bench.workloads.table import Workload

__all__ = ["NODES", "USUAL", "WORKLOADS", "Workload"]

WORKLOADS: dict[str, Workload] = {
    each.name: each
    for each in (NODES, MIXED, INDEXED, partitioned(1), partitioned(8), events(linked=False), events(linked=True))
}
# What is loaded unless somebody chooses: the five workloads of the measurements that are repeated here.
USUAL = ("nodes", "mixed", "indexed", "partitioned-1", "partitioned-8", "events")

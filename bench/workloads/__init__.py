"""Workloads: files generated from a seed, and the tables they are loaded into."""

from bench.workloads.events import events
from bench.workloads.indexed import INDEXED
from bench.workloads.mixed import MIXED
from bench.workloads.osm_nodes import NODES
from bench.workloads.partitioned import partitioned
from bench.workloads.table import Workload

__all__ = ["INDEXED", "MIXED", "NODES", "USUAL", "WORKLOADS", "Workload", "partitioned"]

WORKLOADS: dict[str, Workload] = {
    each.name: each
    for each in (NODES, MIXED, INDEXED, partitioned(1), partitioned(8), events(linked=False), events(linked=True))
}
# The default of the benchmark: the workloads of the five published measurements.
USUAL = ("nodes", "mixed", "indexed", "partitioned-1", "partitioned-8", "events")

"""The registry of experiments by name."""

from bench.experiments.experiment import Experiment
from bench.experiments.published.bulks import BULKS
from bench.experiments.published.methods import METHODS
from bench.experiments.published.naive import NAIVE
from bench.experiments.published.partitions import PARTITIONED
from bench.experiments.published.records import RECORDS
from importer.engine.errors import Problem

EXPERIMENTS: dict[str, Experiment] = {each.name: each for each in (METHODS, BULKS, NAIVE, PARTITIONED, RECORDS)}


def experiment_named(name: str) -> Experiment:
    """Return the experiment of that name. Raises Problem with the known names if there is none."""
    if name in EXPERIMENTS:
        return EXPERIMENTS[name]
    raise Problem(f"There is no experiment {name}.", advice=f"Known: {', '.join(EXPERIMENTS)}.")

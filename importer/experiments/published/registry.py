"""The registry of experiments by name."""

from importer.engine.errors import Problem
from importer.experiments.experiment import Experiment
from importer.experiments.published.bulks import BULKS
from importer.experiments.published.methods import METHODS
from importer.experiments.published.naive import NAIVE
from importer.experiments.published.partitions import PARTITIONED
from importer.experiments.published.records import RECORDS

EXPERIMENTS: dict[str, Experiment] = {each.name: each for each in (METHODS, BULKS, NAIVE, PARTITIONED, RECORDS)}


def experiment_named(name: str) -> Experiment:
    """Return the experiment of that name. Raises Problem with the known names if there is none."""
    if name in EXPERIMENTS:
        return EXPERIMENTS[name]
    raise Problem(f"There is no experiment {name}.", advice=f"Known: {', '.join(EXPERIMENTS)}.")

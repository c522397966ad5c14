"""The experiments by their names."""

from importer.engine.errors import Problem
from importer.engine.experiments.bulks import BULKS
from importer.engine.experiments.experiment import Experiment
from importer.engine.experiments.methods import METHODS
from importer.engine.experiments.naive import NAIVE
from importer.engine.experiments.partitions import PARTITIONED
from importer.engine.experiments.records import RECORDS

EXPERIMENTS: dict[str, Experiment] = {each.name: each for each in (METHODS, BULKS, NAIVE, PARTITIONED, RECORDS)}


def experiment_named(name: str) -> Experiment:
    """Raises Problem, with the names there are, if there is none of that name."""
    if name in EXPERIMENTS:
        return EXPERIMENTS[name]
    raise Problem(f"There is no experiment {name}.", advice=f"Known: {', '.join(EXPERIMENTS)}.")

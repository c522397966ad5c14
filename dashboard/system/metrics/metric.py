"""What a metric is."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum

from dashboard.system.metrics.figures import Figures

# The values of a metric's labels, in their order, with the figure that they have.
Sample = tuple[tuple[str, ...], float]


class Type(StrEnum):
    """The type, as Prometheus names it. The name of a counter ends in _total."""

    COUNTER = "counter"
    GAUGE = "gauge"


@dataclass(frozen=True)
class Metric:
    """A metric: `source` says for operators where its figures come from, `read` reads them."""

    name: str
    type: Type
    help: str
    labels: tuple[str, ...]
    source: str
    read: Callable[[Figures], Iterable[Sample]]

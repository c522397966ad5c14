"""/metrics, in the format that Prometheus or OpenMetrics asks for."""

from collections.abc import Iterator

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

from dashboard.system.metrics.declared import METRICS
from dashboard.system.metrics.figures import Figures
from dashboard.system.metrics.metric import Type

OPENMETRICS = "application/openmetrics-text"
_FAMILIES = {Type.COUNTER: CounterMetricFamily, Type.GAUGE: GaugeMetricFamily}


class _Declared(Collector):
    """Reads the declared metrics at the time of the scrape, and keeps nothing."""

    def collect(self) -> Iterator[Metric]:
        figures = Figures()
        for metric in METRICS:
            family = _FAMILIES[metric.type](metric.name, metric.help, labels=metric.labels)
            for labels, figure in metric.read(figures):
                family.add_metric(labels, figure)
            yield family


# The rule of its URL says who may read it: dashboard/access/rules.py.
@require_safe
@login_not_required
@never_cache
def metrics(request: HttpRequest) -> HttpResponse:
    """The figures of the whole installation."""
    # By the name alone: the library fails at versions that are no numbers.
    encoder, content_type = choose_encoder(OPENMETRICS if OPENMETRICS in request.headers.get("Accept", "") else "")
    return HttpResponse(encoder(_Declared()), content_type=content_type)

"""Reads /metrics as Prometheus does."""

from django.test import Client
from django.urls import reverse
from prometheus_client.parser import text_string_to_metric_families

Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


def scraped(client: Client) -> Samples:
    """The figure of each series, by its name and labels. The client comes from 127.0.0.1."""
    answer = client.get(reverse("metrics"))
    assert answer.status_code == 200, answer.content
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(answer.content.decode())
        for sample in family.samples
    }


def figure(samples: Samples, name: str, **labels: str) -> float:
    """The figure of a series; 0 if there is none."""
    return samples.get((name, frozenset(labels.items())), 0.0)


def moved(before: Samples, after: Samples) -> set[str]:
    """The names of the metrics that have another figure."""
    return {name for name, labels in {*before, *after} if before.get((name, labels)) != after.get((name, labels))}

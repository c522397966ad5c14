"""Filters for what a page offers to its reader: `{% load access %}{% if "job_preset"|may_send:job %}…{% endif %}`.

Each takes the name of a URL, and what the URL names if its rule has a thing.
"""

from django import template
from django.db import models

from dashboard.access.rules import RULES

register = template.Library()


@register.filter
def may_open(url_name: str, thing: models.Model | None = None) -> bool:
    """Whether a link to the URL leads the reader to a page, and not to a refusal."""
    return RULES[url_name].allows(reads=True, thing=thing)


@register.filter
def may_send(url_name: str, thing: models.Model | None = None) -> bool:
    """Whether the reader may send a form to the URL."""
    return RULES[url_name].allows(reads=False, thing=thing)

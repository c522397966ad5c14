"""What a page offers to its reader: `{% load access %}{% if "job_preset"|may_send:job %}…{% endif %}`.

Each filter takes the name of a URL, and what the URL names if its rule has a thing.
"""

from typing import Any

from django import template
from django.db import models
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from dashboard.access.confirmed import FIELD, shown
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


@register.simple_tag
def confirms(url_name: str, thing: Any, id: str = "", oob: bool = False) -> SafeString:
    """The field of a form with the facts that its button confirms; with `oob`, to take the place of the one shown."""
    attributes = {"type": "hidden", "name": FIELD, "value": shown(url_name, thing)}
    attributes |= {"id": id} if id else {}
    attributes |= {"hx-swap-oob": "true"} if oob else {}
    return format_html("<input{}>", format_html_join("", ' {}="{}"', attributes.items()))

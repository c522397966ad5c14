"""Template tags of the history page that replace slow loops: long lists of facts, and thousands of cells."""

from functools import cache

from django import template
from django.utils.html import escape, format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from dashboard.history.table import Cell
from importer.history.facts import Fact, Group

register = template.Library()


@register.simple_tag
def fact_options(facts: tuple[Fact, ...], chosen: str) -> SafeString:
    """The facts as <option> elements in groups, with the chosen one selected."""
    options = _options(facts)
    value = format_html('value="{}"', chosen)
    # Safe: `options` and `value` were escaped by format_html().
    return mark_safe(options.replace(value, f"{value} selected", 1))  # noqa: S308


@cache
def _options(facts: tuple[Fact, ...]) -> SafeString:
    groups = ((group, [each for each in facts if each.group is group]) for group in Group)
    return format_html_join(
        "\n",
        '<optgroup label="{}">{}</optgroup>',
        ((group.value, _of_group(members)) for group, members in groups if members),
    )


def _of_group(facts: list[Fact]) -> SafeString:
    return format_html_join("", '<option value="{}">{}</option>', ((each.name, each.title) for each in facts))


@register.simple_tag
def fact_boxes(group: Group, facts: list[Fact], shown: set[str]) -> SafeString:
    """A group of facts as check boxes, ticked if they are columns; the import itself is always one."""
    boxes = (
        (each.name, " checked" if each.name in shown else "", " disabled" if each.name == "job" else "", each.title)
        for each in facts
    )
    return format_html(
        "<fieldset><legend>{}</legend>{}</fieldset>",
        group.value,
        format_html_join(
            "\n",
            '<label class="form-check"><input class="form-check-input" type="checkbox" name="columns" value="{}"{}{}>'
            " {}</label>",
            boxes,
        ),
    )


@register.simple_tag
def cells(of: tuple[Cell, ...]) -> SafeString:
    """The cells of a row. Each is escaped by itself: format_html() takes three times as long."""
    return mark_safe("".join(map(_cell, of)))  # noqa: S308


def _cell(cell: Cell) -> str:
    classes = " ".join(["number"] * cell.is_number + [cell.on_card] * bool(cell.on_card))
    marked = f' class="{classes}"' if classes else ""
    words = f' title="{escape(cell.words)}"' if cell.words != cell.text else ""
    return f'<td{marked}{words} data-label="{escape(cell.heading)}">{escape(cell.text)}</td>'

"""Schedules in a file: saved as the API does for one of a preset."""

from collections.abc import Mapping
from typing import Any

from django.db.models import QuerySet

from importer import schedules
from importer.access import audit
from importer.access.acting import acting_user
from importer.access.policy import seen
from importer.connections.by_hand.connection_files import named_connection
from importer.engine.errors import Problem
from importer.management.apply.kinds import recipe
from importer.management.apply.kinds.channel import ordered
from importer.management.apply.kinds.kind import Kind, Wish, about, without_defaults
from importer.management.apply.yaml_file import Hint, Value, keys_of
from importer.management.rules import rule_of
from importer.models import Channel, MappingPreset, Schedule
from importer.notifications import channels as notification_channels
from importer.preparation import presets
from importer.schedules import ScheduleRequest

FIELDS = {name: hint for name, hint in keys_of(ScheduleRequest).items() if name not in ("name", "connection")}
OWN: Mapping[str, Hint] = {
    "connection": str,
    "preset": str,
    "recipe": recipe.KEYS,
    "no_limit": bool,
    "paused": bool,
    "subscriptions": dict[str, list[str]],
}
# Keys whose change does not change the schedule itself.
APART = {"paused", "subscriptions"}


class SchedulesInFile(Kind):
    """The fields of ScheduleRequest; `preset` or `recipe`, of which the state has the recipe; channels' subscriptions.

    `no_limit` is in the state by the options of the recipe.
    """

    section, word, required = "schedules", "schedule", ("connection", "pattern")
    kept = frozenset({"paused"})
    adds, changes, deletes = "schedule create-from-job", "schedule pause", "schedule pause"

    def hints(self, _entries: Mapping[str, Value]) -> Mapping[str, Hint]:
        return {**FIELDS, **OWN}

    def things(self) -> QuerySet[Schedule]:
        return Schedule.objects.select_related("target", "connection")

    def state(self, wish: Wish) -> dict[str, Any]:
        values = schedules.values_of(_request(wish))
        subscriptions = {
            name: ordered(events) for name, events in wish.given.get("subscriptions", {}).items() if events
        }
        return _state(values, _recipe(_preset(wish), wish.given.get("no_limit", False)), subscriptions)

    def stored(self, thing: Schedule) -> dict[str, Any]:
        values = {name: getattr(thing, name) for name in (*FIELDS, "connection", "paused")}
        subscriptions = {each.channel.name: ordered(each.events) for each in _subscriptions(thing)}
        return _state(values, recipe.state_of(thing), subscriptions)

    def save(self, thing: Schedule | None, wish: Wish, state: dict[str, Any], changed: set[str]) -> Schedule:
        request, preset, no_limit = _request(wish), _preset(wish), wish.given.get("no_limit", False)
        if thing is None:
            saved = schedules.create(request, preset, acting_user(), no_limit=no_limit)
        else:
            saved = thing
            if changed - APART:
                schedules.update(saved, request, preset, no_limit=no_limit)
        audit.about(saved)
        if state["paused"] != saved.paused:
            (schedules.pause if state["paused"] else schedules.resume)(saved)
        if "subscriptions" in changed:
            _subscribe(saved, state["subscriptions"])
        return saved

    def remove(self, thing: Schedule) -> None:
        schedules.delete(thing)

    def written(self, thing: Schedule) -> dict[str, Any]:
        state = self.stored(thing)
        values = {name: state.pop(name) for name in ("connection", "pattern")}
        made_of = state.pop("recipe")
        no_limit = schedules.lacks_limit(thing)
        preset = next((each for each in _seen_presets(thing) if _recipe(each, no_limit) == made_of), None)
        values |= {"preset": preset.name} if preset else {"recipe": recipe.written(made_of)}
        if no_limit:
            values["no_limit"] = True
        if state["trigger"] == schedules.trigger_for(state["cron"], state["every_minutes"]):
            del state["trigger"]
        usual = {each: default for each, default in _defaults().items() if each != "trigger"}
        return values | without_defaults(state, usual | {"subscriptions": {}})


def _defaults() -> dict[str, Any]:
    plain = ScheduleRequest(name="", connection=None, pattern="")  # type: ignore[arg-type]  # only its defaults count
    return {name: getattr(plain, name) for name in FIELDS if name != "pattern"} | {"paused": False}


def _request(wish: Wish) -> ScheduleRequest:
    given = {name: value for name, value in wish.given.items() if name in FIELDS}
    if given.get("cron") and given.get("every_minutes"):
        what = "Both cron and every_minutes are given."
        raise Problem(what, advice="Give one of them, or neither to wait for files.", option="every_minutes")
    given.setdefault("trigger", schedules.trigger_for(given.get("cron", ""), given.get("every_minutes")))
    with about("connection"):
        connection = named_connection(wish.given["connection"])
    return ScheduleRequest(name=wish.name, connection=connection, **given)


def _preset(wish: Wish) -> MappingPreset:
    """The preset that the file names, or one of its recipe, not saved. Raises Problem for neither, or both."""
    if ("preset" in wish.given) == ("recipe" in wish.given):
        what = f"The schedule {wish.name} has no preset or recipe, or both."
        raise Problem(what, advice="Name a preset: its columns, format and options are the schedule's.")
    if "recipe" in wish.given:
        return recipe.unsaved(recipe.wanted(wish.name, wish.given["recipe"]))
    with about("preset"):
        return presets.by_name(wish.given["preset"])


def _recipe(preset: MappingPreset, no_limit: bool) -> dict[str, Any]:
    return recipe.state_of(MappingPreset(name="", **schedules.recipe_of(preset, no_limit=no_limit)))


def _seen_presets(thing: Schedule) -> QuerySet[MappingPreset]:
    return seen(MappingPreset.objects.select_related("target")).filter(target=thing.target_id).order_by("name")


def _state(values: Mapping[str, Any], made_of: dict[str, Any], subscriptions: dict[str, list[str]]) -> dict[str, Any]:
    plain = {name: values[name] for name in FIELDS}
    own = {"connection": values["connection"].name, "paused": values.get("paused", False)}
    return {**plain, **own, "recipe": made_of, "subscriptions": subscriptions}


def _subscriptions(thing: Schedule) -> QuerySet[Any]:
    return thing.subscriptions.select_related("channel").order_by("channel__name")


def _subscribe(schedule: Schedule, wanted: Mapping[str, list[str]]) -> None:
    """Give the schedule exactly these subscriptions. Raises Problem for an unknown channel or event, Forbidden."""
    if rule := rule_of("channel subscribe"):
        rule.check({})
    channels = {each.name: each for each in seen(Channel.objects.order_by("name"))}
    for name in wanted:
        if name not in channels:
            advice = f"Channels: {', '.join(channels) or 'none yet'}."
            raise Problem(f"There is no channel {name}.", advice=advice, option=name)
    for each in _subscriptions(schedule):
        if each.channel.name not in wanted:
            notification_channels.subscribe(each.channel, schedule, [])
    for name, events in wanted.items():
        notification_channels.subscribe(channels[name], schedule, events)

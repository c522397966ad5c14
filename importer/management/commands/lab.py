"""`millrace lab`: finds by trial which settings load a file into a table fastest."""

import sys
import time
from argparse import ArgumentParser
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median
from typing import Any

from config.contracts.documents import LAB, LABS
from importer import lab
from importer import lab as lab_package
from importer.access.acting import acting_user
from importer.access.policy import may_now, seen
from importer.engine.errors import Problem
from importer.engine.tuning.budget import Budget
from importer.engine.tuning.grid import GRIDS, Grid, Value, grid_named, words
from importer.engine.tuning.sampling import Sample
from importer.engine.units import count_of
from importer.lab.commands import MOST_REPEATS, REPEATS
from importer.lab.lifecycle import end_abandoned
from importer.management.argument_types import bounded, percent, setting_values, size
from importer.management.base_command import PreparedCommand
from importer.management.build_import import named_target
from importer.models import ImportJob, Lab, Level, Target, Trial
from importer.models.outcomes import CANCELLED, UNKNOWN
from importer.preparation.prepare import PreparedImport, prepare, require_load
from importer.preparation.request import ImportRequest
from importer.sources import uploads
from importer.worker.hosts import presence

LOOK_EVERY = 0.5  # seconds
OWN = "own"
MOST_SHOWN = 20


class Command(PreparedCommand):
    help = "Find by trial which settings load a file into a table fastest."

    def add_arguments(self, parser: ArgumentParser) -> None:
        verbs = parser.add_subparsers(
            dest="verb",
            required=True,
            metavar="run|list|show|approve|refuse|cancel|clean-now|end-without|sweep",
        )
        run = verbs.add_parser("run", help="try the settings of a grid on a sample of a file, and recommend the best")
        grids = ", ".join(f"{each.name} ({each.about})" for each in GRIDS.values())
        run.add_argument(
            "grid", choices=[*GRIDS, OWN], metavar="GRID", help=f"{grids}; own: only the settings of --set"
        )
        _add_what(run)
        _add_how_much(run)
        verbs.add_parser("list", help="all labs, the latest first")
        show = verbs.add_parser("show", help="the results of a lab (so far)")
        show.add_argument("lab", type=int, help="its number")
        approve = verbs.add_parser("approve", help="let a lab of somebody else begin on a target that needs approvals")
        approve.add_argument("lab", type=int, help="its number")
        approve.add_argument("--digest", required=True, help="of the lab that you have seen, as `lab show` shows it")
        refuse = verbs.add_parser("refuse", help="end a lab of somebody else that waits for approval")
        refuse.add_argument("lab", type=int, help="its number")
        refuse.add_argument("--reason", required=True, metavar="TEXT", help="for the person who started the lab")
        for verb, about in (
            ("clean-now", "try at once to drop the scratch tables that the server has refused to drop"),
            ("end-without", "end a lab without dropping its scratch tables; it lists them, with the SQL"),
        ):
            verbs.add_parser(verb, help=about).add_argument("lab", type=int, help="its number")
        cancel = verbs.add_parser("cancel", help="stop a lab and drop its scratch tables")
        cancel.add_argument("lab", type=int, help="its number")
        sweep = verbs.add_parser("sweep", help="drop scratch tables of labs that have ended or are unknown here")
        sweep.add_argument("--target", metavar="NAME", help="default: all targets")

    def handle(self, *_args: Any, verb: str, **options: Any) -> None:
        """Run one verb."""
        VERBS[verb](self, **options)

    def _run(self, *, as_json: bool, **options: Any) -> None:
        created = _create(options)
        lab.start(created.pk)
        try:
            ended = self._follow(created.pk, quiet=as_json)
        except KeyboardInterrupt:
            lab.cancel(created.pk)
            ended = self._follow(created.pk, quiet=as_json)
        self._show_one(ended, as_json)
        if ended.status != Lab.Status.DONE:
            sys.exit(CANCELLED.exit_code if ended.status == Lab.Status.CANCELLED else UNKNOWN)

    def _follow(self, lab_id: int, quiet: bool) -> Lab:
        """Wait for the end of the lab, and print the result of each trial unless `quiet`. Returns the ended lab."""
        if not presence.parallel_loads(Lab.objects.select_related("target").get(pk=lab_id).target.label):
            self.stderr.write("No worker is running: is `millrace serve` running? The lab waits for them.")
        shown, waits_for = 0, ""
        while True:
            now = Lab.objects.select_related("target").get(pk=lab_id)
            if not quiet:
                if now.waits_for not in ("", waits_for):
                    self.stderr.write(f"Waits: {now.waits_for}.")
                waits_for = now.waits_for
                finished = now.trials.exclude(finished_at=None).select_related("lab").order_by("finished_at")
                for trial in finished[shown:]:
                    self.stderr.write(_line(trial, now))
                    shown += 1
            if now.ended:
                return now
            time.sleep(LOOK_EVERY)

    def _list(self, *, as_json: bool, **_: Any) -> None:
        labs = seen(Lab.objects.select_related("target")).order_by("-pk")
        if as_json:
            self.give(LABS, {"labs": [_summary(each) for each in labs]})
            return
        self.write_list(
            f"{each.pk}: {each.grid.name} of {each.source_name} into {each.table} of {each.target.name},"
            f" {each.status} ({each.created_at:%Y-%m-%d %H:%M} UTC)"
            for each in labs
        )

    def _show(self, *, lab: int, as_json: bool, **_: Any) -> None:
        self._show_one(_known(lab), as_json)

    def _approve(self, *, lab: int, digest: str, **_: Any) -> None:
        lab_package.approve(_known(lab).pk, digest)
        self.stdout.write(f"Lab {lab} is approved; the workers begin it.")

    def _refuse(self, *, lab: int, reason: str, **_: Any) -> None:
        lab_package.refuse(_known(lab).pk, reason)
        self.stdout.write(f"Lab {lab} is refused.")

    def _clean_now(self, *, lab: int, **_: Any) -> None:
        lab_package.try_now(_known(lab).pk)
        self.stdout.write(f"Lab {lab}: its scratch tables are dropped now, if the server allows it.")

    def _end_without(self, *, lab: int, **_: Any) -> None:
        lab_package.end_without(_known(lab).pk)
        ended = _known(lab)
        self.stdout.write(f"Lab {lab} is {ended.status}. {ended.problem['what']} {ended.problem['advice']}")

    def _cancel(self, *, lab: int, **_: Any) -> None:
        lab_package.cancel(_known(lab).pk)
        self.stdout.write(f"Lab {lab} is ending: its scratch tables are dropped.")

    def _sweep(self, *, target: str | None, **_: Any) -> None:
        targets = [named_target(target)] if target else _administered()
        for each in targets:
            end_abandoned(each)
        lines = [line for each in targets for line in lab.sweep_target(each)]
        for line in lines or ["No scratch table is left over."]:
            self.stdout.write(line)

    def _show_one(self, row: Lab, as_json: bool) -> None:
        outcome = lab.outcome(row)
        if as_json:
            self.give(LAB, outcome)
            return
        if lab.is_asked_for(row):
            self.stdout.write(f"Lab {row.pk} waits for another person's approval. {lab.sentence(row)}")
            self.stdout.write(f"Digest: {lab.digest_of(row)}")
        sample = outcome["sample"]
        self.stdout.write(f"Lab {row.pk} {row.status}: {count_of(sample['rows'], 'row')} ({sample['asked']})")
        for each in outcome["ranking"][:MOST_SHOWN]:
            low, high = each["quartiles"]
            planned = "  (as planned)" if each["planned"] else ""
            self.stdout.write(
                f"  {each['median']:>10,.0f} rows/s  {low:,.0f} to {high:,.0f}  {each['of_best']:>4.0%}"
                f"  {each['words']}{planned}{_to_planned(each['to_planned'])}"
            )
        for each in outcome["ways"]:
            rate = f"{median(each['rates']):,.0f} a second" if each["rates"] else "not measured"
            self.stdout.write(f"  {each['way']}: {rate}")
        for word in ("failed", "left_out"):
            for each in outcome[word]:
                self.stdout.write(f"  {word.replace('_', ' ')}: {words(each['settings'])}: {each['why']}")
        self._show_advice(outcome)

    def _show_advice(self, outcome: dict[str, Any]) -> None:
        if outcome["problem"]:
            problem = outcome["problem"]
            self.stderr.write(" ".join(filter(None, (problem["where"], problem["what"], problem["advice"]))))
        if advice := outcome["recommendation"]:
            self.stdout.write(f"{advice['advice']} Confidence: {advice['confidence']}.")
            for sentence in (*advice["evidence"], *outcome["caveats"]):
                self.stdout.write(f"  {sentence}")


VERBS: dict[str, Callable[..., None]] = {
    "run": Command._run,
    "list": Command._list,
    "show": Command._show,
    "clean-now": Command._clean_now,
    "end-without": Command._end_without,
    "approve": Command._approve,
    "refuse": Command._refuse,
    "cancel": Command._cancel,
    "sweep": Command._sweep,
}


def _add_what(run: ArgumentParser) -> None:
    run.add_argument("--file", type=Path, help="the CSV file")
    run.add_argument("--target", metavar="NAME", help="name of a target (see `millrace target list`)")
    run.add_argument(
        "--table", help="TABLE or SCHEMA.TABLE: scratch tables are made like it; the table does not change"
    )
    run.add_argument("--job", type=int, metavar="N", help="instead of these: a past import's file, format and options")
    run.add_argument("--schema", default="", help="where scratch tables are made (default: the table's)")
    run.add_argument(
        "--set",
        type=setting_values,
        action="append",
        default=[],
        metavar="NAME=V1,V2",
        help="values to try of a setting, in place of the grid's or in addition to it; may be repeated",
    )


def _add_how_much(run: ArgumentParser) -> None:
    sample = run.add_mutually_exclusive_group()
    sample.add_argument("--rows", type=bounded(1, 10**12), metavar="N", help="the first N rows (enough for the grid)")
    sample.add_argument("--share", type=percent, metavar="P", help="P percent of the file, in evenly spaced ranges")
    run.add_argument(
        "--repeats", type=bounded(1, MOST_REPEATS), default=REPEATS, metavar="N", help=f"default: {REPEATS}"
    )
    run.add_argument("--seed", type=bounded(0, 2**31 - 1), metavar="N", help="the same seed gives the same order")
    run.add_argument("--minutes", type=bounded(1, 10**5), metavar="N", help="no trial begins that would end later (10)")
    run.add_argument(
        "--most-rows", type=bounded(1, 10**15), metavar="N", help="most rows that all trials load together"
    )
    run.add_argument("--target-disk", type=size, metavar="10G", help="most bytes that a scratch table may take (10G)")
    run.add_argument("--disk", type=size, metavar="10G", help="most bytes that the sample may take here (10G)")
    run.add_argument("--during-imports", action="store_true", help="do not wait while imports run on the target")


def _create(options: dict[str, Any]) -> Lab:
    """Create the lab of the options. Raises Problem if they are wrong or incomplete."""
    grid = _grid(options["grid"], options["set"])
    if options["job"] is not None:
        job = seen(ImportJob.objects.select_related("target", "source")).filter(pk=options["job"], trial=None).first()
        if job is None:
            raise Problem(f"There is no import {options['job']}.", advice="Give the number that the list shows.")
        return _created(lab.prepare_again(job), grid, options, job)
    for name in ("file", "target", "table"):
        if not options[name]:
            raise Problem(f"--{name} is missing.", advice="Name file, target and table, or --job a past import.")
    # A lab measures on scratch tables, which a wrong guess does not harm; the guesses are printed.
    guessing = ImportRequest(accept_guesses=True)
    target = named_target(options["target"])
    require_load(target, options["table"])
    prepared = prepare(uploads.register(options["file"]), target, options["table"], guessing)
    for line in prepared.reading.lines:
        sys.stderr.write(f"{line}\n")
    return _created(prepared, grid, options)


def _created(prepared: PreparedImport, grid: Grid, options: dict[str, Any], job: ImportJob | None = None) -> Lab:
    """Create the lab, and print what it does not try, with the reasons, before it starts."""
    amounts = _amounts(options)
    amounts.setdefault("sample", Sample(rows=lab.suggest_sample(prepared, grid)))
    request = lab.LabRequest(grid, **amounts)
    for sentence in lab.choose(prepared, request, job).alike:
        sys.stderr.write(f"{sentence}\n")
    created = lab.create(prepared, request, acting_user(), job)
    for each in created.left_out_json:
        sys.stderr.write(f"Left out: {words(each['settings'])}: {each['why']}.\n")
    return created


def _grid(name: str, pairs: list[tuple[str, tuple[Value, ...]]]) -> Grid:
    grid = Grid(OWN, {}, "as requested") if name == OWN else grid_named(name)
    return grid.with_values(dict(pairs))


def _amounts(options: dict[str, Any]) -> dict[str, Any]:
    """The amounts of a LabRequest that were given; LabRequest and Budget have defaults for the others."""
    limits = {
        "seconds": options["minutes"] and options["minutes"] * 60,
        "rows": options["most_rows"],
        "target_bytes": options["target_disk"],
        "local_bytes": options["disk"],
    }
    given = {name: options[name] for name in ("repeats", "seed", "schema", "during_imports")}
    if options["rows"] or options["share"] is not None:
        share = options["share"] / 100 if options["share"] is not None else None
        given["sample"] = Sample(options["rows"], share)
    given["budget"] = Budget(**{name: value for name, value in limits.items() if value})
    return {name: value for name, value in given.items() if value is not None}


def _administered() -> list[Target]:
    """The targets whose scratch tables the acting person may drop."""
    return [each for each in seen(Target.objects.registered().order_by("name")) if may_now(Level.ADMINISTER, each)]


def _known(number: int) -> Lab:
    row = seen(Lab.objects.select_related("target", "source")).filter(pk=number).first()
    if row is None:
        raise Problem(f"There is no lab {number}.", advice="`millrace lab list` has all.")
    return row


def _to_planned(ratio: Mapping[str, Any] | None) -> str:
    """The ratio to the planned settings with its interval; "" if it is not known."""
    if not ratio:
        return ""
    return (
        f"  {ratio['times']:.2f} times as fast as planned ({ratio['low']:.2f} to {ratio['high']:.2f},"
        f" {ratio['level']:.0%} interval, {ratio['rounds']} rounds)"
    )


def _line(trial: Trial, of: Lab) -> str:
    result = (
        f"{trial.rows_per_second:,.0f} rows/s" if trial.rows_per_second else trial.problem.get("what", trial.status)
    )
    return f"{trial.number}/{of.trials.count()} {trial.round_name}: {trial.words}: {result}"


def _summary(row: Lab) -> dict[str, Any]:
    names = ("source_name", "table", "status", "repeats", "sample_rows")
    return {
        "lab": row.pk,
        **{name: getattr(row, name) for name in names},
        "grid": row.grid.name,
        "target": row.target.name,
        "created_at": row.created_at.isoformat(),
    }

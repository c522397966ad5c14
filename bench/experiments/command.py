"""The work of `millrace experiment`."""

import shlex
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from django.contrib.auth.models import User

from bench.experiments import runner
from bench.experiments.experiment import FULL, SMALL
from bench.experiments.outcome import StartState, experiment_result, store
from bench.experiments.private_server import KINDS, missing
from bench.experiments.published.registry import EXPERIMENTS, experiment_named
from bench.experiments.report import ExperimentResult, markdown, number, write_report
from config.contracts import documents
from importer.access.acting import acting_user
from importer.engine.errors import Cancelled, Problem
from importer.engine.tuning.grid import WAY
from importer.engine.tuning.rounds import WARM_UP
from importer.lab.commands import REPEATS
from importer.lab.lifecycle import finish
from importer.management.build_import import named_target
from importer.management.terminal.one_document import DocumentCommand
from importer.models import Lab, Target, Trial


def run_verb(command: DocumentCommand, *, verb: str, **options: Any) -> None:
    """Run one verb. Raises Problem if the experiment failed or was cancelled."""
    {"list": _show_list, "run": _run_and_show}[verb](command, **options)


def _show_list(command: DocumentCommand, *, as_json: bool, **_: Any) -> None:
    if as_json:
        command.give(documents.EXPERIMENTS, {"experiments": listed()})
        return
    for line in lines(listed()):
        command.stdout.write(line)


def _run_and_show(command: DocumentCommand, *, as_json: bool, **options: Any) -> None:
    result, ended = run(options, lambda line: None if as_json else command.stderr.write(line))
    if as_json:
        command.give(documents.EXPERIMENT, result.as_json())
    else:
        command.stdout.write(markdown(result, ""))
    if ended.status != Lab.Status.DONE:
        what, where, advice = (str(ended.problem.get(name, "")) for name in ("what", "where", "advice"))
        kind = Cancelled if ended.status == Lab.Status.CANCELLED else Problem
        raise kind(what or f"The experiment was {ended.status}.", where, advice)


def listed() -> list[dict[str, Any]]:
    """All experiments with rows and estimated seconds by size: what `experiment list --json` prints (a contract).

    The seconds are those of a warm-up and REPEATS rounds, as a run has them without options.
    """
    lacking = {flavour: why.what for flavour in KINDS if (why := missing(flavour))}
    return [
        {
            "name": each.name,
            "article": each.article,
            "by": each.by,
            "url": each.url,
            "asks": each.asks,
            "ways": [way.name for way in each.ways],
            "private": [way.name for way in each.ways if way.server],
            "missing": lacking,
            "sizes": {
                size: {"rows": each.rows(size), "seconds": round(each.seconds(each.rows(size), 1 + REPEATS))}
                for size in (SMALL, FULL)
            },
        }
        for each in EXPERIMENTS.values()
    ]


def lines(experiments: Iterable[dict[str, Any]]) -> Iterable[str]:
    """The experiments of listed() as lines of text."""
    for each in experiments:
        yield f"{each['name']}: {each['asks']} ({len(each['ways'])} ways)"
        yield f"    {each['article']}: {each['by']}, {each['url']}"
        if alone := len(each["private"]):
            lacking = "".join(f" For {flavour}: {why}" for flavour, why in each["missing"].items())
            yield f"    {alone} of them on a private server here.{lacking}"
        for size, estimate in each["sizes"].items():
            time = _time(estimate["seconds"])
            yield f"    {size}: {estimate['rows']:,} rows, about {time} for a warm-up and {REPEATS} rounds"


def run(options: dict[str, Any], tell: Callable[[str], object]) -> tuple[ExperimentResult, Lab]:
    """Run an experiment to its end and report each trial to `tell`; Ctrl-C cancels it.

    Returns the result and the ended lab. Raises Problem if the options are wrong or the experiment cannot begin.
    """
    request = _request(options)
    start_state = StartState()
    lab = runner.begin(request, named_target(options["target"]), acting_user())
    tell(f"Lab {lab.pk}: {lab.trials.count()} trials, about {_time(request.seconds)}.")
    alone = [way.name for way in request.chosen if way.server]
    if alone and (lacks := missing(runner.flavour_of(lab.target), options["server_program"])):
        names = "; ".join(alone)
        tell(f"Not measured, since they need a private server: {names}. {lacks.what} {lacks.advice}")
    result, ended = work(lab, start_state, _command(options, request.rows, lab), tell, options["server_program"])
    if options["report"]:
        tell(f"Report: {write_report(result, options['report'])}")
    return result, ended


def order(name: str, target: Target, user: User | None, size: str, ways: Sequence[str], **others: Any) -> Lab:
    """Create the lab of an experiment, for the workers. Raises Problem for wrong values, and as runner.order() does."""
    experiment = experiment_named(name)
    values = {each: value for each, value in others.items() if value is not None}
    request = runner.ExperimentRequest(experiment, experiment.rows(size), ways=experiment.chosen(ways), **values)
    return runner.order(request, target, user)


def command_of(lab: Lab) -> str:
    """The command that repeats an experiment that was ordered."""
    names = [str(each[WAY]) for each in lab.combinations]
    every = len(names) == len(experiment_named(lab.experiment).ways)
    warm_up = lab.trials.filter(round=WARM_UP).exists()
    options = {"size": "", "warm_up": warm_up, "server_program": "", "way": () if every else names}
    return _command(options, lab.sample_rows, lab)


def work(
    lab: Lab, start_state: StartState, command: str, tell: Callable[[str], object], server_program: str = ""
) -> tuple[ExperimentResult, Lab]:
    """Run the experiment's trials, which this process has claimed, and end it; `command` repeats it.

    Returns the result and the ended lab.
    """
    trials = lab.trials.count()
    becomes, problem = Lab.Status.DONE, None

    def told(trial: Trial | None = None) -> None:
        """Tell of the trial, and keep the figures so far for the lab's page."""
        if trial:
            tell(_line(trial, trials))
        if not trial or trial.status != Trial.Status.RUNNING:
            store(lab, experiment_result(lab, start_state, command))

    try:
        told()
        runner.run(lab, told, server_program)
    except (KeyboardInterrupt, Cancelled):
        becomes = Lab.Status.CANCELLED
    except Problem as error:
        becomes, problem = Lab.Status.FAILED, error
    except BaseException:
        finish(lab, Lab.Status.FAILED, Problem("An unexpected error.", str(lab), "See its traceback."))
        raise
    ended = finish(lab, becomes, problem, lambda obstacle: tell(f"Waits to drop its tables: {obstacle}"))
    result = experiment_result(ended, start_state, command)
    store(ended, result)
    return result, ended


def _request(options: dict[str, Any]) -> runner.ExperimentRequest:
    experiment = experiment_named(options["name"])
    given = {name: options[name] for name in ("repeats", "seed", "warm_up", "during_imports")}
    values = {name: value for name, value in given.items() if value is not None}
    ways = experiment.chosen(options["way"])
    return runner.ExperimentRequest(experiment, experiment.rows(options["size"]), ways=ways, **values)


def _command(options: dict[str, Any], rows: int, lab: Lab) -> str:
    """The command that repeats the experiment with its trials in the same order."""
    size = options["size"] if options["size"] == FULL else str(rows)
    words = ["millrace", "experiment", "run", lab.experiment, "--target", lab.target.name, "--size", size]
    words += ["--repeats", str(lab.repeats), "--seed", str(lab.seed)]
    words += ["--no-warm-up"] * (not options["warm_up"]) + ["--during-imports"] * lab.during_imports
    words += ["--server-program", options["server_program"]] if options["server_program"] else []
    return shlex.join([*words, *(word for each in options["way"] for word in ("--way", each))])


def _line(trial: Trial, trials: int) -> str:
    """The line that announces a running trial, or the line with the result of one that is over."""
    if trial.status == Trial.Status.RUNNING:
        return f"{trial.number}/{trials} {trial.round_name}: {trial.words}"
    if trial.status == Trial.Status.PENDING:
        return "  an import ran on the target at the same time: this trial is repeated"
    took = f"  after {_time(trial.seconds)}"
    if trial.rows_per_second:
        return f"{took}, its tables included: {number(trial.rows_per_second)}/s"
    return f"{took}: {trial.problem.get('what', trial.status)}"


def _time(seconds: float) -> str:
    return f"{seconds:,.0f} s" if seconds < 120 else f"{seconds / 60:,.0f} minutes"

"""Millrace must lose less of polluted files than LOAD DATA by itself (bench/pollution).

The files that are polluted as a whole, and a few of those with one bad row: `python -m bench.pollution` takes all.
"""

from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from bench.pollution.loaders import LOADERS, plain_client
from bench.pollution.losses import losses
from bench.pollution.polluters import PollutedFile, chosen, polluted_files
from bench.pollution.score import FULL, Loaded, score, totals
from importer.engine.mysql.connection import Address
from importer.models import ImportJob
from importer.worker import local_pool
from tests.importer.steps import run
from tests.targets import saved_target

EVERY = 211
WHOLE, IN_ROW = 22, 2268
COMPARED = ("LOAD DATA", "parameters", "guesses")


@cache
def every_file() -> tuple[PollutedFile, ...]:
    return tuple(polluted_files())


@pytest.fixture
def folder(settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    settings.PLAIN_DIR, settings.REJECTS_DIR = tmp_path / "plain", tmp_path / "rejects"
    # Without processes for each of the small files.
    monkeypatch.setattr(local_pool, "run", lambda pk, *_: run(ImportJob.objects.get(pk=pk)))
    return tmp_path


def test_millrace_loses_less_than_load_data(database: Address, folder: Path, transactional_db: None):
    target, files, path = saved_target(database, "t"), chosen(every_file(), EVERY), folder / "polluted.csv"
    made: dict[str, list[Loaded]] = {name: [] for name in COMPARED}
    with plain_client(database) as connection:
        for file in files:
            path.write_bytes(file.content)
            for name in COMPARED:
                made[name].append(LOADERS[name](connection, target.name, file, path))
    scores = {name: [score(*pair) for pair in zip(files, loaded, strict=True)] for name, loaded in made.items()}
    simple, weighted = totals(files, scores["LOAD DATA"])
    for name in COMPARED[1:]:
        ours = totals(files, scores[name])
        lost = losses(files, made[name], scores[name])
        assert ours[0] > simple, lost
        assert ours[1] > weighted, lost
        assert not [each.problem for each in made[name] if each.problem]


def test_the_files_are_those_of_the_benchmark():
    files = every_file()
    assert Counter(file.in_row for file in files) == {False: WHOLE, True: IN_ROW}
    assert len({file.name for file in files}) == len(files)
    assert len({file.content for file in files}) == len(files)
    kinds = Counter(file.kind for file in files if file.in_row)
    assert kinds == {"delimiter missing": 672, "delimiter added": 756, "quote added": 756, "delimiter blank": 84}


def test_a_perfect_load_has_the_full_score_and_a_failed_one_none():
    for file in chosen(every_file(), EVERY):
        assert score(file, Loaded(file.header, file.rows)) == pytest.approx(FULL)
        assert score(file, Loaded(problem="refused")) == 0


def test_a_missing_row_costs_recall_of_records_and_cells():
    clean = every_file()[0]
    without = Loaded(clean.header, clean.rows[1:])
    recall = 82 / 83
    part = 1 + recall + 2 * recall / (1 + recall)
    assert score(clean, without) == pytest.approx(1 + 3 + 2 * part)


def test_null_empty_dates_and_times_are_alike():
    clean = every_file()[0]
    typed = [("2018-01-28", f"{row[1]}:00", *row[2:]) if row[0] == "28/01/2018" else row for row in clean.rows]
    assert typed != list(clean.rows)
    assert score(clean, Loaded(clean.header, tuple(typed))) == pytest.approx(FULL)

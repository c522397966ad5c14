"""Files of other people's packages, and in the habits of exporters: how the reader reads them, compared with the truth.

The truth was written down before the reader was run on the files (corpus/truth.py).
"""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from importer.engine.errors import SourceProblem
from importer.engine.source import encodings
from importer.engine.source.profile.profile import Profile, profile_file
from tests.reading.corpus.made import made
from tests.reading.corpus.truth import Sample, found

LEAST_FILES = 200
LEAST_RIGHT = 0.95


@cache
def samples() -> tuple[Sample, ...]:
    return (*found(), *made())


def read(sample: Sample, folder: Path) -> Profile | SourceProblem:
    """The file's profile, or the problem with which it is refused."""
    path = folder / "sample.csv"
    path.write_bytes(sample.content)
    try:
        return profile_file(path)
    except SourceProblem as problem:
        return problem


def wrong(sample: Sample, profile: Profile) -> list[str]:
    """The names of the decisions that differ from the truth."""
    dialect, truth = profile.dialect, sample.truth
    pairs = {
        # A blank after each delimiter may belong to it.
        "delimiter": (dialect.delimiter.strip(" ") or " ", truth.delimiter),
        "quote": (_quote(sample, dialect.quote), _quote(sample, truth.quote)),
        "header": (dialect.header, truth.header),
        "encoding": (_reading(sample, dialect.encoding), _reading(sample, truth.encoding)),
    }
    if profile.rows:
        pairs["skipped"] = (profile.data_line, truth.first_data_line)
    return [name for name, (is_so, right) in pairs.items() if is_so != right]


def _quote(sample: Sample, quote: str) -> str:
    """The quote if it occurs in the file; others change nothing."""
    return quote if quote and quote in encodings.readable_text(sample.content, sample.truth.encoding) else ""


def _reading(sample: Sample, encoding: str) -> str:
    """The content as the encoding reads it: two encodings that read it alike are equally right."""
    return encodings.readable_text(sample.content, encoding).lstrip("\ufeff")


def scored(folder: Path) -> Iterator[tuple[Sample, list[str], bool]]:
    """Each file with the decisions that are wrong, and whether it is asked about or refused by name."""
    for sample in samples():
        profile = read(sample, folder)
        if isinstance(profile, SourceProblem):
            yield sample, ["refused"], True
        else:
            yield sample, wrong(sample, profile), any(each.guessed for each in profile.decisions)


@pytest.fixture(scope="module")
def scores(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Sample, list[str], bool]]:
    return list(scored(tmp_path_factory.mktemp("corpus")))


def test_the_corpus_is_large_enough():
    assert len(samples()) >= LEAST_FILES
    assert len({sample.name for sample in samples()}) == len(samples())


def test_nearly_all_files_are_read_rightly(scores):
    right = [sample for sample, differing, _ in scores if not differing]
    losses = {sample.name: differing for sample, differing, _ in scores if differing}
    assert len(right) >= LEAST_RIGHT * len(scores), losses


def test_the_others_are_asked_about(scores):
    silent = {sample.name: differing for sample, differing, asked in scores if differing and not asked}
    assert silent == {}

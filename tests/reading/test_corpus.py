"""Files of other people's packages, and in the habits of exporters: how the reader reads them, compared with the truth.

The truth was written down before the reader was run on the files (corpus/truth.py). `python -m
tests.reading.test_corpus` counts how they end, and shows each one that is not read rightly.
"""

from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from importer.engine.errors import SourceProblem
from importer.engine.source import encodings
from importer.engine.source.byte_source import open_source
from importer.engine.source.chunks.chunk_sizes import ChunkSizes
from importer.engine.source.chunks.scanner import Position, scan
from importer.engine.source.profile.profile import SAMPLE_ROWS, Profile, profile_file
from tests.reading.corpus.independent import digest_of, plain, records_of
from tests.reading.corpus.made import made
from tests.reading.corpus.truth import Sample, found

LEAST_FILES, LEAST_FOUND = 518, 365
LEAST_RIGHT = 0.95


@cache
def samples() -> tuple[Sample, ...]:
    return (*found(), *made())


def read(sample: Sample, folder: Path) -> Profile | SourceProblem:
    """The file's profile, or the problem with which it is refused, at the latest when its records are looked for."""
    path = folder / "sample.csv"
    path.write_bytes(sample.content)
    try:
        profile = profile_file(path, **({"sheet": sample.truth.sheet} if sample.truth.sheet else {}))
        if not sample.truth.clear and not profile.dialect.is_converted:
            begin = Position(profile.data_offset, profile.data_line)
            with open_source(path) as fd:
                list(scan(fd, profile.dialect, ChunkSizes(1000, 1000), begin, end=profile.size))
    except SourceProblem as problem:
        return problem
    return profile


def wrong(sample: Sample, profile: Profile) -> list[str]:
    """The names of the decisions that differ from the truth, and "values" if these do."""
    dialect, truth = profile.dialect, sample.truth
    if not truth.clear:
        return ["not asked about"]
    pairs: dict[str, tuple[object, object]] = {}
    if truth.format == "csv":
        pairs = {
            # A blank after each delimiter may belong to it.
            "delimiter": (dialect.delimiter.strip(" ") or " ", truth.delimiter),
            "quote": (_quote(sample, dialect.quote), _quote(sample, truth.quote)),
            "header": (dialect.header, truth.header),
            "encoding": (_reading(sample, dialect.encoding), _reading(sample, truth.encoding)),
        }
        if profile.rows:
            pairs["skipped"] = (profile.data_line, truth.first_data_line)
    if truth.rows:
        pairs["values"] = _values(sample, profile)
    return [name for name, (is_so, right) in pairs.items() if is_so != right]


def _values(sample: Sample, profile: Profile) -> tuple[object, object]:
    """The values of the sample, and those that are right, with the names. Blanks that belong to delimiters are none."""
    header = [profile.header] if profile.dialect.header else []
    return plain([*header, *profile.rows], sample.truth.blanks), records_of(sample)[: SAMPLE_ROWS + len(header)]


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
            yield sample, ["refused"] if sample.truth.clear else [], True
            continue
        asked = any(each.guessed for each in profile.decisions)
        yield sample, [] if asked and not sample.truth.clear else wrong(sample, profile), asked


@pytest.fixture(scope="module")
def scores(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Sample, list[str], bool]]:
    return list(scored(tmp_path_factory.mktemp("corpus")))


def test_the_corpus_is_large_enough():
    assert len(samples()) >= LEAST_FILES
    assert len(list(found())) >= LEAST_FOUND
    assert len({sample.name for sample in samples()}) == len(samples())


@pytest.mark.parametrize("sample", [each for each in found() if each.truth.rows], ids=lambda each: each.name)
def test_other_readers_read_the_values_of_the_truth(sample: Sample):
    records = records_of(sample)
    assert len(records) == sample.truth.rows + sample.truth.header
    assert digest_of(records) == sample.truth.digest


def test_nearly_all_files_are_read_rightly(scores):
    right = [sample for sample, differing, _ in scores if not differing]
    losses = {sample.name: differing for sample, differing, _ in scores if differing}
    assert len(right) >= LEAST_RIGHT * len(scores), losses


def test_the_others_are_asked_about(scores):
    silent = {sample.name: differing for sample, differing, asked in scores if differing and not asked}
    assert silent == {}


def main() -> None:
    with TemporaryDirectory() as folder:
        found_so = list(scored(Path(folder)))
    ends = Counter(
        ("right" if not differing else "otherwise") + (", asked or refused" if asked else "")
        for _, differing, asked in found_so
    )
    print(*(f"{count:5}  {end}" for end, count in ends.most_common()), sep="\n")
    print(*(f"{sample.name}: {', '.join(differing)}" for sample, differing, _ in found_so if differing), sep="\n")


if __name__ == "__main__":
    main()

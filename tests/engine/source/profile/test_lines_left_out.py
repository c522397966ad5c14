"""Lines among the records of a sample that are no records: found, and asked about where they may be records."""

from pathlib import Path

import pytest

from importer.engine.source.decisions import Decision, Standing
from importer.engine.source.profile.expected_columns import ExpectedColumn
from importer.engine.source.profile.profile import SAMPLE_BYTES, Profile, profile_file

EXPECTED = (ExpectedColumn("id", str.isdigit), ExpectedColumn("name"), ExpectedColumn("city"))
HEADER = "id,name,city\n"
ROWS = "1,Anna,Oslo\n2,Bo,Rome\n"
VALUES = (("1", "Anna", "Oslo"), ("2", "Bo", "Rome"))


def profiled(folder: Path, text: str, expected=EXPECTED, **known) -> Profile:
    path = folder / "file.csv"
    path.write_text(text)
    return profile_file(path, None, expected, **known)


def decided(profile: Profile, name: str) -> Decision:
    [decision] = [each for each in profile.decisions if each.name == name]
    return decision


@pytest.mark.parametrize(
    ("text", "standing"),
    [
        (f"# by a tool, v2\n# 2024\n{HEADER}{ROWS}", Standing.PROVED),
        (f"// by a tool\n{HEADER}1,Anna,Oslo\n// it's \"x,y\n2,Bo,Rome\n", Standing.PROVED),
        (f"# a, b, c\n{HEADER}{ROWS}", Standing.PROVED),
        (f"{HEADER}1,Anna,Oslo\n#3,Cy,Bonn\n2,Bo,Rome\n", Standing.GUESSED),
    ],
)
def test_comments(tmp_path: Path, text: str, standing: Standing):
    profile = profiled(tmp_path, text)
    assert (profile.header, profile.rows) == (("id", "name", "city"), VALUES)
    decision = decided(profile, "comment")
    assert decision.standing is standing
    if answers := decision.answers:
        assert [each.flag for each in answers] == ["--comment '#'", "--comment ''"]
        as_records = profiled(tmp_path, text, **dict(answers[1].states))
        assert len(as_records.rows) == 3
        assert decided(as_records, "comment").standing is Standing.STATED


@pytest.mark.parametrize(
    "text",
    [
        f"#{HEADER}{ROWS}",
        'id,name,city\n1,"notes\n# Title\n",Oslo\n2,"# other",Rome\n',
        "id,name,city\n#1,Anna,Oslo\n#2,Bo,Rome\n",
    ],
)
def test_the_begin_of_a_header_or_of_values_is_no_comment(tmp_path: Path, text: str):
    profile = profiled(tmp_path, text)
    assert (profile.dialect.comment, len(profile.rows)) == ("", 2)
    assert decided(profile, "comment").standing is Standing.RULE


def test_a_repeated_header(tmp_path: Path):
    text = f"{HEADER}1,Anna,Oslo\n{HEADER}2,Bo,Rome\n"
    profile = profiled(tmp_path, text)
    assert (profile.header, profile.rows, profile.lines) == (("id", "name", "city"), VALUES, (2, 4))
    assert decided(profile, "skip_repeated_header").standing is Standing.PROVED
    decision = decided(profiled(tmp_path, text, ()), "skip_repeated_header")
    assert [each.flag for each in decision.answers] == ["--skip-repeated-header", "--no-skip-repeated-header"]
    assert len(profiled(tmp_path, text, skip_repeated_header=False).rows) == 3


def test_units_below_the_header(tmp_path: Path):
    profile = profiled(tmp_path, f"{HEADER}[-],[text],[text]\n{ROWS}")
    assert (profile.rows, profile.data_line) == (VALUES, 3)
    assert decided(profile, "skip_after_header").standing is Standing.PROVED
    of_texts = profiled(tmp_path, "name,city\n(m),(s)\nAnna,Oslo\nBo,Rome\n", ())
    assert decided(of_texts, "skip_after_header").standing is Standing.GUESSED


@pytest.mark.parametrize(
    ("footer", "lines"),
    [
        ("Total: 2 rows\n", 1),
        ("\nTotal: 2 rows\n\n", 1),
        ("Sum,,2\n", 1),
        ("\nas of 2024\nby Ann\n", 2),
        ("Summe,2", 1),
    ],
)
@pytest.mark.parametrize("size", [0, SAMPLE_BYTES])
def test_a_footer_is_asked_about(tmp_path: Path, footer: str, lines: int, size: int):
    text = HEADER + ROWS * (1 + size // len(ROWS)) + footer
    profile = profiled(tmp_path, text)
    assert (profile.rows[:2], profile.dialect.skip_footer) == (VALUES, lines)
    decision = decided(profile, "skip_footer")
    assert [each.flag for each in decision.answers] == [f"--skip-footer {lines}", "--skip-footer 0"]
    assert decided(profiled(tmp_path, text, skip_footer=0), "skip_footer").standing is Standing.STATED


@pytest.mark.parametrize("end", ["3,Cy\n", '3,"text\n\nTotal",x\n', "\n3,Cy,Bonn\n", "3,Total,x\n"])
def test_other_last_records_are_no_footer(tmp_path: Path, end: str):
    profile = profiled(tmp_path, HEADER + ROWS + end)
    assert (profile.dialect.skip_footer, len(profile.rows)) == (0, 3)
